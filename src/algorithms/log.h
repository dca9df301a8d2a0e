// A log of hits: when, and how many at that instant. The building block of the sliding log and of
// the burst tiers.
//
// Entries are in order of time, each with the running total up to and including it, so that the
// hits of any span of time are a subtraction after a binary search:
//
//     at      10   12   19          CountFrom(12) = 9 - 2
//     total    2    5    9
//
// Totals may wrap around; their differences do not, since a log holds fewer than 2^64 hits. A ring
// in one allocation that doubles when it is full of entries that still count, and is halved only
// when it is large and nearly empty; hits at the same instant share an entry. Copying copies the
// entries. Searches gallop from the oldest entry, near which what is asked for mostly lies.
#pragma once

#include <memory>

#include "algorithms/algorithm.h"

namespace weir {

class Log {
 public:
  Log() = default;
  Log(const Log& other);
  Log(Log&& other) noexcept;
  Log& operator=(Log other) noexcept;
  ~Log() = default;

  // Adds n hits at `at`, or at the newest entry's instant if that is later (as many as 2^64 - 1 in
  // all). Returns the instant under which they were recorded.
  Instant Add(Instant at, uint64_t n);
  // Forgets the hits before `from`.
  void DropBefore(Instant from);
  // Removes at most n of the hits recorded at exactly `at`; returns how many.
  uint64_t Remove(Instant at, uint64_t n);
  // Removes the oldest hits until at most `most` are left.
  void KeepNewest(uint64_t most);

  // Hits recorded at `from` or later.
  uint64_t CountFrom(Instant from) const;
  // The instant of the hit with which, counted from the oldest of those at `from` or later, `n`
  // hits have passed. Asks for 1 <= n <= CountFrom(from).
  Instant NthFrom(Instant from, uint64_t n) const;

  // Calls visit(at, hits) for every entry, the oldest first.
  template <typename Visit>
  void ForEach(Visit visit) const {
    for (uint32_t i = 0; i < size_; ++i) visit(At(i).at, At(i).total - TotalBefore(i));
  }

  bool empty() const { return size_ == 0; }
  // The next two ask for !empty().
  Instant newest() const { return At(size_ - 1).at; }
  Instant oldest() const { return At(0).at; }
  size_t entries() const { return size_; }
  // Bytes on the heap.
  size_t bytes() const;
  bool operator==(const Log& other) const;

 private:
  struct Entry {
    Instant at;
    uint64_t total;
  };

  // The i-th entry, from the oldest.
  Entry& At(uint32_t i) const { return ring_[(head_ + i) & (capacity_ - 1)]; }
  uint64_t TotalBefore(uint32_t i) const { return i == 0 ? before_ : At(i - 1).total; }
  uint64_t count() const { return TotalBefore(size_) - before_; }
  // The first entry for which `early` does not hold; it holds for those before it and no others.
  template <typename Early>
  uint32_t FirstNot(Early early) const;
  uint32_t FirstFrom(Instant from) const;
  void DropFirst(uint32_t n);
  void Erase(uint32_t i);
  void Resize(uint32_t capacity);

  std::unique_ptr<Entry[]> ring_;
  uint32_t capacity_ = 0;  // a power of two, or 0
  uint32_t head_ = 0;      // the oldest entry
  uint32_t size_ = 0;
  uint64_t before_ = 0;  // the running total just before the oldest entry
};

}  // namespace weir
