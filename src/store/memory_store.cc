#include "store/memory_store.h"

#include <algorithm>

#include "store/cell_access.h"

namespace weir {
namespace {

// Takes n from the state, and leaves a receipt if one is wanted.
template <typename A>
void TakeFrom(const A& algorithm, CellState<A>& state, Charge& charge, uint64_t n, Instant now) {
  Receipt* const receipt = charge.receipt;
  if (receipt != nullptr) {
    receipt->key = charge.key;
    receipt->limit = &state.slot();
    receipt->taken = n;
    receipt->shadow = charge.shadow;
    state.slot().tickets.fetch_add(1);
  }
  if constexpr (std::is_same_v<A, TokenBucket>) {
    if (receipt != nullptr && n == 0)
      receipt->at = receipt->born = 0;  // there is nothing to give back
    if (receipt != nullptr && n > 0) {
      Box<TokenBucket>& box = state.MakeBox();
      if (box.marks.empty()) box.born = ToNanos(now);
      box.marks.Observe(algorithm.Debt(box.state, now));
      algorithm.Take(box.state, n, now);
      receipt->at = static_cast<int64_t>(box.marks.Open(algorithm.Debt(box.state, now)));
      receipt->born = box.born;
    } else {
      if (state.box() != nullptr) {
        state.box()->marks.Observe(algorithm.Debt(state.state(), now));
      }
      algorithm.Take(state.state(), n, now);
    }
  } else if constexpr (std::is_same_v<A, BurstTiers>) {
    const BurstTiers::Receipt taken = algorithm.Take(state.state(), n, now);
    charge.burst = taken.burst;
    if (receipt != nullptr) {
      receipt->at = ToNanos(taken.at);
      receipt->by_tier.assign(taken.by_tier.begin(), taken.by_tier.end());
    }
  } else if constexpr (std::is_same_v<A, SlidingLog>) {
    const Instant at = algorithm.Take(state.state(), n, now);
    if (receipt != nullptr) receipt->at = ToNanos(at);
  } else if constexpr (std::is_same_v<A, Copies>) {
    algorithm.Take(state.state(), n, now);
  } else {
    const int64_t at = algorithm.Take(state.state(), n, now);
    if (receipt != nullptr) receipt->at = at;
  }
  state.Save();
}

// The refusal of n extends the ban.
void KeepRejected(const SlidingLog& log, CellState<SlidingLog>& state, Charge& charge, uint64_t n,
                  Instant now) {
  const Instant at = log.Reject(state.state(), n, now);
  state.Save();
  if (charge.receipt == nullptr) return;
  *charge.receipt = {.key = charge.key,
                     .limit = &state.slot(),
                     .rejected = n,
                     .shadow = charge.shadow,
                     .at = ToNanos(at)};
  state.slot().tickets.fetch_add(1);
}

}  // namespace

MemoryStore::MemoryStore(uint64_t memory_bytes, Instant epoch, uint32_t most_limits)
    : limits_(epoch, most_limits), table_(memory_bytes, *this) {}

bool MemoryStore::Admit(Admission& admission) {
  admission.admitted = {.allowed = true};
  if (!admission.charges.empty()) {
    admission.admitted = Run(admission.charges, admission.now, admission.want == Want::kTake);
  }
  if (admission.admitted.error != Code::kOk) return true;
  for (Charge& refund : admission.refunds) Refund(refund, admission.now);
  return true;
}

Admitted MemoryStore::Run(std::span<Charge> charges, Instant now, bool take) {
  const Admitted admitted =
      charges.size() == 1 ? RunOne(charges[0], now, take) : RunMany(charges, now, take);
  if (take && table_.OverBudget() && !charges.empty()) [[unlikely]]
    Relieve(*charges[0].limit, now);
  if (take) Note(charges, now);
  return admitted;
}

// ---- Opening ----

bool MemoryStore::Open(Opened& entry, bool make, Instant now, KeyTable::Held& held) {
  entry.slot = Latest(entry.charge->limit);
  make = make || Coordinated(*entry.slot);  // others may have used it
  switch (table_.Open(entry.charge->key, make, entry.slot->number, now, held, &entry.cell)) {
    case KeyTable::Found::kHere:
      if (entry.cell.limit() != entry.slot->number) BringTo(*entry.slot, entry.cell, now);
      return true;
    case KeyTable::Found::kFresh:
      entry.fresh = true;
      if (Coordinated(*entry.slot)) BeginWithOthers(entry, now);
      return true;
    case KeyTable::Found::kAbsent: entry.cell = Cell(); return true;
    default: return false;
  }
}

Code MemoryStore::MakeRoom(const Opened& entry, Instant now, uint64_t without_room) {
  if (table_.MakeRoom(entry.charge->key, NewcomerOf(*entry.slot), now, without_room)) {
    return Code::kOk;
  }
  overloaded_.fetch_add(1, std::memory_order_relaxed);
  return Code::kOverloaded;
}

Code MemoryStore::OpenAll(std::span<Charge> charges, bool make, Instant now, KeyTable::Held& held,
                          Entries& entries) {
  for (Charge& charge : charges) entries.push_back({{.charge = &charge}});
  absl::InlinedVector<size_t, 4> order(charges.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const Key &ka = charges[a].key, &kb = charges[b].key;
    if (ka == kb) return a < b;
    return KeyTable::Before(ka, kb);
  });
  while (true) {
    bool retry = false;
    for (size_t i = 0; i < order.size() && !retry; ++i) {
      Entry& entry = entries[order[i]];
      entry.same = order[i];
      if (i > 0 && charges[order[i]].key == charges[order[i - 1]].key) {
        entry.same = entries[order[i - 1]].same;
        entry.slot = entries[entry.same].slot;
        entry.cell = entries[entry.same].cell;
        continue;
      }
      retry = !Open(entry, make, now, held);
      if (!retry) continue;
      // Undo, make room with nothing locked, and start over.
      for (size_t j = 0; j < i; ++j) {
        Entry& made = entries[order[j]];
        if (made.fresh) table_.Erase(made.charge->key, made.cell);
        made.fresh = false;
      }
      held.Release(0);
      const Code code = MakeRoom(entry, now, held.without_room);
      if (code != Code::kOk) return code;
    }
    if (!retry) return Code::kOk;
  }
}

