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
    const size_t thread = ThreadNumber();
    const bool own = thread < slots_.size() - 1;
    Slot& slot = slots_[own ? thread : slots_.size() - 1];
    if (allowed) {
      More(slot.admitted, 1, own);
      More(slot.cost, cost, own);
    } else {
      More(slot.refused, 1, own);
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
  using Number = std::atomic<uint64_t>;
  struct alignas(64) Slot {
    Number admitted{0}, refused{0}, cost{0};
  };
  // A slot with one writer needs no lock prefix.
  static void More(Number& number, uint64_t n, bool own) {
    if (own) {
      number.store(number.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
    } else {
      number.fetch_add(n, std::memory_order_relaxed);
    }
  }
  static size_t ThreadNumber() {
    static std::atomic<size_t> next{0};
    thread_local const size_t number = next.fetch_add(1, std::memory_order_relaxed);
    return number;
  }
  std::array<Slot, 16> slots_;  // one for each of the first threads, the last for all others
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
  HeavyHitters would_refuse;  // by a limit in shadow
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
