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
#include <optional>
#include <vector>

#include "replication/copy.h"
#include "replication/ticks.h"

namespace weir {

class DebtRows {
 public:
  struct Row {
    Origin origin;
    uint64_t segment = 0;
    Instant epoch{};
    uint64_t charged = 0;
    uint64_t refunded = 0;
    // Where it stands on this node's list of what it tells (telling_list.h), 0 if it does not; and
    // whether it has changed since.
    uint64_t place : 63 = 0;
    uint64_t untold : 1 = 0;
    bool operator==(const Row&) const = default;
  };

  // What is owed, in ticks. They must be the same every time, or Refold be called.
  int128 Debt(const Ticks& ticks, Instant now);
  // When the debt is zero if nothing comes, or when it became zero.
  Instant ZeroAt(const Ticks& ticks, Instant now);

  // A row that `self` charges or refunds is untold from then on. A new one takes its number from
  // `segments`, which the origin counts over all subjects: no number is ever used twice.
  void Charge(const Ticks& ticks, Origin self, uint64_t cost, Instant now, uint64_t& segments);
  // Takes back at most `cost`, from the latest segments of `self` first. Of a period that is over
  // there is nothing to take back: false.
  bool Refund(const Ticks& ticks, Origin self, uint64_t cost, Instant now);

  // By how much more was charged than was known; nothing if nothing is new in it.
  std::optional<uint64_t> Merge(const Row& row);
  // Drops the periods that ended before `before`, and tells which rows those were.
  std::vector<Row> DropEnded(const Ticks& ticks, Instant before, Instant now);
  // The ticks are others from now on.
  void Refold() { stale_ = true; }

  const Row* Find(Origin origin, uint64_t segment) const;
  // The one before the mark, or the last; null: none. What is merged moves a row to an earlier place only.
  const Row* Before(const std::optional<RowMark>& mark) const;
  static RowMark MarkOf(const Row& row) { return {row.epoch, row.origin, row.segment}; }
  // Of the row rows()[i].
  void SetPlace(size_t i, uint64_t place, bool untold);
  const std::vector<Row>& rows() const { return rows_; }
  size_t heap_bytes() const { return rows_.capacity() * sizeof(Row); }

 private:
  void MakeRoom();
  void Fold(const Ticks& ticks, Instant now);
  void BringTo(const Ticks& ticks, Instant now);

  std::vector<Row> rows_;  // in order of epoch, origin, segment
  // The fold of all rows, brought to an instant: the one when it became zero, if it is.
  int128 debt_ = 0;  // ticks
  Instant at_{};
  size_t running_ = 0;  // the first row of the running period; rows_.size() if there is none
  bool stale_ = false;  // to be folded again
};

}  // namespace weir
