// What happens to a state after something was admitted: settling, giving back, returning.
#include "store/cell_access.h"
#include "store/conversion.h"
#include "store/memory_store.h"

namespace weir {

bool MemoryStore::Settle(Settlement& settlement) {
  settlement.error = Code::kOk;
  settlement.use = SettleNow(settlement.receipts, settlement.cost, settlement.now);
  return true;
}

SettledUse MemoryStore::SettleNow(std::span<const Receipt> receipts, uint64_t cost, Instant now) {
  SettledUse all{.charged = cost};  // less is charged to none
  for (const Receipt& receipt : receipts) {
    const SettledUse one = SettleOne(receipt, cost, now);
    all.remaining = std::min(all.remaining, one.remaining);
    if (!receipt.shadow) all.charged = std::max(all.charged, one.charged);
    if (receipt.limit->traits.persist) changed_.Add(receipt.key);
    receipt.limit->tickets.fetch_sub(1);
  }
  if (table_.OverBudget() && !receipts.empty()) Relieve(*receipts[0].limit, now);
  return all;
}

void MemoryStore::Close(std::span<const Receipt> receipts, Instant now) {
  for (const Receipt& receipt : receipts) {
    CloseOne(receipt, now);
    receipt.limit->tickets.fetch_sub(1);
  }
}

void MemoryStore::Reduce(std::span<Receipt> receipts, uint64_t keep, Instant now) {
  for (Receipt& receipt : receipts) {
    if (receipt.taken <= keep) continue;
    CancelOne(receipt, receipt.taken - keep, false, now);
    uint64_t over = receipt.taken - keep;  // is taken off the greatest tiers first
    for (size_t i = receipt.by_tier.size(); i-- > 0 && over > 0;) {
      const uint64_t off = std::min(over, receipt.by_tier[i]);
      receipt.by_tier[i] -= off;
      over -= off;
    }
    receipt.taken = keep;
  }
}

void MemoryStore::Cancel(std::span<const Receipt> receipts, Instant now) {
  for (const Receipt& receipt : receipts) {
    CancelOne(receipt, receipt.taken, true, now);
    receipt.limit->tickets.fetch_sub(1);
  }
}

namespace {

BurstTiers::Receipt TakenOf(const Receipt& receipt) {
  BurstTiers::Receipt taken{.at = FromNanos(receipt.at)};
  std::copy(receipt.by_tier.begin(), receipt.by_tier.end(), taken.by_tier.begin());
  return taken;
}

// Gives back up to `n` of what was taken under the receipt, as far as the state still knows it.
// Returns how many whole tokens it was: others are told of no parts, so of a replicated bucket none are
// given back.
template <typename A>
uint64_t GiveBack(const A& algorithm, CellState<A>& state, const Receipt& receipt, uint64_t n,
                  bool shared, Instant now) {
  if constexpr (std::is_same_v<A, TokenBucket>) {
    Box<TokenBucket>* box = state.box();
    if (box == nullptr || box->born != receipt.born) return 0;
    const auto ticket = static_cast<uint64_t>(receipt.at);
    uint128 most = box->marks.MarkOf(ticket);
    if (shared) most -= most % algorithm.ticks_per_token;
    const uint128 back = algorithm.GiveBack(box->state, n, most, now);
    box->marks.Lower(ticket, back);
    return static_cast<uint64_t>(back / algorithm.ticks_per_token);
  } else if constexpr (std::is_same_v<A, SlidingLog>) {
    return algorithm.Refund(state.state(), FromNanos(receipt.at), n, now);
  } else if constexpr (std::is_same_v<A, BurstTiers>) {
    return algorithm.Refund(state.state(), TakenOf(receipt), n, now);
  } else if constexpr (std::is_same_v<A, Copies>) {
    return algorithm.Return(state.state(), n);
  } else {
    const A* then = std::get_if<A>(&receipt.limit->limit);
    if (then == nullptr || !SameNumbering(*then, algorithm)) return 0;
    return algorithm.Refund(state.state(), receipt.at, n, now);
  }
}

// Gives back up to `n` of what was used last, whoever used it, and tells how many whole tokens.
template <typename A>
uint64_t GiveBackNewest(const A& algorithm, CellState<A>& state, uint64_t n, Instant now) {
  if constexpr (std::is_same_v<A, TokenBucket>) {
    const uint128 back = algorithm.GiveBack(state.state(), n, TokenBucket::kMostDebt, now);
    if (state.box() != nullptr) state.box()->marks.Observe(algorithm.Debt(state.state(), now));
    return static_cast<uint64_t>(back / algorithm.ticks_per_token);
  } else if constexpr (std::is_same_v<A, FixedWindow>) {
    return algorithm.Refund(state.state(), state.state().window, n, now);
  } else if constexpr (std::is_same_v<A, SlidingLog> || std::is_same_v<A, SlidingWindow>) {
    return algorithm.RefundNewest(state.state(), n, now);
  }
  return 0;
}

// The ticket is closed: a bucket may stop counting.
template <typename A>
void CloseTicket(CellState<A>& state, const Receipt& receipt) {
  if constexpr (std::is_same_v<A, TokenBucket>) {
    Box<TokenBucket>* box = state.box();
    if (box == nullptr || box->born != receipt.born) return;
    box->marks.Close(static_cast<uint64_t>(receipt.at));
    if (box->marks.empty()) state.Unbox();
  }
}

}  // namespace

// A state is settled under the numbers that are in force for it: they may have changed since.
SettledUse MemoryStore::SettleOne(const Receipt& receipt, uint64_t cost, Instant now) {
  const bool up = cost > receipt.taken;
  KeyTable::Held held;
  Charge charge(receipt.key, receipt.limit, 0, 0);
  Opened entry{.charge = &charge};
  const LimitSlot* latest = Latest(receipt.limit);
  KeyTable::Found found;
  while ((found = table_.Open(receipt.key, up, latest->number, now, held, &entry.cell)) ==
         KeyTable::Found::kNoRoom) {
    held.Release(0);
    // What was used is charged if there is anything that may be forgotten for it.
    const Newcomer newcomer{.owner = latest->owner, .guarded = latest->traits.guarded()};
    if (!table_.MakeRoom(receipt.key, newcomer, now, held.without_room)) break;
  }
  // A state that is as good as unused is not there: nothing of it can be given back. Nor is anything
  // charged to one for which there is no room.
  if (found != KeyTable::Found::kHere && found != KeyTable::Found::kFresh) {
    return {receipt.taken, Numbers(latest->limit).capacity};
  }
  entry.slot = Latest(&limits_[entry.cell.limit()]);
  BringTo(*entry.slot, entry.cell, now);
  uint64_t remaining = 0, refunded = 0;
  With(*entry.slot, entry.cell, [&](const auto& algorithm, auto& state) {
    using A = AlgorithmOf<decltype(algorithm)>;
    HeapMeter meter(table_, state);
    if constexpr (std::is_same_v<A, TokenBucket>) {
      if (state.box() != nullptr) {
        state.box()->marks.Observe(algorithm.Debt(state.state(), now));
      }
    }
    if constexpr (!std::is_same_v<A, Copies>) {
      if (up) {
        algorithm.Charge(state.state(), cost - receipt.taken, now);
      } else if (cost < receipt.taken) {
        refunded = GiveBack(algorithm, state, receipt, receipt.taken - cost,
                            Coordinated(*entry.slot), now);
      }
    }
    remaining = algorithm.Room(state.state(), now).value_or(0);
    state.Save();
    CloseTicket(state, receipt);
  });
  EraseIfUnused(entry, now);
  held.Release(0);
  NoteSettled(receipt, *entry.slot, up ? cost - receipt.taken : 0, refunded, remaining, now);
  return {up ? cost : receipt.taken - refunded, remaining};
}

// Gives back `n` of what was taken, and forgets a refusal that was kept. Under the numbers that are in
// force, like settling. A state that is not there any more is as good as unused: there is nothing to
// undo.
void MemoryStore::CancelOne(const Receipt& receipt, uint64_t n, bool close, Instant now) {
  if (receipt.limit->traits.persist) changed_.Add(receipt.key);
  KeyTable::Held held;
  Charge charge(receipt.key, receipt.limit, 0, 0);
  Opened entry{.charge = &charge};
  if (table_.Open(receipt.key, false, 0, now, held, &entry.cell) != KeyTable::Found::kHere) return;
  entry.slot = Latest(&limits_[entry.cell.limit()]);
  BringTo(*entry.slot, entry.cell, now);
  uint64_t remaining = 0, refunded = 0;
  With(*entry.slot, entry.cell, [&](const auto& algorithm, auto& state) {
    using A = AlgorithmOf<decltype(algorithm)>;
    HeapMeter meter(table_, state);
    if constexpr (std::is_same_v<A, TokenBucket>) {
      if (state.box() != nullptr) {
        state.box()->marks.Observe(algorithm.Debt(state.state(), now));
      }
    }
    if constexpr (std::is_same_v<A, SlidingLog>) {
      if (receipt.rejected > 0) {
        algorithm.Forgive(state.state(), FromNanos(receipt.at), receipt.rejected);
      }
    }
    if constexpr (std::is_same_v<A, BurstTiers>) {
      refunded = algorithm.Cancel(state.state(), TakenOf(receipt), n, now);
    } else {
      refunded = GiveBack(algorithm, state, receipt, n, Coordinated(*entry.slot), now);
    }
    remaining = algorithm.Room(state.state(), now).value_or(0);
    state.Save();
    if (close) CloseTicket(state, receipt);
  });
  EraseIfUnused(entry, now);
  held.Release(0);
  NoteSettled(receipt, *entry.slot, 0, refunded, remaining, now);
}

void MemoryStore::CloseOne(const Receipt& receipt, Instant now) {
  KeyTable::Held held;
  Charge charge(receipt.key, receipt.limit, 0, 0);
  Opened entry{.charge = &charge};
  if (table_.Open(receipt.key, false, 0, now, held, &entry.cell) != KeyTable::Found::kHere) return;
  entry.slot = &limits_[entry.cell.limit()];
  With(*entry.slot, entry.cell, [&](const auto&, auto& state) {
    HeapMeter meter(table_, state);
    CloseTicket(state, receipt);
  });
  EraseIfUnused(entry, now);
}

void MemoryStore::Refund(Charge& charge, Instant now) {
  KeyTable::Held held;
  Opened entry{.charge = &charge};
  Open(entry, false, now, held);
  uint64_t refunded = 0;
  With(*entry.slot, entry.cell, [&](const auto& algorithm, auto& state) {
    HeapMeter meter(table_, state);
    if (entry.cell.bytes() != nullptr) {
      refunded = GiveBackNewest(algorithm, state, charge.cost, now);
      state.Save();
    }
    charge.refused = false;
    charge.remaining = algorithm.Room(state.state(), now).value_or(0);
    ShowState(algorithm, state, charge, now);
  });
  EraseIfUnused(entry, now);
  held.Release(0);
  NoteSettled({.key = charge.key}, *entry.slot, 0, refunded, charge.remaining, now);
}

uint64_t MemoryStore::Return(const Key& key, uint64_t copies, Instant now) {
  KeyTable::Held held;
  Charge charge(key, nullptr, 0, 0);
  Opened entry{.charge = &charge};
  if (table_.Open(key, false, 0, now, held, &entry.cell) != KeyTable::Found::kHere) return 0;
  entry.slot = &limits_[entry.cell.limit()];
  uint64_t left = 0;
  With(*entry.slot, entry.cell, [&](const auto& algorithm, auto& state) {
    if constexpr (std::is_same_v<AlgorithmOf<decltype(algorithm)>, Copies>) {
      algorithm.Return(state.state(), copies);
      left = state.state().held;
      state.Save();
    }
  });
  EraseIfUnused(entry, now);
  return left;
}

}  // namespace weir
