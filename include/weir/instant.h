// Time, as Weir sees it.
//
// An Instant is a whole number of nanoseconds since 1970 on a timeline that has no now(): whoever
// decides is told the time, and code that asks for it does not compile. A Clock (weir/clock.h) is
// the one place that reads the machine's clocks.
#pragma once

#include <chrono>
#include <cstdint>

namespace weir {

struct Timeline {
  using rep = int64_t;
  using period = std::nano;
  using duration = std::chrono::nanoseconds;
  using time_point = std::chrono::time_point<Timeline>;
  static constexpr bool is_steady = true;
};

using Duration = std::chrono::nanoseconds;
using Instant = Timeline::time_point;

// "Waiting does not help": the wait of a request that can never be admitted.
inline constexpr Duration kNever = Duration::max();
// An instant that is not reached; `When` answers with it where the wait is kNever.
inline constexpr Instant kEndOfTime = Instant::max();

constexpr Instant FromNanos(int64_t nanos) { return Instant(Duration(nanos)); }
constexpr int64_t ToNanos(Instant instant) { return instant.time_since_epoch().count(); }

// The wait from `now` until `then`: 0 if it has passed, kNever if it does not come.
constexpr Duration Wait(Instant now, Instant then) {
  if (then == kEndOfTime) return kNever;
  return then > now ? then - now : Duration::zero();
}

// now + d, or the last instant before kEndOfTime where the sum would not fit.
constexpr Instant After(Instant now, Duration d) {
  int64_t sum = 0;
  if (__builtin_add_overflow(ToNanos(now), d.count(), &sum) || FromNanos(sum) == kEndOfTime) {
    return d.count() < 0 ? Instant::min() : FromNanos(INT64_MAX - 1);
  }
  return FromNanos(sum);
}

}  // namespace weir
