#include "weir/clock.h"

#include <time.h>

#include <algorithm>

namespace weir {
namespace {

constexpr int64_t kSlewOneIn = 2000;                 // 500 parts per million
constexpr int64_t kLookAtTheWallEvery = 10'000'000;  // ns

int64_t ReadClock(clockid_t id) {
  timespec t{};
  clock_gettime(id, &t);
  return int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

}  // namespace

SystemClock::SystemClock()
    : start_(ReadClock(CLOCK_MONOTONIC)), shown_(ReadClock(CLOCK_REALTIME)) {}

int64_t SystemClock::Segment::At(int64_t monotonic) const {
  const int64_t passed = monotonic - start;
  const int64_t most = passed / kSlewOneIn;
  return shown + passed + std::clamp(off, -most, most);
}

SystemClock::Segment SystemClock::Load() const {
  return {start_.load(std::memory_order_acquire), shown_.load(std::memory_order_acquire),
          off_.load(std::memory_order_acquire)};
}

// The monotonic clock is read between two looks at the version, and a new segment starts at a
// reading taken while the version is odd: no reading belongs to a segment that began before it.
Instant SystemClock::Now() {
  while (true) {
    const uint32_t version = version_.load(std::memory_order_acquire);
    if (version % 2 != 0) continue;
    const Segment segment = Load();
    const int64_t monotonic = ReadClock(CLOCK_MONOTONIC);
    if (version_.load(std::memory_order_acquire) != version) continue;
    if (monotonic - segment.start >= kLookAtTheWallEvery) Replace(version);
    return FromNanos(segment.At(monotonic));
  }
}

void SystemClock::Replace(uint32_t version) {
  if (!version_.compare_exchange_strong(version, version + 1)) return;  // another thread does it
  const int64_t monotonic = ReadClock(CLOCK_MONOTONIC);
  const int64_t shown = Load().At(monotonic);
  start_.store(monotonic, std::memory_order_release);
  shown_.store(shown, std::memory_order_release);
  off_.store(ReadClock(CLOCK_REALTIME) - shown, std::memory_order_release);
  version_.store(version + 2, std::memory_order_release);
}

}  // namespace weir
