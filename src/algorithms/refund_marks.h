// How much a token bucket may give back.
//
// A ticket says "I took n, perhaps too many". By the time it is settled the bucket may have
// refilled, and giving the tokens back on top would mint new ones: ten long-refilled tickets
// settled to nothing would make ten bursts. So a refund is at most the least debt that the bucket
// has had since its oldest open ticket, and each refund lowers that mark.
//
// Why it is sound: where the debt was at least r at all times since a ticket, the same history with
// r taken off never touches zero, so no refill was lost, and r can be taken off now. That other
// history is the one to go on from: a refund lowers every mark, not only the oldest.
//
// The oldest open ticket changes as tickets are settled, so a mark is kept per ticket, in order of
// opening. Marks since later tickets are never smaller; equal ones are one entry with a count of
// open tickets. Beyond kMost entries the two oldest are merged to the smaller mark, which errs
// against the refund.
//
//   entries:   (last ticket, mark, open)   marks strictly rising
//
// Marks are in ticks of the bucket (token_bucket.h).
#pragma once

#include <vector>

#include "algorithms/algorithm.h"

namespace weir {

class RefundMarks {
 public:
  static constexpr size_t kMost = 64;

  // The bucket's debt is `debt` now; call before it changes, and before asking for a mark.
  void Observe(uint128 debt);
  // A ticket was issued; the debt right after its charge is `debt`. Returns the ticket's number.
  uint64_t Open(uint128 debt);
  // The most that may be given back now (0 if no ticket is open).
  uint128 Mark() const { return entries_.empty() ? 0 : entries_.front().mark; }
  // `ticks` <= Mark() were given back: every mark is lowered by them.
  void Lower(uint128 ticks);
  // The ticket is settled or has expired. False if it cannot be open here. A number stands for all
  // tickets of its entry, so that nobody may close a ticket twice.
  bool Close(uint64_t ticket);

  // The bucket's numbers have changed: a token was `old_ticks` and is `new_ticks`. Rounds down.
  void Rescale(uint64_t old_ticks, uint64_t new_ticks);

  bool empty() const { return entries_.empty(); }
  size_t bytes() const { return entries_.capacity() * sizeof(Entry); }
  bool operator==(const RefundMarks&) const = default;

 private:
  struct Entry {
    uint64_t last;  // the newest ticket of this entry; the entry begins after the one before it
    uint64_t open;  // how many of its tickets are open
    uint128 mark;
    bool operator==(const Entry&) const = default;
  };
  std::vector<Entry> entries_;
  uint64_t next_ = 1;
};

}  // namespace weir
