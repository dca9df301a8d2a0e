// The limits that states belong to, by number.
//
// A cell of the key table names its limit by a slot number. A limit whose numbers change gets a new
// slot and the old one points to it: a state that is found under an old slot is brought to the
// instant of the change under the old numbers and converted (conversion.h). A slot is freed once a
// whole sweep of the key table has met no state of it.
//
// A limit has an owner, whose its states are when memory is shared out (forgetting.h): its namespace, or
// number 0 for limits that requests carry.
//
// Slots do not move and are read without a lock. Adding, replacing and freeing are rare, and take
// the table's mutex.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <absl/container/flat_hash_map.h>

#include "algorithms/limit.h"
#include "base/on_failure.h"
#include "store/coordinator.h"

namespace weir {

// What else is to be known of a limit.
struct SlotTraits {
  // When what decides it is away; where that is this process's memory: when it is full.
  OnFailure on_failure = OnFailure::kAllow;
  bool remote = false;   // not this process's memory decides it (router.h)
  bool carried = false;  // by requests: one state may be asked for under several of these
  bool persist = false;  // its states are kept over a restart
  Replication replication = Replication::kNone;
  // A newcomer is turned away when memory is full.
  bool deny_when_full() const { return on_failure == OnFailure::kDeny; }
  // Its states are never forgotten for the newcomers of another owner.
  bool guarded() const { return deny_when_full() || persist; }
  // Something has to be done when a state has changed.
  bool noted() const { return persist || replication != Replication::kNone; }
  bool operator==(const SlotTraits&) const = default;
};

struct LimitSlot {
  // Constant while in use.
  uint32_t number = 0;  // > 0
  uint64_t serial = 0;  // never the same for two limits, though their numbers may be
  Limit limit;
  SlotTraits traits;
  uint32_t owner = 0;       // whose its states are: the number of a namespace; 0: carried limits
  Instant since{};          // when it came into force
  uint128 base_ticks = 0;   // token bucket: of the store's epoch
  int64_t base_window = 0;  // fixed window: of the store's epoch

  // Set once, when the limit is replaced or removed.
  std::atomic<const LimitSlot*> successor{nullptr};
  Instant until{};  // valid once successor is set

  // Set once, when a carried limit is given up: a sweep brings its states there. Whoever still asks
  // under the old numbers is decided under them.
  std::atomic<const LimitSlot*> refuge{nullptr};

  // What keeps it in use: open tickets, and states that a sweep has met.
  mutable std::atomic<uint32_t> tickets{0};
  mutable std::atomic<bool> seen{false};
  // Guarded by the table's mutex.
  bool retired = false;
  bool was_retired_before_sweep = false;
};

class LimitTable {
 public:
  static constexpr uint32_t kMost = (1u << 23) - 1;

  explicit LimitTable(Instant epoch, uint32_t most = kMost)
      : epoch_(epoch), most_(std::min(most, kMost)) {}
  ~LimitTable();

  // A new slot, or null when all are in use: whoever asks must then refuse, since a limit without a
  // slot cannot be counted. `owner`: the namespace; empty: carried by requests.
  const LimitSlot* Add(const Limit& limit, SlotTraits traits, Instant now,
                       std::string_view owner = {});
  const LimitSlot* Add(const Limit& limit, bool deny_when_full, Instant now) {
    const OnFailure on_failure = deny_when_full ? OnFailure::kDeny : OnFailure::kAllow;
    return Add(limit, SlotTraits{.on_failure = on_failure}, now);
  }
  // States of `old` go on as states of `next` from `now` on. Nothing happens if the slot has been
  // freed since it had `serial`.
  void Replace(const LimitSlot* old, uint64_t serial, const LimitSlot* next, Instant now);
  // No new states come; those that exist expire by themselves.
  void Retire(const LimitSlot* old);
  // The same, and those that exist go to `refuge`, a carried limit that is never given up.
  void GiveUp(const LimitSlot* old, const LimitSlot* refuge);

  // How many owners there are that may have states, those who carry limits included; all their
  // numbers are below owner_bound().
  uint32_t owners() const { return owners_in_use_.load(std::memory_order_relaxed); }
  uint32_t owner_bound() const { return owner_bound_.load(std::memory_order_relaxed); }
  // 0 if no namespace of this name has a limit.
  uint32_t OwnerOf(std::string_view name) const;

  const LimitSlot& operator[](uint32_t number) const {
    return chunks_[number / kChunk].load(std::memory_order_acquire)->at(number % kChunk);
  }

  // Around a full sweep of the states, in which every state's slot gets seen = true.
  void BeginSweep();
  void EndSweep();

  size_t in_use() const;
  // Whether the slot still is of the limit that had it under this serial.
  bool IsInUse(const LimitSlot* slot, uint64_t serial) const;
  // Of these, slots of carried limits; also those that were given up, until a sweep has freed them.
  size_t carried_in_use() const { return carried_in_use_.load(std::memory_order_relaxed); }

 private:
  static constexpr uint32_t kChunk = 1024;
  using Chunk = std::array<LimitSlot, kChunk>;

  LimitSlot& Mutable(uint32_t number) {
    return chunks_[number / kChunk].load(std::memory_order_relaxed)->at(number % kChunk);
  }

  const Instant epoch_;
  const uint32_t most_;
  std::array<std::atomic<Chunk*>, (kMost + 1) / kChunk> chunks_{};

  mutable std::mutex mutex_;
  uint64_t next_serial_ = 1;    // guarded by mutex_
  uint32_t next_ = 1;           // guarded by mutex_
  std::vector<uint32_t> free_;  // guarded by mutex_

  // The namespaces that have slots, by number; a number is used anew once no slot has it.
  struct Owner {
    std::string name;
    uint32_t slots = 0;
  };
  uint32_t NumberOf(std::string_view owner);
  void LeaveOwner(uint32_t number);
  std::vector<Owner> owners_{1};                        // guarded by mutex_
  absl::flat_hash_map<std::string, uint32_t> numbers_;  // guarded by mutex_
  std::atomic<size_t> carried_in_use_{0};
  std::atomic<uint32_t> owners_in_use_{1};
  std::atomic<uint32_t> owner_bound_{1};
};

}  // namespace weir
