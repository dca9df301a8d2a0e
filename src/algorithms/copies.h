// Copies (Charon, section 2.2): held, not consumed. A pool of `limit` copies; a hold takes some and
// returns them. Time does nothing to it.
#pragma once

#include "algorithms/algorithm.h"

namespace weir {

struct Copies {
  uint64_t limit = 0;

  struct State {
    uint64_t held = 0;
    bool operator==(const State&) const = default;
  };

  uint64_t Capacity() const { return limit; }
  // No room while more than the limit is held (it was lowered); nothing is taken away.
  std::optional<uint64_t> Room(const State& state, Instant) const {
    return state.held > limit ? 0 : limit - state.held;
  }
  void Take(State& state, uint64_t n, Instant) const { state.held += n; }
  uint64_t Return(State& state, uint64_t n) const {
    const uint64_t back = std::min(n, state.held);
    state.held -= back;
    return back;
  }
  // Nobody knows when a hold ends: now, or never.
  Instant When(const State& state, uint64_t n, Instant from) const {
    return n <= *Room(state, from) ? from : kEndOfTime;
  }
  Instant Reset(const State& state, Instant now) const {
    return state.held == 0 ? now : kEndOfTime;
  }
  uint32_t Fill(const State& state, Instant) const { return state.held == 0 ? 0 : 16 * kFull; }
};

}  // namespace weir
