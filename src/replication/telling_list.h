// The rows that a node has to tell, in the order in which it told them last: each has a number, from
// 1 up, and gets a new one, at the end, when it is told again.
//
// They lie in chunks, so that nothing that is done to the list moves more than one of them.
#pragma once

#include <algorithm>
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
  static constexpr size_t kChunk = 512;  // entries, at most

  uint64_t Add(const StateName& name, Origin origin, uint64_t segment) {
    last_ += 1;
    if (chunks_.empty() || chunks_.back().entries.size() == kChunk) {
      chunks_.push_back({.first = last_, .gone = 0, .entries = {}});
    }
    chunks_.back().entries.push_back({last_, name, origin, segment});
    return last_;
  }
  void Remove(uint64_t number) {
    const size_t at = ChunkOf(number);
    if (at == chunks_.size()) return;
    Chunk& chunk = chunks_[at];
    const size_t place = PlaceAfter(chunk, number - 1);
    if (place == chunk.entries.size()) return;
    Entry& entry = chunk.entries[place];
    if (entry.number != number || entry.gone()) return;
    entry.segment = 0;
    chunk.gone += 1;
    const size_t few = at + 1 == chunks_.size() ? kFew : 0;
    if (2 * chunk.gone > chunk.entries.size() + few) Compact(at);
  }

  uint64_t last() const { return last_; }
  // Calls see(entry) for those with greater numbers, until it says false; some may be gone.
  template <typename See>
  void After(uint64_t number, const See& see) const {
    size_t at = ChunkOf(number);
    if (at == chunks_.size()) at = 0;
    for (size_t place = at < chunks_.size() ? PlaceAfter(chunks_[at], number) : 0;
         at < chunks_.size(); ++at, place = 0) {
      const std::vector<Entry>& entries = chunks_[at].entries;
      for (; place < entries.size(); ++place) {
        if (!see(entries[place])) return;
      }
    }
  }
  size_t bytes() const {
    size_t sum = chunks_.capacity() * sizeof(Chunk);
    for (const Chunk& chunk : chunks_) sum += chunk.entries.capacity() * sizeof(Entry);
    return sum;
  }

 private:
  static constexpr size_t kFew = 16;
  struct Chunk {
    uint64_t first = 0;  // no number of it is less,
    size_t gone = 0;
    std::vector<Entry> entries;  // ascending
  };

  // The one that has the number, if any has; chunks_.size(): none.
  size_t ChunkOf(uint64_t number) const {
    const auto next = std::upper_bound(chunks_.begin(), chunks_.end(), number,
                                       [](uint64_t n, const Chunk& c) { return n < c.first; });
    return next == chunks_.begin() ? chunks_.size()
                                   : static_cast<size_t>(next - chunks_.begin()) - 1;
  }
  static size_t PlaceAfter(const Chunk& chunk, uint64_t number) {
    const auto at = std::upper_bound(chunk.entries.begin(), chunk.entries.end(), number,
                                     [](uint64_t n, const Entry& e) { return n < e.number; });
    return static_cast<size_t>(at - chunk.entries.begin());
  }
  // Two that are nearly empty become one.
  void Compact(size_t at) {
    Chunk& chunk = chunks_[at];
    std::erase_if(chunk.entries, [](const Entry& entry) { return entry.gone(); });
    chunk.gone = 0;
    if (at > 0 && chunks_[at - 1].entries.size() + chunk.entries.size() <= kChunk / 2) {
      std::vector<Entry>& before = chunks_[at - 1].entries;
      before.insert(before.end(), chunk.entries.begin(), chunk.entries.end());
      chunk.entries.clear();
    }
    if (chunk.entries.empty()) {
      chunks_.erase(chunks_.begin() + static_cast<ptrdiff_t>(at));
      if (chunks_.empty()) chunks_.shrink_to_fit();
    } else {
      chunk.entries.shrink_to_fit();
    }
  }

  std::vector<Chunk> chunks_;  // ascending
  uint64_t last_ = 0;
};

}  // namespace weir
