#include "server/data/data_directory.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <cstring>

#include "server/data/private_files.h"

namespace weir {

Result<std::unique_ptr<DataDirectory>> DataDirectory::Open(const std::string& path) {
  const auto failed = [&](const std::string& why) {
    return Error{Code::kUnavailable, "--data " + path + ": " + why, ""};
  };
  if (const std::optional<Error> error = MakePrivateDirectory(path)) return failed(error->message);
  FileDescriptor lock(open((path + "/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock) return failed(std::strerror(errno));
  if (flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    return failed("another server uses it; each needs its own");
  }
  return std::unique_ptr<DataDirectory>(new DataDirectory(path, std::move(lock)));
}

std::vector<std::string> DataDirectory::Files() const {
  std::vector<std::string> files = {rules_copy(), holds(), incarnation(), path_ + "/lock"};
  for (const std::string& database : {config(), state()}) {
    for (std::string& file : SqliteFiles(database)) files.push_back(std::move(file));
  }
  return files;
}

}  // namespace weir
