// The directory of --data: what lies where in it. One server at a time.
//
//   weir.db      the configuration      (config/config_store.h)
//   rules.json   a copy of another's    (config_follower.h)
//   state.db     secret and use         (state_file.h)
//   holds        whether copies are held (hold_mark.h)
//   incarnation  of this node in a cluster (incarnation.h)
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/file_descriptor.h"
#include "weir/error.h"

namespace weir {

class DataDirectory {
 public:
  // Makes it, for this user alone, if it is not there.
  static Result<std::unique_ptr<DataDirectory>> Open(const std::string& path);

  const std::string& path() const { return path_; }
  // Whatever may lie in it.
  std::vector<std::string> Files() const;
  std::string config() const { return path_ + "/weir.db"; }
  std::string rules_copy() const { return path_ + "/rules.json"; }
  std::string state() const { return path_ + "/state.db"; }
  std::string holds() const { return path_ + "/holds"; }
  std::string incarnation() const { return path_ + "/incarnation"; }

 private:
  DataDirectory(std::string path, FileDescriptor lock)
      : path_(std::move(path)), lock_(std::move(lock)) {}

  const std::string path_;
  const FileDescriptor lock_;
};

}  // namespace weir
