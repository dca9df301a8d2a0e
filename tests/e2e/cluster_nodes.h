// Real servers that are nodes of one cluster with one replicated limit of 3, each by its name, and
// questions to them.
#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/e2e/server_process.h"

namespace weir::e2e {

class ClusterNodes : public ::testing::Test {
 protected:
  using Json = nlohmann::json;
  using Names = std::initializer_list<std::string>;

  ClusterNodes();
  std::string WriteKey(const std::string& name, const std::string& text, mode_t mode = 0600);
  // Kills one of that name first. `environment`: as of ServerProcess.
  void Launch(const std::string& id, const std::string& address, const std::string& peers,
              const std::string& key_file, const std::vector<std::string>& environment = {});
  void Kill(const std::string& id);

  Json Status(const std::string& id);
  Json Peer(const std::string& id, const std::string& peer);
  int Alive(const std::string& id);
  // Each of them knows `others`, and what they know: one that dies earlier leaves the rest waiting for
  // it.
  bool AreWhole(Names ids, int others);
  uint64_t Rejected(const std::string& id, const std::string& reason);

  bool Ask(const std::string& id);
  int Remaining(const std::string& id);

  static bool Eventually(const std::function<bool()>& holds,
                         std::chrono::seconds patience = std::chrono::seconds(10));

  TemporaryFiles files_;
  std::string rules_, key_;
  std::map<std::string, std::unique_ptr<ServerProcess>> nodes_;

 private:
  std::string Command(const std::string& id, const std::string& command);
};

}  // namespace weir::e2e
