#include "limiter/carried_limits.h"

#include <algorithm>
#include <vector>

#include <absl/hash/hash.h>

namespace weir {
namespace {

constexpr Duration kMinute = std::chrono::minutes(1);
constexpr Duration kSecond = std::chrono::seconds(1);
constexpr size_t kBytesOfSet = sizeof(LimitSlot) + 160;  // with what is known of it
constexpr uint64_t kSweepEvery = 32;                     // sets, when slots are short
constexpr Duration kUnusedFor = std::chrono::minutes(10);

std::atomic<uint64_t> next_table_id{1};

}  // namespace

CarriedLimits::CarriedLimits(MemoryStore& store, uint64_t memory_bytes)
    : id_(next_table_id.fetch_add(1)),
      store_(store),
      table_(store.limits()),
      most_(std::clamp<size_t>(memory_bytes / 16 / kBytesOfSet, 256, kMost)) {}

Limit CarriedLimits::LimitOf(const Numbers& numbers) {
  if (numbers.copies) return Copies{numbers.limit};
  if (numbers.burst != 0) return TokenBucket(numbers.limit, Duration(numbers.per), numbers.burst);
  FixedWindow window;
  window.limit = numbers.limit;
  window.per = Duration(numbers.per);
  return window;
}

const LimitSlot* CarriedLimits::SlotFor(const Numbers& numbers, Instant now) {
  struct Seen {
    uint64_t id = 0, version = 0;
    Numbers numbers;
    std::shared_ptr<Known> known;
  };
  thread_local std::array<Seen, 8> memory;
  Seen& seen = memory[(numbers.limit ^ numbers.burst ^ static_cast<uint64_t>(numbers.per) >> 9) &
                      (memory.size() - 1)];
  const uint64_t version = version_.load(std::memory_order_acquire);
  if (seen.id != id_ || seen.version != version || seen.numbers != numbers) [[unlikely]] {
    bool short_of_slots = false;
    seen = {id_, version, numbers, Find(numbers, now, short_of_slots)};
    if (short_of_slots) store_.SweepSome(1, now);
  }
  if (seen.known == nullptr) {
    seen.id = 0;  // ask again next time
    return nullptr;
  }
  std::atomic<int64_t>& last_used = seen.known->last_used;
  if (ToNanos(now) - last_used.load(std::memory_order_relaxed) > kSecond.count()) {
    last_used.store(ToNanos(now), std::memory_order_relaxed);
  }
  return seen.known->slot;
}

std::shared_ptr<CarriedLimits::Known> CarriedLimits::Find(const Numbers& numbers, Instant now,
                                                          bool& short_of_slots) {
  const std::lock_guard lock(mutex_);
  const auto found = known_.find(numbers);
  if (found != known_.end()) return found->second;
  if (known_.size() >= most_) GiveUpOldest(now);
  const LimitSlot* slot = table_.Add(
      LimitOf(numbers),
      SlotTraits{.remote = numbers.remote, .carried = true, .replication = numbers.replication},
      now);
  if (slot == nullptr) return nullptr;
  auto known = std::make_shared<Known>();
  known->slot = slot;
  known->last_used.store(ToNanos(now));
  known_.emplace(numbers, known);
  CountSlots();
  short_of_slots = ++added_ % kSweepEvery == 0 && table_.carried_in_use() > 2 * most_;
  return known;
}

// Only those who carry limits hold these.
void CarriedLimits::CountSlots() {
  const size_t slots = table_.carried_in_use();
  if (slots <= most_slots_) return;
  store_.AddOutside(0, static_cast<int64_t>((slots - most_slots_) * kBytesOfSet));
  most_slots_ = slots;
}

CarriedLimits::Numbers CarriedLimits::RefugeOf(const Numbers& numbers) {
  const auto at_least = [](uint128 n) {
    uint64_t power = 1;
    while (power < n && power < uint64_t{1} << 62) power *= 2;
    return power;
  };
  if (numbers.copies) return {.limit = uint64_t{1} << 53, .copies = true};
  if (numbers.burst == 0) return {.limit = at_least(numbers.limit), .per = numbers.per};
  // Full after as long, or up to twice as long.
  const uint128 refill =
      uint128{numbers.burst} * static_cast<uint64_t>(numbers.per) / numbers.limit;
  return {.limit = 1, .per = 1, .burst = at_least(refill + 1)};
}

void CarriedLimits::GiveUp(const Numbers& numbers, const Known& known, Instant now) {
  const LimitSlot*& refuge = refuges_[RefugeOf(numbers)];
  if (refuge == nullptr) {
    refuge = table_.Add(LimitOf(RefugeOf(numbers)), SlotTraits{.carried = true}, now);
  }
  if (refuge != nullptr) {
    table_.GiveUp(known.slot, refuge);
  } else {
    table_.Retire(known.slot);
  }
}

// A sixteenth at a time, so that it costs little for each set that comes.
void CarriedLimits::GiveUpOldest(Instant now) {
  std::vector<int64_t> used;
  used.reserve(known_.size());
  for (const auto& [numbers, known] : known_) used.push_back(known->last_used.load());
  const auto cut = used.begin() + static_cast<std::ptrdiff_t>(used.size() / 16);
  std::nth_element(used.begin(), cut, used.end());
  size_t left = used.size() / 16 + 1;
  absl::erase_if(known_, [&](const auto& entry) {
    if (left == 0 || entry.second->last_used.load() > *cut) return false;
    GiveUp(entry.first, *entry.second, now);
    left -= 1;
    return true;
  });
  version_.fetch_add(1, std::memory_order_release);
}

void CarriedLimits::Tick(Instant now) {
  const std::lock_guard lock(mutex_);
  if (now - looked_ < kMinute) return;
  looked_ = now;
  const size_t before = known_.size();
  absl::erase_if(known_, [&](const auto& entry) {
    if (ToNanos(now) - entry.second->last_used.load() <= kUnusedFor.count()) return false;
    GiveUp(entry.first, *entry.second, now);
    return true;
  });
  if (known_.size() != before) version_.fetch_add(1, std::memory_order_release);
}

size_t CarriedLimits::size() const {
  const std::lock_guard lock(mutex_);
  return known_.size();
}

}  // namespace weir
