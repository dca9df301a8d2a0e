// The sliding window: the log in counters. per is cut into slices; a hit at t falls into slice
// floor(t / (per/slices)), computed without rounding per/slices.
//
//      slice   s-n     s-n+1  …   s-1     s          n = slices, s = the current slice
//            |  ~~###|#######|###|#######|###->|
//              ^ the window of length per begins inside slice s-n
//
// What is done with that oldest slice, which lies only partly in the window, is the edge:
//
//   drop      not counted: slices s-n+1 to s. slices = 1 is the fixed window.       burst <= 2L
//   weighted  counted in proportion to its overlap, exactly (a rational comparison).
//             slices = 1 is the well-known two-counter window.                      burst <= 2L - 1
//   strict    counted whole: no window of length per ever holds more than the limit. burst <= L
//
// The bounds are on what one window of length per can admit; a test reaches each. More slices do
// not lower the worst burst, only strict does.
//
// Kept are the counts of slices s-n to s, their sum, and s, whatever the number of requests. A
// decision in the newest slice adds nothing up, and divides only to weigh the oldest; one in a
// later slice takes off the sum what has left since.
//
// An instant before the newest slice is treated as the first of that slice. A state that was stored
// under a clock ahead of this one is renumbered to it when it is loaded, use kept (Renumber; see
// fixed_window.h). Thesis 003, section 4.5.
#pragma once

#include <vector>

#include "algorithms/algorithm.h"

namespace weir {

struct SlidingWindow {
  enum class Edge { kDrop, kWeighted, kStrict };

  uint64_t limit = 0;
  Duration per{1};
  uint32_t slices = 10;
  Edge edge = Edge::kWeighted;

  struct State {
    int64_t newest = 0;            // slice
    uint64_t total = 0;            // of counts
    std::vector<uint64_t> counts;  // empty (unused) or a ring by slice number: a power of two of
                                   // them, at least slices + 1; 0 but in the newest slices + 1
    size_t bytes() const { return counts.capacity() * sizeof(uint64_t); }
    uint64_t& Count(int64_t slice) { return counts[Index(slice)]; }
    uint64_t Count(int64_t slice) const { return counts[Index(slice)]; }
    size_t Index(int64_t slice) const { return static_cast<uint64_t>(slice) & (counts.size() - 1); }
    bool operator==(const State&) const = default;
  };
  using Receipt = int64_t;  // the slice that was charged

  uint64_t Capacity() const { return limit; }
  std::optional<uint64_t> Room(const State& state, Instant now) const;
  Receipt Take(State& state, uint64_t n, Instant now) const;
  Receipt Charge(State& state, uint64_t n, Instant now) const { return Take(state, n, now); }
  // To a slice that was told: nothing happens if it has left the window, or has not begun.
  void ChargeAt(State& state, Receipt slice, uint64_t n, Instant now) const;
  uint64_t Refund(State& state, Receipt slice, uint64_t n, Instant now) const;
  // Gives back up to n of what counts, the newest first; returns how many.
  uint64_t RefundNewest(State& state, uint64_t n, Instant now) const;
  Instant When(const State& state, uint64_t n, Instant from) const;
  Instant Reset(const State& state, Instant now) const;
  uint64_t Use(const State& state, Instant now) const;
  State Start(uint64_t use, Instant now) const;
  uint32_t Fill(const State& state, Instant now) const;

  // Slices later than the clock's move back to it together. For states that were stored.
  void Renumber(State& state, Instant now) const;

  int64_t SliceOf(Instant now) const;
  // The first instant that belongs to `slice`.
  Instant StartOf(int64_t slice) const;

 private:
  // An instant as a slice and how far into it, in 1/per of a slice: 0 <= into < per.
  struct Place {
    int64_t slice;
    uint64_t into;
  };
  Place Locate(const State& state, Instant now) const;
  // The first instant at or after the one that lies `into` the slice; into <= per.
  Instant InstantOf(int64_t slice, uint64_t into) const;
  // The hits in the slices that lie wholly in the window while `slice` is the current one, which is
  // at most `slices` after the newest.
  uint64_t Whole(const State& state, int64_t slice) const;
  uint64_t Used(const State& state, Place now) const;
  void Advance(State& state, int64_t slice) const;
};

}  // namespace weir
