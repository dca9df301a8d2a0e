// The limits that states belong to, by number.
//
// A cell of the key table names its limit by a slot number. A limit whose numbers change gets a new
// slot and the old one points to it: a state that is found under an old slot is brought to the
// instant of the change under the old numbers and converted (conversion.h). A slot is freed once a
// whole sweep of the key table has met no state of it.
//
// Slots do not move and are read without a lock. Adding, replacing and freeing are rare, and take
// the table's mutex.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "algorithms/limit.h"
#include "store/shared_use.h"

namespace weir {

// What else is to be known of a limit.
struct SlotTraits {
  bool deny_when_full = false;  // a newcomer is turned away when memory is full (on_failure: deny)
  bool carried = false;         // by requests: one state may be asked for under several of these
  bool persist = false;         // its states are kept over a restart
  Sharing sharing = Sharing::kNone;
  // Something has to be done when a state has changed.
  bool noted() const { return persist || sharing != Sharing::kNone; }
  bool operator==(const SlotTraits&) const = default;
};

struct LimitSlot {
  // Constant while in use.
  uint32_t number = 0;  // > 0
  uint64_t serial = 0;  // never the same for two limits, though their numbers may be
  Limit limit;
  SlotTraits traits;
  Instant since{};          // when it came into force
  uint128 base_ticks = 0;   // token bucket: of the store's epoch
  int64_t base_window = 0;  // fixed window: of the store's epoch

  // Set once, when the limit is replaced or removed.
  std::atomic<const LimitSlot*> successor{nullptr};
  Instant until{};  // valid once successor is set

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

  explicit LimitTable(Instant epoch) : epoch_(epoch) {}
  ~LimitTable();

  // A new slot, or null when all are in use.
  const LimitSlot* Add(const Limit& limit, SlotTraits traits, Instant now);
  const LimitSlot* Add(const Limit& limit, bool deny_when_full, Instant now) {
    return Add(limit, SlotTraits{.deny_when_full = deny_when_full}, now);
  }
  // States of `old` go on as states of `next` from `now` on. Nothing happens if the slot has been
  // freed since it had `serial`.
  void Replace(const LimitSlot* old, uint64_t serial, const LimitSlot* next, Instant now);
  // No new states come; those that exist expire by themselves.
  void Retire(const LimitSlot* old);

  const LimitSlot& operator[](uint32_t number) const {
    return chunks_[number / kChunk].load(std::memory_order_acquire)->at(number % kChunk);
  }

  // Around a full sweep of the states, in which every state's slot gets seen = true.
  void BeginSweep();
  void EndSweep();

  size_t in_use() const;

 private:
  static constexpr uint32_t kChunk = 1024;
  using Chunk = std::array<LimitSlot, kChunk>;

  LimitSlot& Mutable(uint32_t number) {
    return chunks_[number / kChunk].load(std::memory_order_relaxed)->at(number % kChunk);
  }

  const Instant epoch_;
  std::array<std::atomic<Chunk*>, (kMost + 1) / kChunk> chunks_{};

  mutable std::mutex mutex_;
  uint64_t next_serial_ = 1;    // guarded by mutex_
  uint32_t next_ = 1;           // guarded by mutex_
  std::vector<uint32_t> free_;  // guarded by mutex_
};

}  // namespace weir