void MemoryStore::EraseIfUnused(Opened& entry, Instant now) {
  if (entry.cell.bytes() == nullptr || !Expired(entry.cell, now)) return;
  Drop(entry.cell);
  table_.Erase(entry.charge->key, entry.cell);
}

// ---- One charge ----

Admitted MemoryStore::RunOne(Charge& charge, Instant now, bool take) {
  KeyTable::Held held;
  Opened entry{.charge = &charge};
  while (!Open(entry, take, now, held)) {
    held.Release(0);
    const Code code = MakeRoom(entry, now, held.without_room);
    if (code != Code::kOk) return {.error = code};
  }
  const auto* bucket = std::get_if<TokenBucket>(&entry.slot->limit);
  const Admitted admitted =
      bucket != nullptr && take && charge.receipt == nullptr && !entry.cell.boxed()
          ? TakeFromBucket(*bucket, entry, now)
          : DecideOne(entry, now, take);
  if (entry.fresh) {
    Drop(entry.cell);
    table_.Erase(charge.key, entry.cell);
  }
  return admitted;
}

namespace {

// What one charge alone comes to.
Admitted Outcome(const Charge& charge) {
  if (charge.shadow) return {.allowed = true, .granted = charge.cost};
  if (!charge.refused) return {.allowed = true, .granted = charge.taken};
  return {.retry_after = charge.wait};
}

}  // namespace

