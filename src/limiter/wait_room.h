// Who waits for copies: first come, first served.
//
// A waiter is blocked by certain pools. Whoever comes later and needs one of them waits behind, or is
// refused: nobody overtakes on a pool, and nobody waits for a pool that he does not need. So those who
// wait are listed by pool, in the order of their coming, and when copies are returned to a pool only the
// first of it tries. If he is not the first of another of his pools, he is taken off this list, for it is
// not this pool that he waits for.
//
// The room is bounded: for each session, for each namespace (fair_room.h), and in all. No step looks
// at all who wait. Only bookkeeping: whoever calls has the lock.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <absl/container/btree_map.h>
#include <absl/container/btree_set.h>
#include <absl/container/flat_hash_map.h>

#include "limiter/fair_room.h"
#include "limiter/hold_book.h"

namespace weir {

// What is wanted, in words that outlive the request; rules may change while it waits.
struct Wanted {
  SessionId session;
  std::string namespace_name, resource, subject;
  uint64_t copies = 1, min_copies = 1;
  bool share = false;
  uint64_t workers = 0;  // > 0: a pool that the request describes itself
  // The queue's name: namespace and resource.
  std::string queue() const { return namespace_name + std::string(1, '\0') + resource; }
};

struct Waiter {
  Wanted wanted;
  Instant deadline;
  ReserveDone done;
  Pools blocked_by;
  uint32_t owner = 0;   // in whose name it takes room
  uint64_t number = 0;  // in the order of coming; given by the room
};

class WaitRoom {
 public:
  static constexpr size_t kMost = 100'000;
  static constexpr size_t kMostOfSession = kMost / 16;

  WaitRoom(FairRoom& bytes, const LimitTable& limits)
      : bytes_(bytes), places_(nullptr, limits, kMost) {}

  bool empty() const { return waiters_.empty(); }
  size_t size() const { return waiters_.size(); }
  bool HasRoom(const Waiter& waiter);
  bool Waits(const SessionId& session) const { return by_session_.contains(session); }
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

  std::vector<Waiter> TakeOfSession(const SessionId& session);
  // Those in the queue who share what the subject's holder has done.
  std::vector<Waiter> TakeSharers(const std::string& queue, const std::string& subject);
  std::vector<Waiter> TakeLate(Instant now, size_t most);
  // Pools that somebody waits for: so many of them at a time, in turn.
  std::vector<Key> NextPools(size_t most);

 private:
  struct Before {
    bool operator()(const Key& a, const Key& b) const {
      return a.high != b.high ? a.high < b.high : a.low < b.low;
    }
  };
  using Numbers = absl::btree_set<uint64_t>;

  static std::string Name(const std::string& queue, const std::string& subject) {
    return queue + '\0' + subject;
  }
  static uint64_t BytesOf(const Waiter& waiter);
  void Unlist(const Waiter& waiter);
  std::vector<Waiter> TakeAll(const std::vector<uint64_t>& numbers);

  FairRoom& bytes_;
  FairRoom places_;
  uint64_t next_number_ = 0;
  absl::flat_hash_map<uint64_t, std::unique_ptr<Waiter>> waiters_;
  absl::btree_map<Key, Numbers, Before> by_pool_;
  absl::flat_hash_map<SessionId, Numbers, TicketHash> by_session_;
  absl::flat_hash_map<std::string, Numbers> by_subject_;  // queue and subject
  absl::btree_set<std::pair<Instant, uint64_t>> by_deadline_;
  Key last_pool_;
};

}  // namespace weir
