// The limiter's own time: what its callers say, made to never step back.
//
// Instants come from several threads, a little out of order: that is harmless. An instant more than
// kTolerance before the latest means that somebody's clock was set back. Then time stands still and
// goes on from there at the caller's pace, so that a step frees no token and locks nobody out.
#pragma once

#include <atomic>

#include "weir/instant.h"

namespace weir {

class SteadyTime {
 public:
  explicit SteadyTime(Instant start) : offset_(Start(start)), latest_(ToNanos(start) + offset_) {}

  Instant Of(Instant told) {
    int64_t offset = offset_.load(std::memory_order_relaxed);
    const int64_t now = Sum(ToNanos(told), offset);
    const int64_t latest = latest_.load(std::memory_order_relaxed);
    if (now > latest + kGrain) latest_.store(now, std::memory_order_relaxed);
    if (now >= latest - kTolerance) [[likely]]
      return FromNanos(now);
    offset_.compare_exchange_strong(offset, offset + (latest - now));
    return FromNanos(latest);
  }

 private:
  static constexpr int64_t kTolerance = 1'000'000'000;
  static constexpr int64_t kGrain = 1'000'000;  // so that threads seldom write

  // Instants before 1970 would not fit the states: such a clock starts at 1970.
  static int64_t Start(Instant start) { return ToNanos(start) < 0 ? -ToNanos(start) : 0; }
  // No instant later than the states can hold with room to spare.
  static int64_t Sum(int64_t a, int64_t b) {
    int64_t sum = 0;
    constexpr int64_t kLast = int64_t{1} << 62;
    if (__builtin_add_overflow(a, b, &sum)) return a < 0 ? 0 : kLast;
    return sum > kLast ? kLast : sum;
  }

  std::atomic<int64_t> offset_;
  std::atomic<int64_t> latest_;
};

}  // namespace weir
