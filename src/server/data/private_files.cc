#include "server/data/private_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "base/file_descriptor.h"

namespace weir {
namespace {

constexpr mode_t kOthers = S_IRWXG | S_IRWXO;

Error Failed(const std::string& path) {
  return {Code::kUnavailable, path + ": " + std::strerror(errno), ""};
}

bool WriteAll(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    text.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

}  // namespace

std::optional<Error> MakePrivateDirectory(const std::string& path) {
  std::filesystem::path sofar;
  for (const std::filesystem::path& part : std::filesystem::path(path)) {
    sofar /= part;
    if (mkdir(sofar.c_str(), S_IRWXU) == 0 || errno == EEXIST || errno == EISDIR) continue;
    const int why =
        errno;  // of a directory above that others made, it matters only whether it is there
    struct stat info {};
    if (stat(sofar.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) continue;
    errno = why;
    return Failed(sofar);
  }
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return Failed(path);
  if (!S_ISDIR(info.st_mode)) return Error{Code::kUnavailable, path + ": is not a directory", ""};
  return std::nullopt;
}

void Tighten(const std::vector<std::string>& files, spdlog::logger& log) {
  for (const std::string& file : files) {
    struct stat info {};
    if (lstat(file.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) continue;
    if ((info.st_mode & kOthers) == 0) continue;
    if (chmod(file.c_str(), info.st_mode & S_IRWXU) == 0) {
      log.info("{}: others had rights to it; it is now for its owner alone (0600)", file);
    } else {
      log.warn("{}: others have rights to it, which cannot be taken away: {}", file,
               std::strerror(errno));
    }
  }
}

std::vector<std::string> SqliteFiles(const std::string& path) {
  return {path, path + "-wal", path + "-shm", path + "-journal"};
}

void WarnIfOpen(const std::string& directory, spdlog::logger& log) {
  struct stat info {};
  if (stat(directory.c_str(), &info) != 0 || (info.st_mode & kOthers) == 0) return;
  log.warn("{}: others than its owner may use this directory; chmod 700 keeps them out", directory);
}

std::optional<Error> ReplaceFile(const std::string& path, std::string_view text) {
  const std::string next = path + ".new";
  unlink(next.c_str());
  FileDescriptor file(
      open(next.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (!file || !WriteAll(file.get(), text) || fsync(file.get()) != 0) return Failed(next);
  file.Close();
  if (std::rename(next.c_str(), path.c_str()) != 0) return Failed(path);
  // The new name, too, has to be on the disk.
  const std::string above = std::filesystem::path(path).parent_path().string();
  const FileDescriptor directory(
      open(above.empty() ? "." : above.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory || fsync(directory.get()) != 0) return Failed(above);
  return std::nullopt;
}

}  // namespace weir