// The commonest case, made short: a bucket in its cell.
Admitted MemoryStore::TakeFromBucket(const TokenBucket& bucket, Opened& entry, Instant now) {
  Charge& charge = *entry.charge;
  CellState<TokenBucket> state(bucket, *entry.slot, entry.cell);
  const TokenBucket::Step step = bucket.Decide(state.state(), charge.cost, charge.least, now);
  charge.refused = !step.allowed;
  charge.taken = step.granted;
  charge.remaining = step.remaining;
  charge.reset_after = step.reset_after;
  charge.wait = step.retry_after;
  if (step.granted > 0) {
    HeapMeter meter(table_, state);
    state.state() = step.next;
    state.Save();
    entry.fresh = false;
  }
  return Outcome(charge);
}

Admitted MemoryStore::DecideOne(Opened& entry, Instant now, bool take) {
  Charge& charge = *entry.charge;
  With(*entry.slot, entry.cell, [&](const auto& algorithm, auto& state) {
    HeapMeter meter(table_, state);
    const std::optional<uint64_t> room = algorithm.Room(state.state(), now);
    const uint64_t n = std::min(charge.cost, room.value_or(0));
    charge.refused = !room || n < charge.least;
    charge.taken = charge.refused ? 0 : n;
    charge.remaining = room.value_or(0) - (take ? charge.taken : 0);
    if (charge.refused) {
      if constexpr (std::is_same_v<AlgorithmOf<decltype(algorithm)>, SlidingLog>) {
        if (take && algorithm.keep_rejected) {
          KeepRejected(algorithm, state, charge, charge.cost, now);
          entry.fresh = false;
          charge.remaining = algorithm.Room(state.state(), now).value_or(0);
        }
      }
      charge.wait = Wait(now, algorithm.When(state.state(), charge.least, now));
    } else if (take && (charge.taken > 0 || charge.receipt != nullptr)) {
      TakeFrom(algorithm, state, charge, charge.taken, now);
      entry.fresh = entry.fresh && charge.taken == 0;
    }
    ShowState(algorithm, state, charge, now);
  });
  const Admitted admitted = Outcome(charge);
  if (!take) charge.taken = 0;
  return admitted;
}

// ---- Several charges ----

void MemoryStore::Ask(Entry& entry, Instant now) {
  With(*entry.slot, entry.cell, [&](const auto& algorithm, auto& state) {
    const std::optional<uint64_t> room = algorithm.Room(state.state(), now);
    entry.overdrawn = !room;
    entry.room = room.value_or(0);
  });
}

// Decides for all: sets `refused` of each charge, and what is granted of the common cost.
bool MemoryStore::Grant(Entries& entries, uint64_t* granted) {
  bool allowed = true;
  size_t quotas = 0, quotas_used_up = 0;
  *granted = UINT64_MAX;
  for (Entry& entry : entries) {
    Entry& first = entries[entry.same];
    Charge& charge = *entry.charge;
    const bool flexible = charge.least < charge.cost;
    // Sharers of a state that want the same take the same; others need room for their sum.
    const uint64_t room = flexible ? first.room / first.sharers : first.room;
    const uint64_t need = flexible ? charge.least : first.cost;
    charge.refused = first.overdrawn || room < need;
    charge.taken = 0;
    if (charge.shadow) continue;
    if (charge.quota) {
      quotas += 1;
      quotas_used_up += charge.refused ? 1 : 0;
      if (charge.refused) continue;
    }
    allowed = allowed && !charge.refused;
    *granted = std::min({*granted, charge.cost, flexible ? room : charge.cost});
  }
  if (*granted == UINT64_MAX && !entries.empty()) *granted = entries[0].charge->cost;
  return allowed && (quotas == 0 || quotas_used_up < quotas);
}

void MemoryStore::Take(Entry& entry, uint64_t n, Instant now) {
  With(*entry.slot, entry.cell, [&](const auto& algorithm, auto& state) {
    HeapMeter meter(table_, state);
    TakeFrom(algorithm, state, *entry.charge, n, now);
  });
}

