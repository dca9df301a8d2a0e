// Holds: copies of a copy-limited resource are taken from the subject's pool, from the pools of its
// groups and from that of all, and returned to the same pools.
//
//   who holds     HoldBook   sessions, holds, transfers; in parts, each with a lock of its own
//   the pools     CopyPools  this process's memory today
//   who waits     WaitRoom   by pool; one lock, that only those take who wait, or meet somebody who does
//
// An attempt that is granted or refused at once takes no lock that others' attempts take, unless
// their sessions lie in one part. Whether somebody waits for one of its pools is known without a lock
// (pool_filter.h). Whoever may have to wait tries again and queues up under the lock of those who wait;
// whoever returns copies looks for them afterwards. So no return goes unseen.
//
// Nothing is done under a lock for long: what a session held is returned in slices, and pools whose
// room may have been changed by other rules are looked at in turn (Tick). Callbacks run without a lock.
#pragma once

#include <atomic>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/polite_mutex.h"
#include "holds/copy_pools.h"
#include "holds/hold_book.h"
#include "holds/wait_room.h"
#include "holds/wanted.h"

namespace weir {

struct HoldsOptions {
  std::string node;
  std::atomic<uint64_t>* outstanding = nullptr;
  uint64_t bytes = 0;  // for holds, transfers, sessions and those who wait
  size_t most_sessions = 0;
  Instant copies_from{};  // none are granted before
};

class Holds {
 public:
  // `rules` and `pools` outlive it; `store` is where memory is counted, in the name of its limits' owners.
  Holds(PoolRules& rules, CopyPools& pools, MemoryStore& store, const HoldsOptions& options);

  // As in weir/limiter.h; `client` 0: not known.
  SessionId OpenSession(Duration ttl, uint64_t client, Instant now) {
    return book_.OpenSession(ttl, client, now);
  }
  bool RenewSession(const SessionId& session, Instant now) { return book_.Renew(session, now); }
  void EndSession(const SessionId& session, Instant now);
  void ReleaseAll(const SessionId& session, Instant now);
  void Reserve(Wanted wanted, Duration wait, std::optional<uint64_t> max_queue, Instant now,
               ReserveDone done);
  Result<uint64_t> Release(const SessionId& session, const Ticket& hold, uint64_t copies,
                           Instant now, const Reach* reach = nullptr);
  Result<Ticket> Transfer(const SessionId& session, const Ticket& hold, uint64_t copies,
                          Duration ttl, Instant now, const Reach* reach = nullptr);
  Result<Seized> Seize(const SessionId& session, const Ticket& transfer, Instant now,
                       const Reach* reach = nullptr) {
    return book_.Seize(session, transfer, now, reach);
  }
  void Tick(Instant now);

  HoldBook::Sizes sizes() { return book_.sizes(); }
  size_t waiting() const { return room_.size(); }
  // What those who wait have cost so far, in looks at one of them: for tests.
  uint64_t steps();

 private:
  // Somebody to be told what became of his waiting.
  struct Told {
    ReserveDone done;
    Result<Reservation> answer;
  };
  // What is left to be done without the lock: callbacks are called, and die, there.
  struct Aftermath {
    std::vector<Told> told;
    std::vector<Waiter> gone;
    ~Aftermath();
  };
  // One try to get what is wanted.
  struct Attempt;

  void Prepare(const Wanted& wanted, Instant now, Attempt& attempt);
  void Take(const Wanted& wanted, Instant now, Want want, Attempt& attempt);
  // False, and nothing is known, if somebody may wait for one of the pools.
  bool TryAtOnce(const Wanted& wanted, Instant now, Attempt& attempt);
  // The answer, and the hold in the book. The copies go back if the session has ended meanwhile.
  Result<Reservation> Conclude(Attempt& attempt, Instant now);
  void GiveBack(std::span<const Returned> all, Instant now);

  // These are called with mutex_.
  void Try(const Wanted& wanted, bool behind_others, Instant now, Attempt& attempt);
  void Answer(Waiter waiter, Result<Reservation> answer, Aftermath& after);
  void Note(std::span<const Returned> all);
  void ServeSome(Instant now, Aftermath& after);
  void ServeFirst(Instant now, Aftermath& after);

  void TryOrWait(Wanted wanted, Duration wait, std::optional<uint64_t> max_queue, Instant now,
                 ReserveDone done);
  bool TickSome(bool look_at_pools, Instant now);

  PoolRules& rules_;
  CopyPools& pools_;
  const Instant copies_from_;
  FairRoom bytes_;
  HoldBook book_;
  PoliteMutex mutex_;
  WaitRoom room_;  // guarded by mutex_, but for what it says
};

}  // namespace weir
