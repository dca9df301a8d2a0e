#include "algorithms/refund_marks.h"

namespace weir {

void RefundMarks::Observe(uint128 debt) {
  if (entries_.empty() || entries_.back().mark <= debt) return;
  // The marks above the debt come down to it and are one.
  entries_.back().mark = debt;
  while (entries_.size() > 1 && entries_[entries_.size() - 2].mark >= debt) {
    Entry& below = entries_[entries_.size() - 2];
    below = {entries_.back().last, below.open + entries_.back().open, debt};
    entries_.pop_back();
  }
}

uint64_t RefundMarks::Open(uint128 debt) {
  Observe(debt);
  const uint64_t ticket = next_++;
  if (!entries_.empty() && entries_.back().mark == debt) {
    entries_.back().last = ticket;
    ++entries_.back().open;
    return ticket;
  }
  if (entries_.size() == kMost) {
    entries_[1].mark = entries_[0].mark;
    entries_[1].open += entries_[0].open;
    entries_.erase(entries_.begin());
  }
  entries_.push_back({ticket, 1, debt});
  return ticket;
}

void RefundMarks::Lower(uint128 ticks) {
  for (Entry& entry : entries_) entry.mark -= ticks;
}

bool RefundMarks::Close(uint64_t ticket) {
  const auto entry = std::lower_bound(entries_.begin(), entries_.end(), ticket,
                                      [](const Entry& e, uint64_t t) { return e.last < t; });
  if (ticket == 0 || entry == entries_.end()) return false;
  if (--entry->open == 0) entries_.erase(entry);
  return true;
}

void RefundMarks::Rescale(uint64_t old_ticks, uint64_t new_ticks) {
  for (Entry& entry : entries_) {
    const uint128 tokens = entry.mark / old_ticks, rest = entry.mark % old_ticks;
    entry.mark = tokens * new_ticks + rest * new_ticks / old_ticks;
  }
}

}  // namespace weir
