// The holds: which session holds how many copies, and from which pools they came.
//
// A hold counts in the pools of the groups that the subject belonged to when it was reserved,
// whatever becomes of the groups later; so it keeps the keys of its pools. Only bookkeeping: whoever
// calls returns the copies to the pools.
//
// Holds and transfers take room (fair_room.h) in the name of the namespace of what is held. A session
// that ends may hold very many: it ends at once, and what it held is taken out a slice at a time.
// Sessions with a time to live are bounded: the next to expire of those that neither hold nor wait gives way.
//
// For any thread. A session and its holds are in one of several parts, each with a lock of its own;
// transfers, which belong to nobody, and the order in which sessions expire have one each. Where two are
// taken: the order's, then a part's, then the transfers'.
#pragma once

#include <array>
#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <absl/container/flat_hash_map.h>

#include "base/new_ticket.h"
#include "holds/fair_room.h"
#include "holds/wanted.h"

namespace weir {

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
           size_t most_sessions);

  // One without a `ttl` is always opened; otherwise none (a false id) if there are too many, all of
  // which hold or wait for something.
  SessionId OpenSession(Duration ttl, uint64_t client, Instant now);
  bool Renew(const SessionId& session, Instant now);
  bool HasSession(const SessionId& session);
  // One more waits for the session: whose it is (0: not known); nothing if the session is not there.
  std::optional<uint64_t> BeginWait(const SessionId& session);
  // One less. False if the session is not there any more.
  bool EndWait(const SessionId& session);

  struct Ended {
    std::vector<Returned> returned;  // at most so many; TakeEnded() gives back the rest
    bool waited = false;
    bool was_there = false;
  };
  // From now on nobody has what it held. The session goes on.
  std::vector<Returned> ReleaseAll(const SessionId& session, size_t most);
  // The same, and the session ends: if it is not renewed meanwhile, for one that has `expired`.
  Ended EndSession(const SessionId& session, size_t most,
                   std::optional<Instant> expired = std::nullopt);
  // Takes out at most so many of the holds of sessions that have ended.
  std::vector<Returned> TakeEnded(size_t most);
  bool any_ended() const { return ended_.load() > 0; }

  // Whether there is room for another hold of this size.
  bool HasRoom(const Hold& hold) { return room_.Fits(hold.owner, BytesOf(hold)); }

  // A false name, and the hold as it was, if the session is not there.
  Ticket Add(Hold&& hold);
  // copies = 0: all. kNotHeld if the session does not hold it, kBadRequest if it holds fewer.
  // So it is to whoever has no reach there (null: everywhere).
  Result<Returned> Release(const SessionId& session, const Ticket& hold, uint64_t copies,
                           const Reach* reach);
  Result<Ticket> Transfer(const SessionId& session, const Ticket& hold, uint64_t copies,
                          Instant expires, const Reach* reach);
  Result<Seized> Seize(const SessionId& session, const Ticket& transfer, Instant now,
                       const Reach* reach);

  // Sessions that were not renewed, and transfers that nobody has seized; at most so many. `more`: not all
  // whose time has come have been looked at.
  std::vector<SessionId> ExpiredSessions(Instant now, size_t most, bool& more);
  std::vector<Returned> ExpireTransfers(Instant now, size_t most, bool& more);

  struct Sizes {
    size_t sessions = 0, holds = 0, transfers = 0;
  };
  Sizes sizes();

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
    uint32_t waits = 0;
    uint32_t era = 0;  // how often it gave up everything: what it held before is not its own
    SessionsByExpiry::iterator listed{};  // with a ttl: at `expires`, or earlier if renewed since
  };
  using Sessions = absl::flat_hash_map<SessionId, Session, TicketHash>;
  struct Part {
    std::mutex mutex;
    // Guarded by mutex.
    Sessions sessions;
    absl::flat_hash_map<Ticket, std::unique_ptr<Entry>, TicketHash> holds;
    // The first hold of each session that has ended; the last to end is the next to be taken out, so that
    // one that held little does not wait behind one that held very much.
    std::deque<Entry*> ended;
  };
  using TransfersByExpiry = std::multimap<Instant, Ticket>;
  struct Transferred {
    Hold hold;
    TransfersByExpiry::iterator listed;
  };
  using Transfers = absl::flat_hash_map<Ticket, Transferred, TicketHash>;

  static constexpr size_t kParts = 16;
  Part& PartOf(const SessionId& session) { return parts_[session.low >> 8 & (kParts - 1)]; }

  static uint64_t BytesOf(const Hold& hold);
  // These are called with the lock of the part.
  void TakeEnded(Part& part, size_t most, std::vector<Returned>& returned);
  Ticket AddTo(Part& part, Session& session, Hold&& hold);
  // The hold, if the session holds at least so many copies; `copies` 0 becomes all of them.
  Result<Entry*> Find(Part& part, const SessionId& session, const Ticket& hold, uint64_t& copies,
                      const Reach* reach);
  // Takes so many copies out of it: what was taken.
  Hold Take(Part& part, Entry& entry, uint64_t copies);
  // With the lock of the order.
  bool MakeRoomForSession();
  // With the lock of the transfers.
  Hold TakeTransfer(Transfers::iterator transfer);
  static Returned ReturnedOf(Hold hold, uint64_t copies, uint64_t left);

  const uint32_t node_;
  std::atomic<uint64_t> not_told_{0};
  std::atomic<uint64_t>& outstanding_;
  FairRoom& room_;
  const size_t most_sessions_;
  std::array<Part, kParts> parts_;
  std::atomic<size_t> ended_{0};  // sessions of which something is left, in all parts

  std::mutex order_mutex_;
  SessionsByExpiry sessions_by_expiry_;  // those with a ttl; guarded by order_mutex_

  std::mutex transfers_mutex_;
  // Guarded by transfers_mutex_.
  Transfers transfers_;
  TransfersByExpiry transfers_by_expiry_;
};

}  // namespace weir
