// The limiter's own time: what its callers say, made to never go back.
//
// A stamp older than the latest one seen is decided at the latest, however old it is, and changes
// nothing: no stamp but a later one moves the clock. So a late, captured or forged past instant gives
// nobody a token. A caller whose clock was set back stands still until it has caught up: he gains
// nothing, and loses that time. Stamps are trusted forwards: nobody can tell a clock that jumped from
// one that was not asked for long.
//
// Threads would fight over a latest that every request writes. So it is written only when it lags by
// more than kGrain, and stamps may come out in the wrong order by so much: the algorithms bear any
// order (algorithm.h), so that still frees no token, and locks nobody out for longer than kGrain.
#pragma once

#include <algorithm>
#include <atomic>

#include "weir/instant.h"

namespace weir {

class SteadyTime {
 public:
  static constexpr Duration kGrain = std::chrono::milliseconds(1);

  explicit SteadyTime(Instant start)
      : offset_(ToNanos(start) < 0 ? Before1970(start) : 0),
        latest_(std::max<int64_t>(0, Shown(start))) {}

  Instant Of(Instant told) {
    const int64_t now = Shown(told);
    const int64_t latest = latest_.load(std::memory_order_relaxed);
    if (now <= latest) return FromNanos(latest);
    if (now > latest + kGrain.count()) [[unlikely]]
      Raise(latest, now);
    return FromNanos(now);
  }

 private:
  // The last instant: what the states can hold, with room to spare.
  static constexpr int64_t kLast = int64_t{1} << 62;

  // Instants before 1970 would not fit the states: a clock that starts there is taken to start at
  // 1970. This is settled once, with the first stamp.
  static int64_t Before1970(Instant start) {
    return ToNanos(start) == INT64_MIN ? INT64_MAX : -ToNanos(start);
  }
  int64_t Shown(Instant told) const {
    int64_t sum = 0;
    if (__builtin_add_overflow(ToNanos(told), offset_, &sum)) return kLast;
    return sum > kLast ? kLast : sum;
  }
  // Another thread may have been further already: it never goes back.
  void Raise(int64_t latest, int64_t now) {
    while (latest < now && !latest_.compare_exchange_weak(latest, now, std::memory_order_relaxed)) {
    }
  }

  const int64_t offset_;
  std::atomic<int64_t> latest_;
};

}  // namespace weir
