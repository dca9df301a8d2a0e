// The store in this process's memory.
//
// Admit locks the states of all charges, in the order of the key table, asks every limit for its
// room, and writes only if nobody refuses. Nothing waits: every answer is there on return.
// Nothing is allocated for keys that exist. Keys that are as good as unused are not stored.
//
// What is cancelled or reduced was never asked for: from then on every limit decides as it would have,
// but for
//   replicated buckets         others are told of whole tokens: less than one is not given back
//   buckets with more than a thousand open receipts (refund_marks.h), and limits that were replaced
//   meanwhile by others        no more is given back than is sure; so these three err against the subject
//   tiers                      whoever came meanwhile stays in the tier that he was granted, which may be a
//                              higher one than he would have needed; and a tier stays as it is once its
//                              hits of that time do not count any more
//   kept refusals of a log     older ones that it pushed out do not come back. Only refusals in shadow, or
//                              of one quota among several, are ever cancelled
//   `anchor: first_request`    a window that it began ends in its time for those who came meanwhile
// None of these admits more than the limit says: each state is one that the limit could have come to.
#pragma once

#include <array>
#include <atomic>
#include <mutex>
#include <span>

#include <absl/container/inlined_vector.h>

#include "store/change_journal.h"
#include "store/coordinator.h"
#include "store/key_table.h"
#include "store/limit_table.h"
#include "store/store.h"

namespace weir {

// A state of a persistent limit, as bytes.
struct SavedCell {
  Key key;
  const LimitSlot* slot = nullptr;  // null: the state is gone
  std::string bytes;                // empty: only `use` is known
  uint64_t use = 0;                 // what was used, should the numbers be others by then
};

class MemoryStore final : public Store, private KeyTable::Tenant {
 public:
  MemoryStore(uint64_t memory_bytes, Instant epoch, uint32_t most_limits = LimitTable::kMost);

  LimitTable& limits() { return limits_; }

  void Prefetch(const Key& key) const { table_.Prefetch(key); }
  bool Admit(Admission& admission) override;
  void Abandon(Admission&) override {}
  bool Settle(Settlement& settlement) override;
  void Abandon(Settlement&) override {}
  void Close(std::span<const Receipt> receipts, Instant now) override;
  void Reduce(std::span<Receipt> receipts, uint64_t keep, Instant now) override;
  void Cancel(std::span<const Receipt> receipts, Instant now) override;
  StoreStats Stats() const override {
    return {.keys = keys(), .bytes = bytes(), .forgotten = forgotten(), .overloaded = overloaded()};
  }
  // What Admit and Settle come to, for those who know that this store never waits.
  Admitted AdmitNow(std::span<Charge> charges, Instant now) { return Run(charges, now, true); }
  Admitted PeekNow(std::span<Charge> charges, Instant now) { return Run(charges, now, false); }
  SettledUse SettleNow(std::span<const Receipt> receipts, uint64_t cost, Instant now);
  // Gives back up to `charge.cost` of what was used last, and shows what is left.
  void Refund(Charge& charge, Instant now);
  // Returns held copies, and tells how many of that key's are held still.
  uint64_t Return(const Key& key, uint64_t copies, Instant now);

  // Limits that are coordinated with other nodes are so by this, from now on; before the first request.
  void CoordinateWith(Coordinator* coordinator) { coordinator_ = coordinator; }
  // Puts what others have used of the key into its state, if there is one.
  void ApplyOthers(const Key& key, Instant now);

  // The states of persistent limits that have changed since the last call.
  std::vector<SavedCell> TakeChanged(Instant now);
  // False if the bytes are no such state, or the key is in use already.
  bool Restore(const SavedCell& saved, Instant now);
  // The next TakeChanged tells of it.
  void MarkChanged(const Key& key) { changed_.Add(key); }

  // Drops some of what has expired, a few shards at a time.
  void Tick(Instant now) override { SweepSome(8, now); }
  void SweepSome(size_t shards, Instant now);

  // Memory that an owner takes beside its states (tickets, holds) counts as its own.
  void AddOutside(uint32_t owner, int64_t bytes) {
    outside_[owner % kLedger].fetch_add(bytes, std::memory_order_relaxed);
    table_.AddHeapBytes(bytes);
  }

  uint64_t keys() const { return table_.size(); }
  uint64_t bytes() const { return table_.bytes(); }
  uint64_t forgotten() const { return table_.forgotten(); }
  uint64_t overloaded() const { return overloaded_.load(std::memory_order_relaxed); }

