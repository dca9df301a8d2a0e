// The sliding window, summed from its hits.
//
// Every hit keeps its slice. To answer, the hits of the slices that lie wholly in the window are
// summed, those of the oldest slice as the edge says: not at all, whole, or times the share of that
// slice which the window still covers,
//
//     1 - (now - start of the current slice) / (per/slices)  =  (per - now*slices mod per) / per
//
// so all sums are kept times per and nothing is rounded.
//
// A state does not run backwards: an instant before the slice that was charged last is taken for
// the first of that slice. A restart under a clock that was set back renumbers: all hits move back
// by as many slices as the newest lies ahead, use kept.
#pragma once

#include "algorithms/sliding_window.h"
#include "lab/oracle/model.h"

namespace weir::oracle {

class SlidingWindowOracle : public Model {
 public:
  SlidingWindowOracle(uint64_t limit, int64_t per_ns, uint32_t slices, SlidingWindow::Edge edge)
      : limit_(limit), per_(per_ns), slices_(slices), edge_(edge) {}

  std::optional<uint64_t> Room(Instant now) const override;
  void Take(uint64_t n, Instant now, uint64_t ticket) override;
  void Charge(uint64_t n, Instant now) override { Take(n, now, 0); }
  uint128 Refund(uint64_t ticket, uint64_t n, Instant now) override;
  Instant When(uint64_t n, Instant from) const override;
  Instant Reset(Instant now) const override;
  uint64_t Use(Instant now) const override;
  void Restart(Instant now) override;
  void Changes(Instant now, std::vector<Instant>* out) const override;

 protected:
  struct Sums {
    int128 whole = 0;  // hits of the slices that lie wholly in the window
    int128 edge = 0;   // hits of the slice that lies partly in it
  };
  Sums SumsIn(int128 slice) const;
  // Use at `now`, times per. `sums` are those of its slice.
  virtual int128 Used(const Sums& sums, Instant now) const;
  int128 SliceOf(Instant now) const;
  int128 StartOf(int128 slice) const;  // its first nanosecond

  const uint64_t limit_;
  const int128 per_;
  const int128 slices_;
  const SlidingWindow::Edge edge_;

 private:
  struct Hit {
    int128 slice;
    uint64_t n;
    uint64_t ticket;
  };
  // `now`, or the first instant of the newest slice if that is later.
  Instant NotBefore(Instant now) const;
  // The first instant in [from, end) at which n fits into a slice with these sums; `end` if none.
  int128 FirstFit(const Sums& sums, uint64_t n, int128 from, int128 end) const;

  std::vector<Hit> hits_;
  int128 newest_ = 0;  // the slice of the last hit
};

}  // namespace weir::oracle
