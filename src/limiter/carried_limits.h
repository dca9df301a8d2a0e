// Limits that requests bring with them (CL.THROTTLE, a descriptor's own limit): numbers -> a slot of
// the store.
//
// Requests carry few different sets of numbers, each many times. A set is given a slot when it comes
// first and loses it when nobody has brought it for ten minutes, or when there are too many and it is
// among those that were brought least recently. Threads remember the sets that they used last, so that
// the way of a plain request takes no lock.
//
// States outlive their set: a sweep brings them to a refuge, a limit of the same kind and about the same
// size that stands for many sets (for a bucket: a nanosecond is a token), from where they come back when
// the numbers do. So a slot that was given up is free after a sweep, however long its states live. When
// new sets come faster than sweeps, whoever brings one sweeps a little himself.
//
// A slot that was given up is not used anew before a whole sweep of the store (LimitTable), so that
// a thread that found it just before has long done with it.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>

#include <absl/container/flat_hash_map.h>

#include "store/memory_store.h"

namespace weir {

class CarriedLimits {
 public:
  static constexpr size_t kMost = size_t{1} << 16;

  // At most kMost sets, or as many as fit into a sixteenth of the memory.
  CarriedLimits(MemoryStore& store, uint64_t memory_bytes);

  // The numbers of a bucket, of a fixed window from the epoch (burst 0), or of a pool of copies.
  struct Numbers {
    uint64_t limit = 0;
    int64_t per = 0;  // nanoseconds
    uint64_t burst = 0;
    bool copies = false;
    bool remote = false;                           // another store decides them
    Replication replication = Replication::kNone;  // by which nodes count them together
    bool operator==(const Numbers&) const = default;
    template <typename H>
    friend H AbslHashValue(H h, const Numbers& n) {
      return H::combine(std::move(h), n.limit, n.per, n.burst, n.copies, n.remote, n.replication);
    }
  };
  static Limit LimitOf(const Numbers& numbers);

  // Null if all slots of the store are in use. The numbers were found right (Check).
  const LimitSlot* SlotFor(const Numbers& numbers, Instant now);
  // Gives up those that nobody has brought for long.
  void Tick(Instant now);

  size_t size() const;

 private:
  struct Known {
    const LimitSlot* slot;
    std::atomic<int64_t> last_used;  // nanoseconds, to the second
  };

  std::shared_ptr<Known> Find(const Numbers& numbers, Instant now, bool& short_of_slots);
  static Numbers RefugeOf(const Numbers& numbers);
  void GiveUp(const Numbers& numbers, const Known& known, Instant now);
  void GiveUpOldest(Instant now);
  void CountSlots();

  const uint64_t id_;  // of this object, for the threads' memory
  MemoryStore& store_;
  LimitTable& table_;
  const size_t most_;
  std::atomic<uint64_t> version_{1};  // changes when something is given up

  mutable std::mutex mutex_;
  // Guarded by mutex_.
  absl::flat_hash_map<Numbers, std::shared_ptr<Known>> known_;
  absl::flat_hash_map<Numbers, const LimitSlot*> refuges_;  // a few hundred at most
  uint64_t added_ = 0;
  size_t most_slots_ = 0;  // that were ever in use: the table keeps their memory
  Instant looked_{};
};

}  // namespace weir
