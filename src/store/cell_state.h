// How the states of the algorithms are kept in cells.
//
// A token bucket, a fixed window and a count of copies lie in the 72 bits of the cell itself, as
// offsets from the store's epoch. Whatever does not fit there lies in a box on the heap: logs,
// slices, tiers, buckets with open tickets, and numbers out of the ordinary.
#pragma once

#include "algorithms/refund_marks.h"
#include "base/heap_bytes.h"
#include "store/cell.h"
#include "store/limit_table.h"

namespace weir {

// What a box holds: the state, and for a bucket what its open tickets may get back.
template <typename A>
struct Box {
  typename A::State state;
  size_t bytes() const { return state.bytes(); }
};
template <>
struct Box<TokenBucket> {
  TokenBucket::State state;
  RefundMarks marks;
  int64_t born = 0;  // when it began to count tickets: refunds of older ones are lost
  size_t bytes() const { return marks.bytes(); }
};
template <>
struct Box<FixedWindow> {
  FixedWindow::State state;
  size_t bytes() const { return 0; }
};
template <>
struct Box<Copies> {
  Copies::State state;
  size_t bytes() const { return 0; }
};

template <typename A>
inline constexpr bool kAlwaysBoxed = true;
template <>
inline constexpr bool kAlwaysBoxed<TokenBucket> = false;
template <>
inline constexpr bool kAlwaysBoxed<FixedWindow> = false;
template <>
inline constexpr bool kAlwaysBoxed<Copies> = false;

inline void Unpack(const TokenBucket&, const LimitSlot& slot, Payload payload,
                   TokenBucket::State& state) {
  state.full_at = payload.value() + slot.base_ticks;
}
inline bool Pack(const TokenBucket&, const LimitSlot& slot, const TokenBucket::State& state,
                 Payload& payload) {
  // In the past of the epoch it is full, whenever that was.
  const uint128 offset = state.full_at > slot.base_ticks ? state.full_at - slot.base_ticks : 0;
  payload = Payload::Of(offset);
  return Payload::Fits(offset);
}

// 72 bits for the window and its count; windows that begin with a request are numbered by the
// nanosecond and need more of them.
inline int BitsOfCount(const FixedWindow& window) {
  return window.anchor == FixedWindow::Anchor::kFirstRequest ? 18 : 32;
}
inline void Unpack(const FixedWindow& window, const LimitSlot& slot, Payload payload,
                   FixedWindow::State& state) {
  const int bits = BitsOfCount(window);
  state.used = static_cast<uint64_t>(payload.value()) & ((uint64_t{1} << bits) - 1);
  state.window = static_cast<int64_t>(payload.value() >> bits) + slot.base_window;
}
inline bool Pack(const FixedWindow& window, const LimitSlot& slot, const FixedWindow::State& state,
                 Payload& payload) {
  const int bits = BitsOfCount(window);
  const int128 offset = int128{state.window} - slot.base_window;
  if (offset < 0 || offset >> (72 - bits) != 0 || state.used >> bits != 0) return false;
  payload = Payload::Of(static_cast<uint128>(offset) << bits | state.used);
  return true;
}

inline void Unpack(const Copies&, const LimitSlot&, Payload payload, Copies::State& state) {
  state.held = payload.low;
}
inline bool Pack(const Copies&, const LimitSlot&, const Copies::State& state, Payload& payload) {
  payload = Payload::Of(state.held);
  return true;
}

// The state in a cell, opened for reading and, with Save, for writing.
template <typename A>
class CellState {
 public:
  CellState(const A& algorithm, const LimitSlot& slot, Cell cell)
      : algorithm_(algorithm), slot_(slot), cell_(cell) {
    if (cell.bytes() == nullptr) return;  // a key without a cell is unused
    if (cell.boxed()) {
      box_ = cell.box<Box<A>>();
    } else if constexpr (!kAlwaysBoxed<A>) {
      if (cell.payload().value() != 0) Unpack(algorithm, slot, cell.payload(), here_);
    }
  }

  typename A::State& state() { return box_ != nullptr ? box_->state : here_; }
  Box<A>* box() { return box_; }
  const LimitSlot& slot() const { return slot_; }

  // Moves the state into a box, if it is not in one.
  Box<A>& MakeBox() {
    if (box_ == nullptr) {
      box_ = new Box<A>{};
      box_->state = std::move(here_);
      cell_.SetPayload(Payload::Of(reinterpret_cast<uint64_t>(box_)));
      cell_.SetLimit(slot_.number, true);
    }
    return *box_;
  }
  // Moves it back into the cell if it fits there.
  void Unbox() {
    Payload payload;
    if constexpr (!kAlwaysBoxed<A>) {
      if (box_ == nullptr || !Pack(algorithm_, slot_, box_->state, payload)) return;
      here_ = box_->state;
      delete box_;
      box_ = nullptr;
      cell_.SetLimit(slot_.number, false);
      cell_.SetPayload(payload);
    }
  }

  void Save() {
    if (box_ != nullptr) return;
    if constexpr (!kAlwaysBoxed<A>) {
      Payload payload;
      if (Pack(algorithm_, slot_, here_, payload)) {
        cell_.SetPayload(payload);
        return;
      }
    }
    MakeBox();
  }

 private:
  const A& algorithm_;
  const LimitSlot& slot_;
  Cell cell_;
  Box<A>* box_ = nullptr;
  typename A::State here_{};
};

// Bytes on the heap that a cell answers for, the allocator's share included: what grows and shrinks
// leaves holes between what is in use, an eighth and more of it.
template <typename A>
int64_t HeapBytes(const Box<A>* box) {
  if (box == nullptr) return 0;
  constexpr size_t kLarge = 256;
  const size_t inner = box->bytes();
  const size_t holes = inner < kLarge ? 0 : inner / 8;
  return static_cast<int64_t>(ChunkBytes(sizeof(Box<A>)) + ChunkBytes(inner) + holes);
}

}  // namespace weir
