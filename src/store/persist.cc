// States on their way to a disk and back.
#include "algorithms/state_codec.h"
#include "store/cell_access.h"
#include "store/conversion.h"
#include "store/memory_store.h"

namespace weir {

std::vector<SavedCell> MemoryStore::TakeChanged(Instant now) {
  std::vector<SavedCell> saved;
  for (const Key& key : changed_.TakeAll()) {
    KeyTable::Held held;
    Cell cell;
    SavedCell& one = saved.emplace_back();
    one.key = key;
    if (table_.Open(key, false, 0, now, held, &cell) != KeyTable::Found::kHere) continue;
    const LimitSlot* slot = Latest(&limits_[cell.limit()]);
    BringTo(*slot, cell, now);
    if (Expired(cell, now)) continue;
    one.slot = slot;
    With(*slot, cell, [&](const auto& algorithm, auto& state) {
      ByteWriter out;
      Encode(algorithm, state.state(), out);
      one.bytes = out.Take();
      if constexpr (!std::is_same_v<std::decay_t<decltype(algorithm)>, Copies>) {
        one.use = algorithm.Use(state.state(), now);
      }
    });
  }
  return saved;
}

bool MemoryStore::Restore(const SavedCell& saved, Instant now) {
  if (Coordinated(*saved.slot)) return false;  // the others know, and would tell it once more
  KeyTable::Held held;
  Cell cell;
  KeyTable::Found found;
  while ((found = table_.Open(saved.key, true, saved.slot->number, now, held, &cell)) ==
         KeyTable::Found::kNoRoom) {
    held.Release(0);
    if (!table_.MakeRoom(saved.key, NewcomerOf(*saved.slot), now, held.without_room)) return false;
  }
  if (found != KeyTable::Found::kFresh) return false;  // somebody was here first
  bool good = true;
  With(*saved.slot, cell, [&](const auto& algorithm, auto& state) {
    using A = std::decay_t<decltype(algorithm)>;
    HeapMeter meter(table_, state);
    typename A::State loaded;
    if (!saved.bytes.empty()) {
      ByteReader in(saved.bytes);
      good = Decode(algorithm, in, now, loaded);
      // What was owed when it was written is the most that can be owed: whatever the clock was then,
      // nobody waits longer than it takes to refill that.
      if constexpr (std::is_same_v<A, TokenBucket>) {
        loaded.full_at = std::min(loaded.full_at, algorithm.Start(saved.use, now).full_at);
      }
    } else if constexpr (!std::is_same_v<A, Copies>) {
      loaded = algorithm.Start(saved.use, now);
    }
    if (good) state.state() = std::move(loaded);
    state.Save();
  });
  Charge charge(saved.key, saved.slot, 0, 0);
  Opened entry{.charge = &charge, .slot = saved.slot, .cell = cell};
  EraseIfUnused(entry, now);
  return good;
}

}  // namespace weir
