// The rows that a node has to tell, in the order in which it told them last: each has a number, from
// 1 up, and gets a new one, at the end, when it is told again.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "mail/envelope.h"
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
    const size_t at = PlaceAfter(number - 1);
    if (at == entries_.size() || entries_[at].number != number || entries_[at].gone()) return;
    entries_[at].segment = 0;
    gone_ += 1;
    if (2 * gone_ <= entries_.size() + kFew) return;
    std::erase_if(entries_, [](const Entry& entry) { return entry.gone(); });
    entries_.shrink_to_fit();
    gone_ = 0;
  }

  uint64_t last() const { return last_; }
  // With greater numbers; some may be gone.
  std::span<const Entry> After(uint64_t number) const {
    return std::span(entries_).subspan(PlaceAfter(number));
  }
  size_t bytes() const { return entries_.capacity() * sizeof(Entry); }

 private:
  static constexpr size_t kFew = 16;

  size_t PlaceAfter(uint64_t number) const {
    const auto at = std::upper_bound(entries_.begin(), entries_.end(), number,
                                     [](uint64_t n, const Entry& e) { return n < e.number; });
    return static_cast<size_t>(at - entries_.begin());
  }

  std::vector<Entry> entries_;  // ascending
  uint64_t last_ = 0;
  size_t gone_ = 0;
};

}  // namespace weir
