// What the tests of the algorithms share.
#pragma once

#include <chrono>

#include "algorithms/algorithm.h"

namespace weir {

using namespace std::chrono_literals;

constexpr Duration kNano{1};

constexpr Instant At(Duration since_1970) { return Instant(since_1970); }

constexpr Instant Utc(int year, unsigned month, unsigned day, Duration time = Duration::zero()) {
  const std::chrono::sys_days midnight =
      std::chrono::year(year) / std::chrono::month(month) / std::chrono::day(day);
  return Instant(midnight.time_since_epoch() + time);
}

inline constexpr Instant k1958 = Utc(1958, 1, 1), k2026 = Utc(2026, 1, 1), k2094 = Utc(2094, 1, 1);
inline constexpr uint64_t kMostTokens = uint64_t{1} << 53;
inline constexpr Duration kTenYears = std::chrono::days(3653);

template <typename A>
bool Admits(const A& a, const typename A::State& state, uint64_t n, Instant now) {
  const std::optional<uint64_t> room = a.Room(state, now);
  return room.has_value() && *room >= n;
}

// Takes n if there is room, as a store does.
template <typename A>
bool Ask(const A& a, typename A::State& state, uint64_t n, Instant now) {
  if (!Admits(a, state, n, now)) return false;
  a.Take(state, n, now);
  return true;
}

}  // namespace weir
