// What the nodes know of one subject's debt: the heart of the `debt` replication.
//
// Rows are keyed (origin, segment) and hold an epoch, what was charged and what was refunded since;
// only their origin writes them. Two versions of a row merge to the least epoch and the greatest
// numbers, so merging may be repeated, reordered and cut short. The debt is the fold of all rows in
// the order of their epochs:
//
//   d = max(0, d - rate * gap) + charged - refunded
//
// A busy period is a stretch of time in which d is not zero. Within one, when a charge is counted
// makes no difference to d at its end; so an origin adds to its latest segment while that lies in the
// period still running, and opens a new one else. The rows of a period are dropped together, a grace
// after its end, when everybody has heard of them.
#pragma once

#include <cstdint>
#include <vector>

#include "replication/replica.h"

namespace weir {

class DebtRows {
 public:
  struct Row {
    Origin origin;
    uint64_t segment = 0;
    Instant epoch{};
    uint64_t charged = 0;
    uint64_t refunded = 0;
    bool operator==(const Row&) const = default;
  };

  // Tokens owed, rounded up; the limit must be the same every time.
  uint64_t Debt(const SharedBucket& limit, Instant now);
  // Until the debt is zero if nothing comes; `now` if it is.
  Instant ZeroAt(const SharedBucket& limit, Instant now);

  // Charges if it fits; the segment that was charged is then told. A new one takes its number from
  // `segments`, which the origin counts over all subjects: no number is ever used twice.
  bool Charge(const SharedBucket& limit, Origin self, uint64_t cost, Instant now,
              uint64_t& segments, uint64_t& segment);
  // Takes back at most `cost`, from the latest segments of `self` first; the segments are told.
  void Refund(Origin self, uint64_t cost, std::vector<uint64_t>& segments);

  // False if nothing is new in it.
  bool Merge(const Row& row);
  // Drops the periods that ended before `before`.
  void DropEnded(const SharedBucket& limit, Instant before, Instant now);

  const Row* Find(Origin origin, uint64_t segment) const;
  const std::vector<Row>& rows() const { return rows_; }
  size_t heap_bytes() const { return rows_.capacity() * sizeof(Row); }

 private:
  // Debt in units of which a token has `per` nanoseconds, and `limit` flow off in a nanosecond.
  using Units = __int128;

  void Refold(const SharedBucket& limit, Instant now);
  void BringTo(const SharedBucket& limit, Instant now);

  std::vector<Row> rows_;  // in order of epoch, origin, segment
  // The fold of all rows, brought to an instant.
  Units debt_ = 0;
  Instant at_{};
  size_t running_ = 0;  // the first row of the running period; rows_.size() if there is none
  bool stale_ = false;  // to be folded again
};

}  // namespace weir
