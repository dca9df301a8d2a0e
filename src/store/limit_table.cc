#include "store/limit_table.h"

namespace weir {

LimitTable::~LimitTable() {
  for (auto& chunk : chunks_) delete chunk.load();
}

uint32_t LimitTable::NumberOf(std::string_view owner) {
  if (owner.empty()) return 0;
  const auto known = numbers_.find(std::string(owner));
  if (known != numbers_.end()) return known->second;
  uint32_t number = 1;
  while (number < owners_.size() && owners_[number].slots > 0) ++number;
  if (number == owners_.size()) owners_.emplace_back();
  owners_[number].name = owner;
  numbers_.emplace(owner, number);
  owners_in_use_.store(static_cast<uint32_t>(numbers_.size()) + 1);
  owner_bound_.store(static_cast<uint32_t>(owners_.size()));
  return number;
}

void LimitTable::LeaveOwner(uint32_t number) {
  Owner& owner = owners_[number];
  if (number == 0) carried_in_use_.fetch_sub(1, std::memory_order_relaxed);
  if (--owner.slots > 0 || number == 0) return;
  numbers_.erase(owner.name);
  owner.name.clear();
  owners_in_use_.store(static_cast<uint32_t>(numbers_.size()) + 1);
}

uint32_t LimitTable::OwnerOf(std::string_view name) const {
  const std::lock_guard lock(mutex_);
  const auto known = numbers_.find(std::string(name));
  return known == numbers_.end() ? 0 : known->second;
}

const LimitSlot* LimitTable::Add(const Limit& limit, SlotTraits traits, Instant now,
                                 std::string_view owner) {
  const std::lock_guard lock(mutex_);
  uint32_t number = 0;
  if (!free_.empty()) {
    number = free_.back();
    free_.pop_back();
  } else if (next_ <= most_) {
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
  slot.owner = NumberOf(owner);
  owners_[slot.owner].slots += 1;
  if (slot.owner == 0) carried_in_use_.fetch_add(1, std::memory_order_relaxed);
  slot.since = now;
  slot.successor.store(nullptr);
  slot.refuge.store(nullptr);
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

void LimitTable::GiveUp(const LimitSlot* old, const LimitSlot* refuge) {
  const std::lock_guard lock(mutex_);
  Mutable(old->number).retired = true;
  Mutable(old->number).refuge.store(refuge, std::memory_order_release);
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
    LeaveOwner(slot.owner);
    slot.limit = Limit{};
    slot.serial = 0;
    slot.retired = slot.was_retired_before_sweep = false;
    slot.successor.store(nullptr, std::memory_order_relaxed);
    slot.refuge.store(nullptr, std::memory_order_relaxed);
    free_.push_back(number);
  }
}

bool LimitTable::IsInUse(const LimitSlot* slot, uint64_t serial) const {
  const std::lock_guard lock(mutex_);
  return slot->serial == serial;
}

size_t LimitTable::in_use() const {
  const std::lock_guard lock(mutex_);
  return next_ - 1 - free_.size();
}

}  // namespace weir
