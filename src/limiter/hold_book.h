// The holds: which session holds how many copies, and from which pools they came.
//
// A hold counts in the pools of the groups that the subject belonged to when it was reserved,
// whatever becomes of the groups later; so it keeps the keys of its pools. Only bookkeeping: whoever
// calls has the lock, and returns the copies to the pools.
//
// Holds and transfers take room (fair_room.h) in the name of the namespace of what is held. A session
// that ends may hold very many: it ends at once, and what it held is taken out a slice at a time.
// Sessions with a time to live are bounded: the next to expire of those that hold nothing gives way.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <absl/container/flat_hash_map.h>
#include <absl/container/inlined_vector.h>

#include "base/keyed_hash.h"
#include "limiter/fair_room.h"
#include "limiter/ticket_book.h"
#include "weir/hold.h"

namespace weir {

struct TicketHash {
  size_t operator()(const Ticket& ticket) const { return ticket.low; }
};

inline constexpr size_t kPoolsInline = 2;
using Pools = absl::InlinedVector<Key, kPoolsInline>;

struct Hold {
  SessionId session;
  Pools pools;
  uint64_t copies = 0;
  uint32_t owner = 0;  // whose memory it takes
  bool share = false;
  std::string queue;    // the name of the queue in which others wait for such copies
  std::string subject;  // in it
  std::vector<std::string> groups;

  std::string_view namespace_name() const {
    return std::string_view(queue).substr(0, queue.find('\0'));
  }
};

// Copies to be returned to each of the pools.
struct Returned {
  Pools pools;
  uint64_t copies = 0;
  uint64_t left = 0;  // in the hold
  bool share = false;
  std::string queue, subject;
};

class HoldBook {
 public:
  // `outstanding`, unless it is null, always has the number of holds and transfers.
  HoldBook(std::string_view node, std::atomic<uint64_t>* outstanding, FairRoom& room,
           size_t most_sessions)
      : node_(NodeHash(node)),
        outstanding_(outstanding),
        room_(room),
        most_sessions_(most_sessions) {}

  // One without a `ttl` is always opened; otherwise none (a false id) if there are too many, all of
  // which hold or, so `waits` says, wait for something.
  SessionId OpenSession(Duration ttl, uint64_t client, Instant now,
                        const std::function<bool(const SessionId&)>& waits);
  // Whose session it is; 0: not known.
  uint64_t ClientOf(const SessionId& session) const { return sessions_.at(session).client; }
  bool Renew(const SessionId& session, Instant now);
  bool HasSession(const SessionId& session) const { return sessions_.contains(session); }
  // From now on nobody has what it held; TakeEnded() gives it back. The session goes on.
  void ReleaseAll(const SessionId& session);
  // The same, and the session ends.
  void EndSession(const SessionId& session);
  // Takes out at most so many of the holds of sessions that have ended.
  std::vector<Returned> TakeEnded(size_t most);
  bool any_ended() const { return !ended_.empty(); }

  // Whether there is room for another hold of this size.
  bool HasRoom(const Hold& hold) { return room_.Fits(hold.owner, BytesOf(hold)); }

  // The session is there.
  Ticket Add(Hold hold);
  // copies = 0: all. kNotHeld if the session does not hold it, kBadRequest if it holds fewer.
  // So it is to whoever has no reach there (null: everywhere).
  Result<Returned> Release(const SessionId& session, const Ticket& hold, uint64_t copies,
                           const Reach* reach = nullptr);
  Result<Ticket> Transfer(const SessionId& session, const Ticket& hold, uint64_t copies,
                          Instant expires, const Reach* reach = nullptr);
  Result<Seized> Seize(const SessionId& session, const Ticket& transfer, Instant now,
                       const Reach* reach = nullptr);

  // Sessions that were not renewed, and transfers that nobody has seized; at most so many. `more`: not all
  // sessions whose time has come have been looked at.
  std::vector<SessionId> ExpiredSessions(Instant now, size_t most, bool& more);
  std::vector<Returned> ExpireTransfers(Instant now, size_t most);
  bool AnyTransferExpired(Instant now) const {
    return !transfers_by_expiry_.empty() && transfers_by_expiry_.begin()->first <= now;
  }

  size_t sessions() const { return sessions_.size(); }
  size_t holds() const { return holds_.size(); }
  size_t transfers() const { return transfers_.size(); }

 private:
  // In the list of its session: the end of one finds them without a second table of names.
  struct Entry {
    Ticket name;
    Hold hold;
    Entry* previous = nullptr;
    Entry* next = nullptr;
    uint32_t era = 0;  // its session's then
  };
  using SessionsByExpiry = std::multimap<Instant, SessionId>;
  struct Session {
    Duration ttl = kNever;
    uint64_t client = 0;
    Instant expires = kEndOfTime;
    Entry* first = nullptr;
    uint32_t era = 0;  // how often it gave up everything: what it held before is not its own
    SessionsByExpiry::iterator listed{};  // with a ttl: at `expires`, or earlier if renewed since
  };
  using TransfersByExpiry = std::multimap<Instant, Ticket>;
  struct Transferred {
    Hold hold;
    TransfersByExpiry::iterator listed;
  };
  using Sessions = absl::flat_hash_map<SessionId, Session, TicketHash>;
  using Transfers = absl::flat_hash_map<Ticket, Transferred, TicketHash>;

  static uint64_t BytesOf(const Hold& hold);
  void Forget(Sessions::iterator session);
  bool MakeRoomForSession(const std::function<bool(const SessionId&)>& waits);
  Hold TakeTransfer(Transfers::iterator transfer);

  // The hold, if the session holds at least so many copies; `copies` 0 becomes all of them.
  Result<Entry*> Find(const SessionId& session, const Ticket& hold, uint64_t& copies,
                      const Reach* reach);
  // Takes so many copies out of it: what was taken.
  Hold Take(Entry& entry, uint64_t copies);
  static Returned ReturnedOf(Hold hold, uint64_t copies, uint64_t left);

  void Tell() {
    if (outstanding_ != nullptr) outstanding_->store(holds_.size() + transfers_.size());
  }

  const uint32_t node_;
  std::atomic<uint64_t>* const outstanding_;
  FairRoom& room_;
  const size_t most_sessions_;
  Sessions sessions_;
  SessionsByExpiry sessions_by_expiry_;  // those with a ttl
  absl::flat_hash_map<Ticket, std::unique_ptr<Entry>, TicketHash> holds_;
  std::deque<Entry*> ended_;  // the first hold of each session that has ended
  Transfers transfers_;
  TransfersByExpiry transfers_by_expiry_;
};

}  // namespace weir
