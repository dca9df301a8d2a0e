// What the tests of the store share.
#pragma once

#include <string>

#include "base/random.h"
#include "store/memory_store.h"

namespace weir::testing {

inline constexpr Instant kStart = FromNanos(1'800'000'000'000'000'000);

inline Key KeyOf(uint64_t n) { return KeyedHash({7, 11})(std::to_string(n)); }

inline uint64_t Mib(uint64_t n) { return n << 20; }

// A limit of any algorithm, with small numbers so that everything happens often.
inline Limit RandomLimit(Random& random) {
  const uint64_t limit = 1 + random.Below(20);
  const Duration per = std::chrono::milliseconds(1 + random.Below(5000));
  switch (random.Below(5)) {
    case 0: return TokenBucket(limit, per, limit + random.Below(20));
    case 1:
      return FixedWindow{
          limit, per,
          random.Below(2) == 0 ? FixedWindow::Anchor::kEpoch : FixedWindow::Anchor::kFirstRequest,
          nullptr};
    case 2: return SlidingLog{limit, per, random.Below(2) == 0};
    case 3:
      return BurstTiers{{{limit, per, per * 3, Duration(0), false},
                         {limit * 2, per, per, per * 2, random.Below(2) == 0},
                         {limit * 3, per / 2 + Duration(1), per, per, false}}};
    default:
      return SlidingWindow{limit, per, static_cast<uint32_t>(1 + random.Below(12)),
                           static_cast<SlidingWindow::Edge>(random.Below(3))};
  }
}

inline Admitted Take(MemoryStore& store, const LimitSlot* slot, uint64_t key, uint64_t cost,
                     Instant now) {
  Charge charge(KeyOf(key), slot, cost, cost);
  return store.AdmitNow({&charge, 1}, now);
}

inline uint64_t Remaining(MemoryStore& store, const LimitSlot* slot, uint64_t key, Instant now) {
  Charge charge(KeyOf(key), slot, 0, 0);
  store.PeekNow({&charge, 1}, now);
  return charge.remaining;
}

}  // namespace weir::testing