void MemoryStore::TakeAll(Entries& entries, uint64_t granted, Instant now) {
  for (Entry& entry : entries) {
    Charge& charge = *entry.charge;
    if (charge.refused) continue;  // in shadow, or one quota of several
    const bool flexible = charge.least < charge.cost;
    charge.taken = flexible ? std::min(granted, charge.cost) : charge.cost;
    Entry& first = entries[entry.same];
    if (flexible && charge.shadow) charge.taken = std::min(charge.taken, first.room);
    if (charge.taken == 0 && charge.receipt == nullptr) continue;
    first.room -= charge.taken;
    first.fresh = first.fresh && charge.taken == 0;
    Take(entry, charge.taken, now);
  }
}

Instant MemoryStore::When(const Entry& entry, Instant from) {
  return With(*entry.slot, entry.cell, [&](const auto& algorithm, auto& state) {
    return algorithm.When(state.state(), entry.least, from);
  });
}

void MemoryStore::Refuse(Entry& entry, Instant now, bool keep) {
  With(*entry.slot, entry.cell, [&](const auto& algorithm, auto& state) {
    if constexpr (std::is_same_v<AlgorithmOf<decltype(algorithm)>, SlidingLog>) {
      if (keep && algorithm.keep_rejected) {
        HeapMeter meter(table_, state);
        KeepRejected(algorithm, state, *entry.charge, entry.cost, now);
        entry.fresh = false;
        entry.room = algorithm.Room(state.state(), now).value_or(0);
      }
    }
    entry.charge->wait = Wait(now, algorithm.When(state.state(), entry.least, now));
  });
}

// The first instant at which all admit their least. Tiers may lose room as time passes, so it is
// not simply the latest of the instants of each.
Duration MemoryStore::RefuseAll(Entries& entries, Instant now, bool take) {
  for (Entry& entry : entries) {
    if (!entry.charge->refused) continue;
    Entry& first = entries[entry.same];
    if (&first == &entry) {
      Refuse(entry, now, take);
    } else {
      entry.charge->wait = first.charge->wait;
    }
  }
  constexpr int kRounds = 1000;
  Instant at = now;
  for (int round = 0; round < kRounds; ++round) {
    Instant latest = at;
    for (const Entry& entry : entries) {
      if (entry.charge->shadow || entries[entry.same].charge != entry.charge) continue;
      latest = std::max(latest, When(entry, at));
      if (latest == kEndOfTime) return kNever;
    }
    if (latest == at) break;
    at = latest;
  }
  return Wait(now, at);
}

void MemoryStore::Show(Entry& entry, uint64_t remaining, Instant now) {
  entry.charge->remaining = remaining;
  With(*entry.slot, entry.cell, [&](const auto& algorithm, auto& state) {
    ShowState(algorithm, state, *entry.charge, now);
  });
}

Admitted MemoryStore::RunMany(std::span<Charge> charges, Instant now, bool take) {
  for (const Charge& charge : charges) table_.Prefetch(charge.key);
  KeyTable::Held held;
  Entries entries;
  Admitted admitted;
  admitted.error = OpenAll(charges, take, now, held, entries);
  if (admitted.error != Code::kOk) return admitted;

  for (size_t i = 0; i < entries.size(); ++i) {
    Entry& entry = entries[i];
    Entry& first = entries[entry.same];
    if (entry.same == i) {
      Ask(entry, now);
    } else {
      first.sharers += 1;
    }
    first.cost = SaturatingAdd(first.cost, entry.charge->cost);
    first.least = SaturatingAdd(first.least, entry.charge->least);
  }
  admitted.allowed = Grant(entries, &admitted.granted);
  if (!admitted.allowed) {
    admitted.granted = 0;
    admitted.retry_after = RefuseAll(entries, now, take);
  } else {
    for (Entry& entry : entries) {
      if (entry.charge->refused) Refuse(entry, now, take);
    }
    if (take) TakeAll(entries, admitted.granted, now);
  }
  for (Entry& entry : entries) Show(entry, entries[entry.same].room, now);
  for (Entry& entry : entries) {
    if (!entry.fresh) continue;
    Drop(entry.cell);
    table_.Erase(entry.charge->key, entry.cell);
  }
  return admitted;
}

