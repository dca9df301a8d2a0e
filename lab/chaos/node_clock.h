// A node's own clock: it shows another instant than the simulation's, and runs faster or slower. A
// node whose wall clock is stepped runs so for a while: what it reads (weir/clock.h) never steps, it
// makes up for a step by 500 parts in a million at most.
#pragma once

#include "algorithms/algorithm.h"
#include "weir/instant.h"

namespace weir::chaos {

inline constexpr Instant kStart = FromNanos(1'800'000'000'000'000'000);
inline constexpr int64_t kMillion = 1'000'000;
inline constexpr int64_t kMostDriftPpm = 700;

struct NodeClock {
  Duration offset{};
  int64_t drift_ppm = 0;

  Instant Local(Instant true_time) const {
    const int128 passed = (true_time - kStart).count();
    return kStart + offset + Duration(int64_t(FloorDiv(passed * (kMillion + drift_ppm), kMillion)));
  }
  // The first instant at which this clock shows `local` or later.
  Instant True(Instant local) const {
    if (local >= kEndOfTime - std::chrono::hours(24 * 365)) return kEndOfTime;
    if (local <= kStart + offset) return kStart;
    const int128 passed = (local - kStart - offset).count();
    return kStart + Duration(int64_t(CeilDiv(passed * kMillion, kMillion + drift_ppm)));
  }
};

}  // namespace weir::chaos
