#include "store/limit_table.h"

namespace weir {

LimitTable::~LimitTable() {
  for (auto& chunk : chunks_) delete chunk.load();
}

const LimitSlot* LimitTable::Add(const Limit& limit, SlotTraits traits, Instant now) {
  const std::lock_guard lock(mutex_);
  uint32_t number = 0;
  if (!free_.empty()) {
    number = free_.back();
    free_.pop_back();
  } else if (next_ <= kMost) {
    number = next_++;
    auto& chunk = chunks_[number / kChunk];
    if (chunk.load() == nullptr) chunk.store(new Chunk, std::memory_order_release);
  } else {
    return nullptr;
  }
  LimitSlot& slot = Mutable(number);
  slot.number = number;
  slot.serial = next_serial_++;
  slot.limit = limit;
  slot.traits = traits;
  slot.since = now;
  slot.successor.store(nullptr);
  slot.retired = slot.was_retired_before_sweep = false;
  if (const auto* bucket = std::get_if<TokenBucket>(&limit)) {
    slot.base_ticks = bucket->Ticks(epoch_);
  } else if (const auto* window = std::get_if<FixedWindow>(&limit)) {
    slot.base_window = window->WindowOf(epoch_);
  }
  return &slot;
}

void LimitTable::Replace(const LimitSlot* old, uint64_t serial, const LimitSlot* next,
                         Instant now) {
  const std::lock_guard lock(mutex_);
  LimitSlot& slot = Mutable(old->number);
  if (slot.serial != serial) return;
  slot.until = now;
  slot.retired = true;
  slot.successor.store(next, std::memory_order_release);
}

void LimitTable::Retire(const LimitSlot* old) {
  const std::lock_guard lock(mutex_);
  Mutable(old->number).retired = true;
}

void LimitTable::BeginSweep() {
  const std::lock_guard lock(mutex_);
  for (uint32_t number = 1; number < next_; ++number) {
    LimitSlot& slot = Mutable(number);
    slot.was_retired_before_sweep = slot.retired;
    if (slot.retired) slot.seen.store(false, std::memory_order_relaxed);
  }
}

// A slot may go once no state and no open ticket names it and no other slot leads to it.
void LimitTable::EndSweep() {
  const std::lock_guard lock(mutex_);
  for (uint32_t number = 1; number < next_; ++number) {
    const LimitSlot* successor = Mutable(number).successor.load(std::memory_order_relaxed);
    if (successor != nullptr) successor->seen.store(true, std::memory_order_relaxed);
  }
  for (uint32_t number = 1; number < next_; ++number) {
    LimitSlot& slot = Mutable(number);
    if (!slot.was_retired_before_sweep || slot.seen.load(std::memory_order_relaxed)) continue;
    if (slot.tickets.load() != 0) continue;
    slot.limit = Limit{};
    slot.serial = 0;
    slot.retired = slot.was_retired_before_sweep = false;
    slot.successor.store(nullptr, std::memory_order_relaxed);
    free_.push_back(number);
  }
}

size_t LimitTable::in_use() const {
  const std::lock_guard lock(mutex_);
  return next_ - 1 - free_.size();
}

}  // namespace weir