 private:
  // A charge and its state, while it is locked.
  struct Opened {
    Charge* charge;
    const LimitSlot* slot = nullptr;
    Cell cell{};
    bool fresh = false;  // made for this request: goes away again unless something is taken
  };
  // One of several.
  struct Entry : Opened {
    size_t same = 0;  // the first entry with the same state (itself, mostly)
    // Of all charges on this state together, at the first of them.
    uint64_t sharers = 1;
    uint64_t cost = 0;
    uint64_t least = 0;
    bool overdrawn = false;
    uint64_t room = 0;
  };
  using Entries = absl::InlinedVector<Entry, 4>;

  Admitted Run(std::span<Charge> charges, Instant now, bool take);
  // Remembers what has changed of persistent limits, and tells what was taken of coordinated ones.
  void Note(std::span<const Charge> charges, Instant now) {
    for (const Charge& charge : charges) {
      if (charge.limit->traits.noted() && charge.taken > 0) [[unlikely]]
        NoteTaken(charge, now);
    }
  }
  void NoteTaken(const Charge& charge, Instant now);
  bool Coordinated(const LimitSlot& slot) const {
    return slot.traits.replication != Replication::kNone && coordinator_ != nullptr;
  }
  void NoteSettled(const Receipt& receipt, const LimitSlot& slot, uint64_t taken, uint64_t refunded,
                   uint64_t remaining, Instant now);
  void BeginWithOthers(Opened& entry, Instant now);
  Admitted RunOne(Charge& charge, Instant now, bool take);
  Admitted TakeFromBucket(const TokenBucket& bucket, Opened& entry, Instant now);
  Admitted DecideOne(Opened& entry, Instant now, bool take);
  Admitted RunMany(std::span<Charge> charges, Instant now, bool take);

  Code OpenAll(std::span<Charge> charges, bool make, Instant now, KeyTable::Held& held,
               Entries& entries);
  // False if there is no room. An entry without a cell: the state is unused.
  bool Open(Opened& entry, bool make, Instant now, KeyTable::Held& held);
  Code MakeRoom(const Opened& entry, Instant now, uint64_t without_room);
  static Newcomer NewcomerOf(const LimitSlot& slot) {
    return {.owner = slot.owner,
            .guarded = slot.traits.guarded(),
            .deny = slot.traits.deny_when_full()};
  }
  // What has grown is charged, whoever has to be forgotten for it.
  void Relieve(const LimitSlot& slot, Instant now) {
    table_.Relieve({.owner = slot.owner, .guarded = slot.traits.guarded()}, now);
  }
  void EraseIfUnused(Opened& entry, Instant now);

  static void Ask(Entry& entry, Instant now);
  static bool Grant(Entries& entries, uint64_t* granted);
  void TakeAll(Entries& entries, uint64_t granted, Instant now);
  Duration RefuseAll(Entries& entries, Instant now, bool take);
  void Take(Entry& entry, uint64_t n, Instant now);
  void Refuse(Entry& entry, Instant now, bool keep);
  static Instant When(const Entry& entry, Instant from);
  static void Show(Entry& entry, uint64_t remaining, Instant now);

  SettledUse SettleOne(const Receipt& receipt, uint64_t cost, Instant now);
  void CloseOne(const Receipt& receipt, Instant now);
  void CancelOne(const Receipt& receipt, uint64_t n, bool close, Instant now);

  // KeyTable::Tenant
  bool Expired(Cell cell, Instant now) override;
  Worth Weigh(Cell cell, Instant now) override;
  void Drop(Cell cell) override;
  void Met(Cell cell, Instant now) override;
  bool Guarded(uint32_t limit) override { return limits_[limit].traits.guarded(); }
  uint32_t Owners() override { return limits_.owners(); }
  void ForEachOutside(const std::function<void(uint32_t, uint64_t)>& visit) override;

  // Brings a cell that was written under other numbers to those of `slot`.
  void BringTo(const LimitSlot& slot, Cell cell, Instant now);
  void Convert(const LimitSlot& old, const LimitSlot& next, Cell cell, Instant at);

  LimitTable limits_;
  KeyTable table_;
  // Bytes by owner; the few that are beyond share an entry.
  static constexpr uint32_t kLedger = 4096;
  std::array<std::atomic<int64_t>, kLedger> outside_{};
  std::atomic<uint64_t> overloaded_{0};
  Coordinator* coordinator_ = nullptr;
  ChangeJournal changed_;

  std::mutex sweep_mutex_;
  size_t next_to_sweep_ = 0;  // guarded by sweep_mutex_
};

}  // namespace weir
