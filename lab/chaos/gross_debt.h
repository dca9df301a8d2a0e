// What was taken of a key, as if nothing were refunded and the clock were the slowest: no node sees a
// greater debt, so the bucket is full no later than this one. Where nothing flows in, that is when all
// of it is over.
#pragma once

#include <algorithm>

#include "lab/chaos/scenario.h"
#include "replication/ticks.h"

namespace weir::chaos {

class GrossDebt {
 public:
  explicit GrossDebt(const Limit& limit)
      : ticks_(limit), kept_(limit.flows() ? Duration{} : limit.length + limit.per) {}
  void Charge(uint64_t cost, Instant now) {
    const int128 gone = ticks_.In(now - at_) * (kMillion - kMostDriftPpm) / kMillion;
    debt_ = std::max<int128>(0, debt_ - gone) + ticks_.Of(cost);
    at_ = now;
  }
  // What is given back of a window is remembered as long as what is taken.
  void Refund(Instant now) {
    if (ticks_.per_nano == 0) at_ = now;
  }
  Instant ZeroAt() const {
    if (ticks_.per_nano == 0) return at_ + kept_;
    const int128 rate = int128{ticks_.per_nano} * (kMillion - kMostDriftPpm);
    return InstantAt(ToNanos(at_) + debt_ * kMillion / rate + 1);
  }

 private:
  Ticks ticks_;
  Duration kept_;
  int128 debt_ = 0;
  Instant at_ = kStart;
};

}  // namespace weir::chaos
