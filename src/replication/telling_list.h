// The rows that a node has to tell, in the order in which it told them last: each has a number, from
// 1 up, and gets a new one, at the end, when it is told again.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "replication/key_map.h"

namespace weir {

class TellingList {
 public:
  struct Entry {
    uint64_t number = 0;
    StateName name;
    Origin origin;
    uint64_t segment = 0;  // 0: it is not there any more

    bool gone() const { return segment == 0; }
  };

  uint64_t Add(const StateName& name, Origin origin, uint64_t segment) {
    entries_.push_back({++last_, name, origin, segment});
    return last_;
  }
  void Remove(uint64_t number) {
    const auto at = UpperBound(number - 1);
    if (at == entries_.end() || at->number != number || at->gone()) return;
    at->segment = 0;
    gone_ += 1;
    if (2 * gone_ <= entries_.size() + kFew) return;
    std::erase_if(entries_, [](const Entry& entry) { return entry.gone(); });
    entries_.shrink_to_fit();
    gone_ = 0;
  }

  uint64_t last() const { return last_; }
  // With greater numbers; some may be gone.
  std::span<const Entry> After(uint64_t number) const {
    const auto from = const_cast<TellingList*>(this)->UpperBound(number);
    return std::span(entries_).subspan(static_cast<size_t>(from - entries_.begin()));
  }
  size_t bytes() const { return entries_.capacity() * sizeof(Entry); }

 private:
  static constexpr size_t kFew = 16;

  std::vector<Entry>::iterator UpperBound(uint64_t number) {
    return std::upper_bound(entries_.begin(), entries_.end(), number,
                            [](uint64_t n, const Entry& entry) { return n < entry.number; });
  }

  std::vector<Entry> entries_;  // ascending
  uint64_t last_ = 0;
  size_t gone_ = 0;
};

}  // namespace weir
