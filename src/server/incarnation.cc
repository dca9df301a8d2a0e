#include "server/incarnation.h"

#include <algorithm>
#include <fstream>

#include "server/private_files.h"

namespace weir {
namespace {

constexpr int64_t kYear2020 = 1'577'836'800;  // seconds
// The latest that a clock is believed (2053): a wrong one leaves room for so many starts after it.
constexpr int64_t kMostByClock = int64_t{UINT32_MAX} - (1 << 24);

}  // namespace

Result<uint32_t> NextIncarnation(const std::string& path, Instant now) {
  const int64_t quarters =
      (ToNanos(now) / 1'000'000'000 - kYear2020) * 4 + ToNanos(now) % 1'000'000'000 / 250'000'000;
  const int64_t by_clock = std::clamp<int64_t>(quarters, 1, kMostByClock);
  int64_t next = by_clock;
  if (path.empty()) return static_cast<uint32_t>(next);
  int64_t last = 0;
  if (std::ifstream file(path); file && !(file >> last)) {
    return Error{Code::kUnavailable, path + ": has no number in it", ""};
  }
  next = std::max(next, last + 1);
  // There is none above it: it was written under a wrong clock, and the right one is believed again.
  if (next > int64_t{UINT32_MAX}) next = by_clock;
  if (const std::optional<Error> error = ReplaceFile(path, std::to_string(next) + "\n")) {
    return *error;
  }
  return static_cast<uint32_t>(next);
}

}  // namespace weir
