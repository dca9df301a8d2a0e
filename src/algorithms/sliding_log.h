// The sliding log: exact. Never more than limit in any window of length per.
//
// A hit counts while now - t <= per, so the next one is admitted when the oldest is strictly older
// than now - per. Kept are the hits that count (log.h): memory is bounded by limit.
//
// keep_rejected extends the ban of a key that goes on asking, as thesis 003, section 4.4.4
// describes: refused requests are kept too, the newest `limit` tokens of them, and count like
// admitted ones. The retry_after of such a refusal counts the refusal itself. Erratum 18.
//
// An instant before the newest hit, admitted or refused, is treated as that hit's.
#pragma once

#include "algorithms/algorithm.h"
#include "algorithms/log.h"

namespace weir {

struct SlidingLog {
  uint64_t limit = 0;
  Duration per{1};
  bool keep_rejected = false;

  struct State {
    Log admitted;
    Log rejected;  // only with keep_rejected
    size_t bytes() const { return admitted.bytes() + rejected.bytes(); }
    bool operator==(const State&) const = default;
  };
  using Receipt = Instant;  // under which the hits were recorded

  uint64_t Capacity() const { return limit; }
  std::optional<uint64_t> Room(const State& state, Instant now) const;
  Receipt Take(State& state, uint64_t n, Instant now) const;
  Receipt Charge(State& state, uint64_t n, Instant now) const { return Take(state, n, now); }
  // A request for n was refused: with keep_rejected, min(n, limit) are kept, else nothing happens.
  // Returns the instant under which they are.
  Receipt Reject(State& state, uint64_t n, Instant now) const;
  // Takes it back. Older refusals that it pushed out do not come back.
  void Forgive(State& state, Receipt receipt, uint64_t n) const;
  uint64_t Refund(State& state, Receipt receipt, uint64_t n, Instant now) const;
  // Gives back up to n of what counts, the newest first; returns how many.
  uint64_t RefundNewest(State& state, uint64_t n, Instant now) const;
  Instant When(const State& state, uint64_t n, Instant from) const;
  Instant Reset(const State& state, Instant now) const;
  uint64_t Use(const State& state, Instant now) const;
  State Start(uint64_t use, Instant now) const;
  uint32_t Fill(const State& state, Instant now) const;

 private:
  // The first instant at which a hit counts that is judged at `now`.
  Instant WindowStart(Instant now) const { return After(now, -per); }
  // When a hit at `at` no longer counts.
  Instant Leaves(Instant at) const { return After(at, per + Duration(1)); }
  uint64_t Used(const State& state, Instant now) const;
  void Forget(State& state, Instant now) const;
};

}  // namespace weir
