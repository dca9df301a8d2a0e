#include "server/data_directory.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace weir {

Result<std::unique_ptr<DataDirectory>> DataDirectory::Open(const std::string& path) {
  const auto failed = [&](const std::string& why) {
    return Error{Code::kUnavailable, "--data " + path + ": " + why, ""};
  };
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return failed(error.message());
  FileDescriptor lock(open((path + "/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock) return failed(std::strerror(errno));
  if (flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    return failed("another server uses it; each needs its own");
  }
  return std::unique_ptr<DataDirectory>(new DataDirectory(path, std::move(lock)));
}

}  // namespace weir
