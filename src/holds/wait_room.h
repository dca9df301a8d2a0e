// Who waits for copies: first come, first served.
//
// A waiter is blocked by certain pools. Whoever comes later and needs one of them waits behind, or is
// refused: nobody overtakes on a pool, and nobody waits for a pool that he does not need. So those who
// wait are listed by pool, in the order of their coming, and when copies are returned to a pool only the
// first of it tries. If he is not the first of another of his pools, he is taken off this list, for it is
// not this pool that he waits for.
//
// The room is bounded: for each session, for each client, for each namespace (fair_room.h), and in all.
//
// No step looks at all who wait. What concerns very many at once (a session that ends while it waits often,
// work that is done for all who share it, a pool in which much room has come) is noted at once, and
// carried out a slice at a time: until then those concerned are known by IsDone, or by their session, which
// is not there any more. Only bookkeeping: whoever calls has the lock, but for size(), MayBlock() and
// MayAwait().
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include <absl/container/btree_map.h>
#include <absl/container/btree_set.h>
#include <absl/container/flat_hash_map.h>

#include "base/new_ticket.h"
#include "holds/fair_room.h"
#include "holds/pool_filter.h"
#include "holds/wanted.h"

namespace weir {

struct Waiter {
  Wanted wanted;
  Instant deadline;
  ReserveDone done;
  Pools blocked_by;
  uint32_t owner = 0;   // in whose name it takes room
  uint64_t client = 0;  // who has asked for it; 0: not known
  uint64_t number = 0;  // in the order of coming; given by the room
};

class WaitRoom {
 public:
  static constexpr size_t kMost = 100'000;
  static constexpr size_t kMostOfSession = kMost / 16;
  static constexpr size_t kMostOfClient = kMost / 8;

  WaitRoom(FairRoom& bytes, const LimitTable& limits)
      : bytes_(bytes), places_(nullptr, limits, kMost) {}

  // Without the lock: how many wait, and whether somebody may wait for one of the pools, or is about to.
  size_t size() const { return size_.load(); }
  bool MayBlock(std::span<const Key> pools) const { return filter_.Has(pools); }
  // The same for whoever has returned copies to the pools: nobody who waits for them is missed.
  bool MayAwait(std::span<const Key> pools) { return filter_.HasForReturned(pools); }
  // Somebody is about to find out whether he has to wait for them (pool_filter.h).
  void Announce(const Pools& pools) { filter_.Add(pools); }
  void Unannounce(const Pools& pools) { filter_.Remove(pools); }

  bool HasRoom(const Waiter& waiter);
  // Whether somebody waits for one of the pools.
  bool Blocks(const Pools& pools) const;
  // How many wait in the queue for the subject.
  uint64_t Count(const std::string& queue, const std::string& subject) const;

  void Add(Waiter waiter);
  // Who has waited longest for the pool; null if nobody does.
  Waiter* First(const Key& pool);
  // Whether nobody came earlier to any of the pools that block him.
  bool IsFirst(const Waiter& waiter) const;
  void SetBlockedBy(Waiter& waiter, Pools pools);
  Waiter Take(Waiter& waiter);

  // The session has ended; TakeEnded takes out who waits for it, so many at a time.
  void EndSession(const SessionId& session);
  std::vector<Waiter> TakeEnded(size_t most);
  // The subject's holder has done what those in the queue want who share it; TakeDone takes them out.
  void NoteDone(const std::string& queue, const std::string& subject);
  bool IsDone(const Waiter& waiter) const;
  std::vector<Waiter> TakeDone(size_t most);
  std::vector<Waiter> TakeLate(Instant now, size_t most);
  // Pools that somebody waits for: so many of them at a time, in turn.
  std::vector<Key> NextPools(size_t most);

  // Pools in which there may be room: these next, or after all others.
  void OfferNext(std::vector<Key> pools);
  void OfferLast(std::vector<Key> pools);
  const Key* Offered() const { return offered_.empty() ? nullptr : &offered_.back(); }
  void TakeOffered() { offered_.pop_back(); }

  // How many waiters have been looked at, listed or taken off a list: what the room has cost so far.
  uint64_t steps() const { return steps_; }

  // Something of this is left to be done.
  bool unfinished() const { return !ended_.empty() || !done_.empty() || !offered_.empty(); }

 private:
  struct Before {
    bool operator()(const Key& a, const Key& b) const {
      return a.high != b.high ? a.high < b.high : a.low < b.low;
    }
  };
  using Numbers = absl::btree_set<uint64_t>;
  static constexpr size_t kMostOffered = 2 * kMost;

  static std::string Name(const std::string& queue, const std::string& subject) {
    return queue + '\0' + subject;
  }
  // Of one name, numbers from `next` to `last` are to be looked at.
  struct Done {
    uint64_t next = 0, last = 0;
  };
  static void Unique(std::vector<Key>& pools);
  static std::string Name(const Waiter& waiter) {
    return Name(waiter.wanted.queue(), waiter.wanted.subject);
  }
  static uint64_t BytesOf(const Waiter& waiter);

  void List(Waiter& waiter);
  void Unlist(Waiter& waiter);

  FairRoom& bytes_;
  FairRoom places_;
  PoolFilter filter_;
  std::atomic<size_t> size_{0};
  mutable uint64_t steps_ = 0;
  uint64_t next_number_ = 0;
  absl::flat_hash_map<uint64_t, std::unique_ptr<Waiter>> waiters_;
  absl::btree_map<Key, Numbers, Before> by_pool_;
  absl::flat_hash_map<SessionId, Numbers, TicketHash> by_session_;
  absl::flat_hash_map<std::string, Numbers> by_subject_;  // queue and subject
  absl::btree_set<std::pair<Instant, uint64_t>> by_deadline_;
  absl::flat_hash_map<uint64_t, size_t> by_client_;  // how many
  std::deque<SessionId> ended_;
  absl::flat_hash_map<std::string, Done> done_;  // by queue and subject
  std::deque<Key> offered_;
  Key last_pool_;
};

}  // namespace weir
