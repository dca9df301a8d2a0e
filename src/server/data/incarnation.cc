#include "server/data/incarnation.h"

#include <algorithm>
#include <fstream>

#include "server/data/private_files.h"

namespace weir {
namespace {

constexpr Duration kYear2020 = std::chrono::seconds(1'577'836'800);
constexpr Duration kQuarter = std::chrono::milliseconds(250);
// The latest that a clock is believed (2053): a wrong one leaves room for so many starts after it.
constexpr int64_t kMostByClock = int64_t{UINT32_MAX} - (1 << 24);

}  // namespace

Result<Incarnation> NextIncarnation(const std::string& path, Instant now) {
  const Duration since_2020 = now.time_since_epoch() - kYear2020;
  const int64_t by_clock = std::clamp<int64_t>(since_2020 / kQuarter, 1, kMostByClock);
  const Duration left = kQuarter - since_2020 % kQuarter;
  int64_t next = by_clock;
  if (path.empty()) return Incarnation{static_cast<uint32_t>(next), left};
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
  return Incarnation{static_cast<uint32_t>(next), last == 0 ? left : Duration::zero()};
}

}  // namespace weir
