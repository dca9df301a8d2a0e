// States of limits that are coordinated: what is used here goes out, what others use comes in.
#include "store/cell_access.h"
#include "store/memory_store.h"

namespace weir {
namespace {

// What is counted in a window is remembered a little longer than it counts, so that nobody who is
// late brings it back.
constexpr Duration kAfterwards = std::chrono::seconds(15);

template <typename A>
Windows CountingNow(const A& algorithm, Instant now) {
  if constexpr (std::is_same_v<A, FixedWindow>) {
    const Window window = algorithm.WindowOf(now);
    return {window, window};
  } else if constexpr (std::is_same_v<A, SlidingWindow>) {
    const Window slice = algorithm.SliceOf(now);
    return {slice - algorithm.slices, slice};
  } else if constexpr (std::is_same_v<A, SlidingLog>) {
    return {ToNanos(After(now, -algorithm.per)), ToNanos(now)};
  }
  return {};
}

// Windows are counted alike whatever the way, and told like a debt.
template <typename A>
CoordinatedLimit LimitOf(const A& algorithm, Replication replication, Window window, Instant now) {
  const uint64_t capacity = algorithm.Capacity();
  if constexpr (std::is_same_v<A, TokenBucket>) {
    return {replication, capacity, algorithm.limit, algorithm.per};
  } else if constexpr (std::is_same_v<A, FixedWindow>) {
    return {Replication::kDebt, capacity, 0, algorithm.EndOf(window) - now + kAfterwards};
  } else if constexpr (std::is_same_v<A, SlidingWindow>) {
    const Instant end = algorithm.StartOf(window + algorithm.slices + 1);
    return {Replication::kDebt, capacity, 0, end - now + kAfterwards};
  } else if constexpr (std::is_same_v<A, SlidingLog>) {
    return {replication, capacity, 0, algorithm.per};
  }
  return {};
}

// Adds what others used, or takes off what they gave back.
template <typename A>
void Add(const A& algorithm, CellState<A>& state, const OthersUse& use, Instant now) {
  if constexpr (std::is_same_v<A, TokenBucket>) {
    const uint128 debt = algorithm.Debt(state.state(), now);
    if (state.box() != nullptr) state.box()->marks.Observe(debt);
    const uint128 ticks = static_cast<uint128>(use.ticks < 0 ? -use.ticks : use.ticks);
    const uint128 next = use.ticks < 0 ? debt - std::min(debt, ticks) : debt + ticks;
    state.state().full_at = algorithm.Ticks(now) + std::min(next, TokenBucket::kMostDebt);
    if (state.box() != nullptr) state.box()->marks.Observe(next);
  } else if constexpr (std::is_same_v<A, FixedWindow> || std::is_same_v<A, SlidingWindow>) {
    const auto count = static_cast<uint64_t>(use.ticks < 0 ? -use.ticks : use.ticks);
    if (use.ticks < 0) {
      algorithm.Refund(state.state(), use.window, count, now);
    } else {
      algorithm.ChargeAt(state.state(), use.window, count, now);
    }
  } else if constexpr (std::is_same_v<A, SlidingLog>) {
    const Instant at = std::min(FromNanos(use.window), now);
    if (use.ticks < 0) {
      algorithm.RefundNewest(state.state(), static_cast<uint64_t>(-use.ticks), now);
    } else if (After(at, algorithm.per) >= now) {
      algorithm.Charge(state.state(), static_cast<uint64_t>(use.ticks), at);
    }
  }
}

}  // namespace

void MemoryStore::NoteTaken(const Charge& charge, Instant now) {
  if (charge.limit->traits.persist) changed_.Add(charge.key);
  const LimitSlot& slot = *Latest(charge.limit);
  if (!Coordinated(slot)) return;
  std::visit(
      [&](const auto& algorithm) {
        const Window window = CountingNow(algorithm, now).to;
        coordinator_->Note({.key = charge.key,
                            .limit = LimitOf(algorithm, slot.traits.replication, window, now),
                            .window = window,
                            .taken = charge.taken,
                            .remaining = charge.remaining,
                            .at = now});
      },
      slot.limit);
}

// Up: charged now, to the current window. Down: given back to the window that was charged.
void MemoryStore::NoteSettled(const Receipt& receipt, const LimitSlot& slot, uint64_t taken,
                              uint64_t refunded, uint64_t remaining, Instant now) {
  if (!Coordinated(slot) || (taken == 0 && refunded == 0)) return;
  std::visit(
      [&](const auto& algorithm) {
        const bool windows = LimitOf(algorithm, {}, 0, now).limit == 0;
        const bool then = refunded > 0 && receipt.limit != nullptr && windows;
        const Window window = then ? receipt.at : CountingNow(algorithm, now).to;
        coordinator_->Note({.key = receipt.key,
                            .limit = LimitOf(algorithm, slot.traits.replication, window, now),
                            .window = window,
                            .taken = taken,
                            .refunded = refunded,
                            .remaining = remaining,
                            .at = now});
      },
      slot.limit);
}

// The key is new here, but others may have used it.
void MemoryStore::BeginWithOthers(Opened& entry, Instant now) {
  With(*entry.slot, entry.cell, [&](const auto& algorithm, auto& state) {
    const Windows windows = CountingNow(algorithm, now);
    const CoordinatedLimit limit =
        LimitOf(algorithm, entry.slot->traits.replication, windows.to, now);
    HeapMeter meter(table_, state);
    for (const OthersUse& use : coordinator_->Begin(entry.charge->key, limit, windows, now)) {
      Add(algorithm, state, use, now);
      entry.fresh = false;
    }
    if (!entry.fresh) state.Save();
  });
}

void MemoryStore::ApplyOthers(const Key& key, Instant now) {
  KeyTable::Held held;
  Cell cell;
  if (table_.Open(key, false, 0, now, held, &cell) != KeyTable::Found::kHere) {
    coordinator_->Forget(key);  // whoever asks for the key will ask for all that was used
    return;
  }
  const LimitSlot* slot = Latest(&limits_[cell.limit()]);
  BringTo(*slot, cell, now);
  With(*slot, cell, [&](const auto& algorithm, auto& state) {
    HeapMeter meter(table_, state);
    const Window latest = CountingNow(algorithm, now).to;
    const CoordinatedLimit limit = LimitOf(algorithm, slot->traits.replication, latest, now);
    for (const OthersUse& use : coordinator_->News(key, limit, now)) {
      const bool log = std::is_same_v<AlgorithmOf<decltype(algorithm)>, SlidingLog>;
      if (use.window > latest && !log) {
        coordinator_->Defer(key, use);
      } else {
        Add(algorithm, state, use, now);
      }
    }
    state.Save();
  });
}

}  // namespace weir