void MemoryStore::SweepSome(size_t shards, Instant now) {
  const std::unique_lock lock(sweep_mutex_, std::try_to_lock);
  if (!lock) return;
  for (size_t i = 0; i < shards; ++i) {
    if (next_to_sweep_ == 0) limits_.BeginSweep();
    table_.Sweep(next_to_sweep_, now);
    next_to_sweep_ = (next_to_sweep_ + 1) % KeyTable::kShards;
    if (next_to_sweep_ == 0) limits_.EndSweep();
  }
}

// ---- What the table asks ----

bool MemoryStore::Expired(Cell cell, Instant now) {
  return With(limits_[cell.limit()], cell, [&](const auto& algorithm, auto& state) {
    return algorithm.Reset(state.state(), now) <= now;
  });
}

Worth MemoryStore::Weigh(Cell cell, Instant now) {
  const LimitSlot& slot = limits_[cell.limit()];
  return With(slot, cell, [&](const auto& algorithm, auto& state) {
    using A = AlgorithmOf<decltype(algorithm)>;
    using Guard = Worth::Guard;
    // Only held copies are never forgotten.
    const Guard guard = std::is_same_v<A, Copies> ? Guard::kAlways
                        : slot.traits.guarded()   ? Guard::kFromOthers
                                                  : Guard::kNone;
    const int64_t heap = std::min<int64_t>(HeapBytes(state.box()), UINT32_MAX / 2);
    return Worth{.owner = slot.owner,
                 .fill = algorithm.Fill(state.state(), now),
                 .bytes = static_cast<uint32_t>(heap),
                 .guard = guard};
  });
}

void MemoryStore::ForEachOutside(const std::function<void(uint32_t, uint64_t)>& visit) {
  const uint32_t bound = std::min(limits_.owner_bound(), kLedger);
  for (uint32_t owner = 0; owner < bound; ++owner) {
    const int64_t bytes = outside_[owner].load(std::memory_order_relaxed);
    if (bytes > 0) visit(owner, static_cast<uint64_t>(bytes));
  }
}

void MemoryStore::Drop(Cell cell) {
  if (!cell.boxed()) return;
  With(limits_[cell.limit()], cell, [&](const auto&, auto& state) {
    table_.AddHeapBytes(-HeapBytes(state.box()));
    delete state.box();
  });
}

void MemoryStore::Met(Cell cell, Instant now) {
  const LimitSlot* slot = Latest(&limits_[cell.limit()]);
  const LimitSlot* const refuge = slot->refuge.load(std::memory_order_acquire);
  if (refuge != nullptr) slot = refuge;
  if (slot->number != cell.limit()) BringTo(*slot, cell, now);
  slot->seen.store(true, std::memory_order_relaxed);
}

// From change to change, each at its instant; a state found under newer numbers than asked for (by
// a thread that has not seen the change yet) is converted as of now.
void MemoryStore::BringTo(const LimitSlot& slot, Cell cell, Instant now) {
  while (cell.limit() != slot.number) {
    const LimitSlot& old = limits_[cell.limit()];
    const LimitSlot* successor = old.successor.load(std::memory_order_acquire);
    if (slot.traits.carried) {
      Convert(old, slot, cell, now);
    } else if (successor != nullptr && (successor == &slot || old.until <= slot.since)) {
      Convert(old, *successor, cell, old.until);
    } else {
      Convert(old, slot, cell, old.since > slot.since ? now : slot.since);
    }
  }
}

}  // namespace weir
