// What is counted of the decisions on one resource.
//
// Counting is on the way of every request: threads add to slots of their own, mostly. Once a second
// somebody takes the sums (Sample) and writes the past from their differences.
#pragma once

#include <array>
#include <atomic>
#include <mutex>
#include <string>

#include "limiter/heavy_hitters.h"
#include "limiter/series.h"
#include "weir/statistics.h"

namespace weir {

class SharedCounts {
 public:
  void Add(bool allowed, uint64_t cost) {
    Slot& slot = slots_[ThreadNumber() % slots_.size()];
    if (allowed) {
      slot.admitted.fetch_add(1, std::memory_order_relaxed);
      slot.cost.fetch_add(cost, std::memory_order_relaxed);
    } else {
      slot.refused.fetch_add(1, std::memory_order_relaxed);
    }
  }
  Counts Sum() const {
    Counts sum;
    for (const Slot& slot : slots_) {
      sum +=
          {slot.admitted.load(std::memory_order_relaxed),
           slot.refused.load(std::memory_order_relaxed), slot.cost.load(std::memory_order_relaxed)};
    }
    return sum;
  }

 private:
  struct alignas(64) Slot {
    std::atomic<uint64_t> admitted{0}, refused{0}, cost{0};
  };
  static size_t ThreadNumber() {
    static std::atomic<size_t> next{0};
    thread_local const size_t number = next.fetch_add(1, std::memory_order_relaxed);
    return number;
  }
  std::array<Slot, 4> slots_;
};

// One limit, of a resource or of a descriptor rule.
struct LimitTally {
  explicit LimitTally(std::string the_name) : name(std::move(the_name)) {}
  const std::string name;
  std::atomic<uint64_t> ok{0};  // descriptors only
  std::atomic<uint64_t> refused{0}, would_refuse{0};
};

struct Tally {
  HeavyHitters busiest;
  HeavyHitters refused;
  SharedCounts counts;

  // What was counted since the last call belongs to `second`.
  void Sample(int64_t second);
  History Past(int64_t last_second) const;

 private:
  mutable std::mutex mutex_;
  Counts sampled_;         // guarded by mutex_
  Series<Counts> series_;  // guarded by mutex_
};

}  // namespace weir
