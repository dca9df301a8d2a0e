#include "algorithms/refund_marks.h"

namespace weir {

size_t RefundMarks::Find(uint64_t ticket) const {
  if (ticket == 0) return entries_.size();
  const auto entry = std::lower_bound(entries_.begin(), entries_.end(), ticket,
                                      [](const Entry& e, uint64_t t) { return e.last < t; });
  return static_cast<size_t>(entry - entries_.begin());
}

void RefundMarks::TakeOff(size_t from, uint128 ticks) {
  newest_ -= ticks;
  size_t first = from;
  while (ticks > entries_[first].above) {
    ticks -= entries_[first].above;
    --first;
  }
  entries_[first].above -= ticks;
  if (entries_[first].above == 0 && first > 0) --first;
  if (first == from) return;
  // Those in between have come down to the mark of the first.
  Entry& one = entries_[first];
  for (size_t i = first + 1; i <= from; ++i) one.open += entries_[i].open;
  one.last = entries_[from].last;
  entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(first) + 1,
                 entries_.begin() + static_cast<std::ptrdiff_t>(from) + 1);
}

void RefundMarks::Observe(uint128 debt) {
  if (newest_ > debt) TakeOff(entries_.size() - 1, newest_ - debt);
}

uint64_t RefundMarks::Open(uint128 debt) {
  Observe(debt);
  const uint64_t ticket = next_++;
  if (!entries_.empty() && newest_ == debt) {
    entries_.back().last = ticket;
    ++entries_.back().open;
    return ticket;
  }
  entries_.push_back({ticket, 1, debt - newest_});
  newest_ = debt;
  if (entries_.size() > kMost) MergeClosest();
  return ticket;
}

// The entry that lies closest to both of its neighbours joins the one before it.
void RefundMarks::MergeClosest() {
  size_t closest = 1;
  uint128 least = entries_[1].above + entries_[2].above;
  for (size_t i = 2; i + 1 < entries_.size(); ++i) {
    const uint128 apart = entries_[i].above + entries_[i + 1].above;
    if (apart < least) closest = i, least = apart;
  }
  Entry& lower = entries_[closest - 1];
  const Entry upper = entries_[closest];
  lower.last = upper.last;
  lower.open += upper.open;
  entries_[closest + 1].above += upper.above;
  entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(closest));
}

uint128 RefundMarks::MarkOf(uint64_t ticket) const {
  const size_t entry = Find(ticket);
  if (entry == entries_.size()) return 0;
  if (entry < entries_.size() / 2) {
    uint128 mark = 0;
    for (size_t i = 0; i <= entry; ++i) mark += entries_[i].above;
    return mark;
  }
  uint128 mark = newest_;
  for (size_t i = entry + 1; i < entries_.size(); ++i) mark -= entries_[i].above;
  return mark;
}

void RefundMarks::Lower(uint64_t ticket, uint128 ticks) {
  const size_t entry = Find(ticket);
  if (ticks != 0 && entry != entries_.size()) TakeOff(entry, ticks);
}

bool RefundMarks::Close(uint64_t ticket) {
  const size_t at = Find(ticket);
  if (at == entries_.size()) return false;
  Entry& entry = entries_[at];
  if (--entry.open != 0) return true;
  if (at + 1 < entries_.size()) {
    entries_[at + 1].above += entry.above;
  } else {
    newest_ -= entry.above;
  }
  entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(at));
  return true;
}

void RefundMarks::Rescale(uint64_t old_ticks, uint64_t new_ticks) {
  const Entries before = std::move(entries_);
  entries_.clear();
  newest_ = 0;
  uint128 mark = 0;
  for (const Entry& entry : before) {
    mark += entry.above;
    const uint128 tokens = mark / old_ticks, rest = mark % old_ticks;
    const uint128 scaled = tokens * new_ticks + rest * new_ticks / old_ticks;
    if (!entries_.empty() && scaled == newest_) {
      entries_.back().last = entry.last;
      entries_.back().open += entry.open;
    } else {
      entries_.push_back({entry.last, entry.open, scaled - newest_});
      newest_ = scaled;
    }
  }
}

}  // namespace weir
