// For which pools somebody may wait: known without a lock.
//
// A number for each of some thousand classes of pools. Zero means that nobody waits for a pool of the class,
// nor is about to; more, that somebody may: then the waiting room knows (wait_room.h).
//
// No return of copies goes unseen. Who may have to wait counts himself here first and then tries; who returns
// copies returns them first and then looks here, by writing what is there:
//
//     waits     Add(pool)      try to take
//     returns   return copies  HasForReturned(pool)?
//
// Both write the same number, so one comes after the other and sees what the other did before: either who
// returns sees that somebody waits, or who waits finds the copies.
#pragma once

#include <array>
#include <atomic>
#include <span>

#include "base/keyed_hash.h"

namespace weir {

class PoolFilter {
 public:
  bool Has(std::span<const Key> pools) const {
    for (const Key& pool : pools) {
      if (ClassOf(pool).load() > 0) return true;
    }
    return false;
  }
  // For whoever has returned copies to them.
  bool HasForReturned(std::span<const Key> pools) {
    for (const Key& pool : pools) {
      if (ClassOf(pool).fetch_add(0) > 0) return true;
    }
    return false;
  }
  void Add(std::span<const Key> pools) {
    for (const Key& pool : pools) ClassOf(pool).fetch_add(1);
  }
  void Remove(std::span<const Key> pools) {
    for (const Key& pool : pools) ClassOf(pool).fetch_sub(1);
  }

 private:
  static constexpr size_t kClasses = 4096;
  std::atomic<uint32_t>& ClassOf(const Key& pool) { return classes_[pool.low % kClasses]; }
  const std::atomic<uint32_t>& ClassOf(const Key& pool) const {
    return classes_[pool.low % kClasses];
  }

  std::array<std::atomic<uint32_t>, kClasses> classes_{};
};

}  // namespace weir
