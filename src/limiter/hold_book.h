// The holds: which session holds how many copies, and from which pools they came.
//
// A hold counts in the pools of the groups that the subject belonged to when it was reserved,
// whatever becomes of the groups later; so it keeps the keys of its pools. Only bookkeeping: whoever
// calls has the lock, and returns the copies to the pools.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <absl/container/flat_hash_map.h>
#include <absl/container/inlined_vector.h>

#include "base/keyed_hash.h"
#include "limiter/ticket_book.h"
#include "weir/hold.h"

namespace weir {

struct TicketHash {
  size_t operator()(const Ticket& ticket) const { return ticket.low; }
};

using Pools = absl::InlinedVector<Key, 2>;

struct Hold {
  SessionId session;
  Pools pools;
  uint64_t copies = 0;
  bool share = false;
  std::string queue;    // the name of the queue in which others wait for such copies
  std::string subject;  // in it
  std::vector<std::string> groups;
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
  HoldBook(std::string_view node, std::atomic<uint64_t>* outstanding)
      : node_(NodeHash(node)), outstanding_(outstanding) {}

  SessionId OpenSession(Duration ttl, Instant now);
  bool Renew(const SessionId& session, Instant now);
  bool HasSession(const SessionId& session) const { return sessions_.contains(session); }
  // Takes the session and its holds out.
  std::vector<Returned> EndSession(const SessionId& session);

  // The session is there.
  Ticket Add(Hold hold);
  // copies = 0: all. kNotHeld if the session does not hold it, kBadRequest if it holds fewer.
  Result<Returned> Release(const SessionId& session, const Ticket& hold, uint64_t copies);
  Result<Ticket> Transfer(const SessionId& session, const Ticket& hold, uint64_t copies,
                          Instant expires);
  Result<Seized> Seize(const SessionId& session, const Ticket& transfer, Instant now);

  // Sessions that were not renewed, and transfers that nobody has seized.
  std::vector<SessionId> ExpiredSessions(Instant now) const;
  std::vector<Returned> ExpireTransfers(Instant now);

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
  };
  struct Session {
    Duration ttl = kNever;
    Instant expires = kEndOfTime;
    Entry* first = nullptr;
  };
  struct Transferred {
    Hold hold;
    Instant expires;
  };

  // The hold, if the session holds at least so many copies; `copies` 0 becomes all of them.
  Result<Entry*> Find(const SessionId& session, const Ticket& hold, uint64_t& copies);
  // Takes so many copies out of it: what was taken.
  Hold Take(Entry& entry, uint64_t copies);
  static Returned ReturnedOf(Hold hold, uint64_t copies, uint64_t left);

  void Tell() {
    if (outstanding_ != nullptr) outstanding_->store(holds_.size() + transfers_.size());
  }

  const uint32_t node_;
  std::atomic<uint64_t>* const outstanding_;
  absl::flat_hash_map<SessionId, Session, TicketHash> sessions_;
  absl::flat_hash_map<Ticket, std::unique_ptr<Entry>, TicketHash> holds_;
  absl::flat_hash_map<Ticket, Transferred, TicketHash> transfers_;
  std::multimap<Instant, Ticket> transfers_by_expiry_;  // seized ones stay in it until then
};

}  // namespace weir
