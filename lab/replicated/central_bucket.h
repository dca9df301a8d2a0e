// An exact token bucket, kept as a debt: what one limiter that sees every request would do.
#pragma once

#include <algorithm>

#include "replication/replica.h"

namespace weir::lab {

class CentralBucket {
 public:
  // In tokens, begun ones counted whole.
  uint64_t Debt(const ReplicatedBucket& limit, Instant now) {
    BringTo(limit, now);
    return static_cast<uint64_t>((units_ + limit.per.count() - 1) / limit.per.count());
  }
  // Whether there is room, and was for `lasting`.
  bool Fits(const ReplicatedBucket& limit, uint64_t cost, Instant now, Duration lasting = {}) {
    BringTo(limit, now);
    const int128 before = int128{lasting.count()} * limit.limit;
    return units_ + before + Units(cost, limit) <= Units(limit.capacity, limit);
  }
  void Charge(const ReplicatedBucket& limit, uint64_t cost, Instant now) {
    BringTo(limit, now);
    units_ += Units(cost, limit);
  }

 private:
  static int128 Units(uint64_t tokens, const ReplicatedBucket& limit) {
    return int128{tokens} * limit.per.count();
  }
  void BringTo(const ReplicatedBucket& limit, Instant now) {
    units_ -= int128{(now - at_).count()} * limit.limit;
    units_ = std::max<int128>(units_, 0);
    at_ = now;
  }

  int128 units_ = 0;  // a token is `per` of them
  Instant at_{};
};

}  // namespace weir::lab
