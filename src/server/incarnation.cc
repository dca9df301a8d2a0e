#include "server/incarnation.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace weir {
namespace {

constexpr int64_t kYear2020 = 1'577'836'800;  // seconds

}  // namespace

Result<uint32_t> NextIncarnation(const std::string& path, Instant now) {
  const int64_t quarters =
      (ToNanos(now) / 1'000'000'000 - kYear2020) * 4 + ToNanos(now) % 1'000'000'000 / 250'000'000;
  int64_t next = std::clamp<int64_t>(quarters, 1, UINT32_MAX);
  if (path.empty()) return static_cast<uint32_t>(next);
  int64_t last = 0;
  if (std::ifstream file(path); file && !(file >> last)) {
    return Error{Code::kUnavailable, path + ": has no number in it", ""};
  }
  next = std::max(next, last + 1);
  if (next > int64_t{UINT32_MAX}) {
    return Error{Code::kUnavailable, path + ": the number in it is too large", ""};
  }
  // Replaced at once: a crash leaves the old one or the new one.
  std::ofstream file(path + ".new", std::ios::trunc);
  file << next << "\n";
  file.close();
  std::error_code failed;
  if (file) std::filesystem::rename(path + ".new", path, failed);
  if (!file || failed) return Error{Code::kUnavailable, path + ": cannot be written", ""};
  return static_cast<uint32_t>(next);
}

}  // namespace weir
