// What every limiting algorithm has in common.
//
// An algorithm is a value: the numbers of one limit. What one key has used of it is another value,
// its State. A default-constructed State means "unused". The functions are const, are told the
// time, and touch nothing but their arguments: no lock, no clock, no I/O. Peeking is not calling
// Take. For an algorithm A with numbers `a`:
//
//   a.Room(state, now)        the greatest n that is admitted now; nullopt when the key is
//                             overdrawn (settled below zero), so that not even 0 is admitted
//   a.Take(state, n, now)     takes n <= Room and returns a Receipt, from which it can be refunded
//   a.When(state, n, from)    the earliest instant >= from at which n is admitted if nobody else
//                             comes; kEndOfTime if that is never. Exact: a nanosecond earlier it
//                             is not admitted, and Room(state, t) >= n iff When(state, n, t) == t
//   a.Reset(state, now)       the earliest instant >= now at which the state is as if unused
//   a.Charge(state, n, now)   takes n although there may be no room (settling upwards)
//   a.Refund(state, receipt, n, now)
//                             gives back at most n of what the receipt's Take took; returns how
//                             much it was
//   a.Use(state, now)         tokens in use, rounded up: what a changed algorithm starts from
//   a.Start(use, now)         the State of a key that has `use` tokens in use
//   a.Fill(state, now)        use as a share of the capacity, in 1/kFull: what is forgotten last
//                             when memory runs out
//   a.Capacity()              the most that can ever be admitted at once
//
// Numbers were checked when the rule was read (Check in limit.h), so nothing overflows here.
// Time may come in any order. A state never runs backwards: an instant before the state's own
// latest is treated as that one, except where an algorithm says otherwise. (Windows know their
// latest by the number of the window or slice only.) So no order of stamps frees a token; whoever
// calls sees to it that a clock which was far ahead does not lock anyone out.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "weir/instant.h"

namespace weir {

using uint128 = unsigned __int128;
using int128 = __int128;

inline constexpr uint32_t kFull = 1u << 20;  // Fill of a key that has used its whole capacity
inline constexpr uint64_t kUnlimited = UINT64_MAX;

// use / capacity in 1/kFull, saturating at 16 times the capacity; at least 1 for any use at all.
constexpr uint32_t FillOf(uint128 use, uint128 capacity) {
  if (use == 0) return 0;
  if (capacity == 0 || use / 16 >= capacity) return 16 * kFull;
  // use < 16 * capacity: shift both down until the product fits.
  while (use >> 100) use >>= 1, capacity >>= 1;
  const uint128 fill = use * kFull / capacity;
  return fill == 0 ? 1 : static_cast<uint32_t>(fill);
}

// floor(a / b) and ceil(a / b) for signed a and positive b.
constexpr int128 FloorDiv(int128 a, int128 b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }
constexpr int128 CeilDiv(int128 a, int128 b) { return a > 0 ? (a + b - 1) / b : -(-a / b); }

// The instant so many nanoseconds after 1970, or the last one before kEndOfTime if it is later.
constexpr Instant InstantAt(int128 nanos) {
  if (nanos >= INT64_MAX) return FromNanos(INT64_MAX - 1);
  return nanos <= INT64_MIN ? Instant::min() : FromNanos(static_cast<int64_t>(nanos));
}

constexpr uint64_t SaturatingAdd(uint64_t a, uint64_t b) {
  uint64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

// limit - used, or nothing when more than the limit is used.
constexpr std::optional<uint64_t> RoomBelow(uint64_t limit, uint64_t used) {
  if (used > limit) return std::nullopt;
  return limit - used;
}

}  // namespace weir
