// What has business value survives a restart.
#include "limiter/limiter_impl.h"

namespace weir {

std::vector<SavedState> Limiter::Impl::TakeChanged(Instant told) {
  const Instant now = time_.Of(told);
  std::vector<SavedState> changed;
  std::vector<SavedCell> cells = store_.TakeChanged(now);
  const std::lock_guard lock(install_mutex_);
  for (SavedCell& cell : cells) {
    const SlotNames::Persistent* limit =
        cell.slot == nullptr ? nullptr : names_.FindPersistent(*cell.slot);
    if (cell.slot != nullptr && limit == nullptr) continue;  // its rule has gone, and may come back
    SavedState& one = changed.emplace_back();
    one.key_high = cell.key.high;
    one.key_low = cell.key.low;
    if (limit == nullptr) {
      one.gone = true;
      continue;
    }
    one.limit = limit->name;
    one.numbers = limit->numbers;
    one.state = std::move(cell.bytes);
    one.use = cell.use;
  }
  return changed;
}

size_t Limiter::Impl::Restore(std::span<const SavedState> saved, Instant told) {
  const Instant now = time_.Of(told);
  const std::lock_guard lock(install_mutex_);
  size_t restored = 0;
  for (const SavedState& one : saved) {
    const SlotNames::Persistent* limit = names_.FindPersistent(one.limit);
    if (limit == nullptr) continue;
    SavedCell cell{.key = {one.key_high, one.key_low}, .slot = limit->slot, .use = one.use};
    if (one.numbers == limit->numbers) cell.bytes = one.state;
    restored += store_.Restore(cell, now) ? 1 : 0;
  }
  return restored;
}

void Limiter::Impl::LookAgain(std::span<const SavedState> saved) {
  for (const SavedState& one : saved) store_.MarkChanged({one.key_high, one.key_low});
}

std::vector<std::string> Limiter::Impl::PersistentLimits() {
  const std::lock_guard lock(install_mutex_);
  return names_.PersistentNames();
}

}  // namespace weir
