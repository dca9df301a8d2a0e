// Limits that requests bring with them (CL.THROTTLE, a descriptor's own limit): numbers -> a slot of
// the store.
//
// Requests carry few different sets of numbers, each many times. A set is given a slot when it comes
// first and loses it when nobody has brought it for ten minutes; there are at most kMost. Threads
// remember the sets that they used last, so that the way of a plain request takes no lock.
//
// A slot that was given up is not used anew before a whole sweep of the store (LimitTable), so that
// a thread that found it just before has long done with it.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>

#include <absl/container/flat_hash_map.h>

#include "store/limit_table.h"

namespace weir {

class CarriedLimits {
 public:
  static constexpr size_t kMost = size_t{1} << 16;

  explicit CarriedLimits(LimitTable& table);

  // The numbers of a bucket, of a fixed window from the epoch (burst 0), or of a pool of copies.
  struct Numbers {
    uint64_t limit = 0;
    int64_t per = 0;  // nanoseconds
    uint64_t burst = 0;
    bool copies = false;
    bool operator==(const Numbers&) const = default;
    template <typename H>
    friend H AbslHashValue(H h, const Numbers& n) {
      return H::combine(std::move(h), n.limit, n.per, n.burst, n.copies);
    }
  };
  static Limit LimitOf(const Numbers& numbers);

  // Null if there are too many different ones. The numbers were found right (Check).
  const LimitSlot* SlotFor(const Numbers& numbers, Instant now);
  // Gives up those that nobody has brought for long.
  void Tick(Instant now);

  size_t size() const;

 private:
  struct Known {
    const LimitSlot* slot;
    std::atomic<int64_t> last_used;  // nanoseconds, to the minute
  };

  std::shared_ptr<Known> Find(const Numbers& numbers, Instant now);

  const uint64_t id_;  // of this object, for the threads' memory
  LimitTable& table_;
  std::atomic<uint64_t> version_{1};  // changes when something is given up

  mutable std::mutex mutex_;
  // Guarded by mutex_.
  absl::flat_hash_map<Numbers, std::shared_ptr<Known>> known_;
  Instant looked_{};
};

}  // namespace weir
