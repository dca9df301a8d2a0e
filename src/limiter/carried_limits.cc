#include "limiter/carried_limits.h"

#include <absl/hash/hash.h>

namespace weir {
namespace {

constexpr Duration kMinute = std::chrono::minutes(1);
constexpr Duration kUnusedFor = std::chrono::minutes(10);

std::atomic<uint64_t> next_table_id{1};

}  // namespace

CarriedLimits::CarriedLimits(LimitTable& table) : id_(next_table_id.fetch_add(1)), table_(table) {}

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
    seen = {id_, version, numbers, Find(numbers, now)};
  }
  if (seen.known == nullptr) {
    seen.id = 0;  // ask again next time
    return nullptr;
  }
  std::atomic<int64_t>& last_used = seen.known->last_used;
  if (ToNanos(now) - last_used.load(std::memory_order_relaxed) > kMinute.count()) {
    last_used.store(ToNanos(now), std::memory_order_relaxed);
  }
  return seen.known->slot;
}

std::shared_ptr<CarriedLimits::Known> CarriedLimits::Find(const Numbers& numbers, Instant now) {
  const std::lock_guard lock(mutex_);
  const auto found = known_.find(numbers);
  if (found != known_.end()) return found->second;
  if (known_.size() >= kMost) return nullptr;
  const LimitSlot* slot = table_.Add(LimitOf(numbers), SlotTraits{.carried = true}, now);
  if (slot == nullptr) return nullptr;
  auto known = std::make_shared<Known>();
  known->slot = slot;
  known->last_used.store(ToNanos(now));
  known_.emplace(numbers, known);
  return known;
}

void CarriedLimits::Tick(Instant now) {
  const std::lock_guard lock(mutex_);
  if (now - looked_ < kMinute) return;
  looked_ = now;
  const size_t before = known_.size();
  absl::erase_if(known_, [&](const auto& entry) {
    const Known& known = *entry.second;
    if (ToNanos(now) - known.last_used.load() <= kUnusedFor.count()) return false;
    table_.Retire(known.slot);
    return true;
  });
  if (known_.size() != before) version_.fetch_add(1, std::memory_order_release);
}

size_t CarriedLimits::size() const {
  const std::lock_guard lock(mutex_);
  return known_.size();
}

}  // namespace weir
