// Reaching the state that a cell holds, for whatever algorithm.
#pragma once

#include "store/cell_state.h"
#include "store/key_table.h"
#include "store/store.h"

namespace weir {

// Calls act(algorithm, state) with the state of a cell, whatever the algorithm is.
template <typename Act>
decltype(auto) With(const LimitSlot& slot, Cell cell, Act act) {
  return std::visit(
      [&](const auto& algorithm) -> decltype(auto) {
        CellState<std::decay_t<decltype(algorithm)>> state(algorithm, slot, cell);
        return act(algorithm, state);
      },
      slot.limit);
}

template <typename A>
using AlgorithmOf = std::decay_t<A>;

template <typename A>
void ShowState(const A& algorithm, CellState<A>& state, Charge& charge, Instant now) {
  charge.reset_after = Wait(now, algorithm.Reset(state.state(), now));
  if constexpr (std::is_same_v<A, Copies>) {
    charge.used = state.state().held;
  } else if constexpr (std::is_same_v<A, SlidingLog>) {
    charge.used = algorithm.Use(state.state(), now);
  } else if constexpr (std::is_same_v<A, BurstTiers>) {
    const BurstTiers::View view = algorithm.Current(state.state(), now);
    charge.tier = view.tier;
    charge.tier_limit = view.limit;
    charge.tier_hits = view.hits;
    charge.used = algorithm.LastSecond(state.state(), now);
  }
}

// The heap that a state takes, to be told to the table when it changes.
template <typename A>
class HeapMeter {
 public:
  HeapMeter(KeyTable& table, CellState<A>& state)
      : table_(table), state_(state), before_(HeapBytes(state.box())) {}
  ~HeapMeter() {
    const int64_t more = HeapBytes(state_.box()) - before_;
    if (more != 0) table_.AddHeapBytes(more);
  }

 private:
  KeyTable& table_;
  CellState<A>& state_;
  const int64_t before_;
};

inline const LimitSlot* Latest(const LimitSlot* slot) {
  while (const LimitSlot* next = slot->successor.load(std::memory_order_acquire)) slot = next;
  return slot;
}

}  // namespace weir
