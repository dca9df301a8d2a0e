// How much a token bucket may give back, and to whom.
//
// A ticket says "I took n, perhaps too many". By the time it is settled the bucket may have
// refilled, and giving the tokens back on top would mint new ones: ten long-refilled tickets
// settled to nothing would make ten bursts. So each ticket has a mark, the least debt that the
// bucket has had since that ticket was issued, and gets back no more than that.
//
// Why it is sound. Let the debt have been at least r at all times since ticket i was issued. In the
// history in which i had taken r less, the debt is lower by r at all those times, and never below
// zero: no refill is lost in it. So r can be taken off now, and that other history is the one to go
// on from. In it, with m the mark of i,
//
//   what was issued after i   has had less debt by r all along:            its mark falls by r;
//   what was issued before i  has had debts before i, which stay as they
//                             were, and since, of which m - r is the least: its mark falls to m - r
//                                                                           if it was greater.
//
// By induction the bucket owes at all times what one would that was told from the start what each
// ticket has kept, so nothing is minted; and a ticket that is left open changes nobody's mark.
//
// Marks are kept in order of issue. A later ticket's is never smaller; tickets with equal marks,
// between which the debt has had no new minimum, are one entry. Kept is by how much a mark lies
// above the one before it:
//
//   entries:   last ticket    3    5    9      tickets 1..3 share the mark 10, 4 and 5 have 14
//              above         10    4    6      and 6..9 have 20, the newest
//
// so that "all from here on fall by r, and those before to at most m - r" means: take r off `above`
// here, and what it has not, off the entries before it, which then are one with this. A new minimum
// of the debt is the same from the end of the list. Both take constant time on the average; finding
// a mark adds up part of the list.
//
// Beyond kMost entries one that lies close to its neighbours takes the smaller mark of the one before
// it, which errs against the refund by no more than they were apart.
//
// Marks are in ticks of the bucket (token_bucket.h).
#pragma once

#include <absl/container/inlined_vector.h>

#include "algorithms/algorithm.h"

namespace weir {

class RefundMarks {
 public:
  static constexpr size_t kMost = 1024;

  // The bucket's debt is `debt` now; call before it changes, and before asking for a mark.
  void Observe(uint128 debt);
  // A ticket was issued; the debt right after its charge is `debt`. Returns the ticket's number.
  uint64_t Open(uint128 debt);
  // The most that may be given back for the ticket now; 0 if it cannot be open here.
  uint128 MarkOf(uint64_t ticket) const;
  // `ticks` <= MarkOf(ticket) were given back for it.
  void Lower(uint64_t ticket, uint128 ticks);
  // The ticket is settled or has expired. False if it cannot be open here. A number stands for all
  // tickets of its entry, so that nobody may close a ticket twice.
  bool Close(uint64_t ticket);

  // The bucket's numbers have changed: a token was `old_ticks` and is `new_ticks`. Rounds down.
  void Rescale(uint64_t old_ticks, uint64_t new_ticks);

  bool empty() const { return entries_.empty(); }
  size_t entries() const { return entries_.size(); }
  // Bytes on the heap: none for a single entry, as of a request that may yet be cancelled.
  size_t bytes() const {
    return entries_.capacity() > kInline ? entries_.capacity() * sizeof(Entry) : 0;
  }
  bool operator==(const RefundMarks&) const = default;

 private:
  struct Entry {
    uint64_t last;  // the newest ticket of this entry; the entry begins after the one before it
    uint64_t open;  // how many of its tickets are open
    uint128
        above;  // by how much its mark lies above that of the entry before; > 0 but for the first
    bool operator==(const Entry&) const = default;
  };

  static constexpr size_t kInline = 1;
  using Entries = absl::InlinedVector<Entry, kInline>;

  // The entry of a ticket; entries_.size() if there is none.
  size_t Find(uint64_t ticket) const;
  // Entry `from` and those after it fall by `ticks`, which its mark has; those before it as needed.
  void TakeOff(size_t from, uint128 ticks);
  void MergeClosest();

  Entries entries_;
  uint128 newest_ = 0;  // the mark of the last entry: the sum of all `above`
  uint64_t next_ = 1;
};

}  // namespace weir
