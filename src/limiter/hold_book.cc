#include "limiter/hold_book.h"

#include "base/heap_bytes.h"

namespace weir {
namespace {

constexpr uint64_t kBytesOfSession = 192;  // its entries in the map and in the list

}  // namespace

std::string_view OutcomeName(Outcome outcome) {
  switch (outcome) {
    case Outcome::kGranted: return "granted";
    case Outcome::kRefused: return "refused";
    case Outcome::kQueueFull: return "queue_full";
    case Outcome::kTimeout: return "timeout";
    case Outcome::kDone: return "done";
  }
  return "";
}

// ---- Sessions ----

SessionId HoldBook::OpenSession(Duration ttl, uint64_t client, Instant now,
                                const std::function<bool(const SessionId&)>& waits) {
  if (ttl != kNever && sessions_by_expiry_.size() >= most_sessions_ && !MakeRoomForSession(waits)) {
    return {};
  }
  const SessionId id = NewTicket(node_);
  Session& session = sessions_[id];
  session.ttl = ttl;
  session.client = client;
  if (ttl != kNever) {
    session.expires = After(now, ttl);
    session.listed = sessions_by_expiry_.emplace(session.expires, id);
    room_.Enter(0, kBytesOfSession);
  }
  return id;
}

// Looks at a few only: where sessions are in use, there is no room.
bool HoldBook::MakeRoomForSession(const std::function<bool(const SessionId&)>& waits) {
  constexpr int kLooks = 64;
  auto it = sessions_by_expiry_.begin();
  for (int i = 0; i < kLooks && it != sessions_by_expiry_.end(); ++i, ++it) {
    const auto session = sessions_.find(it->second);
    if (session->second.first != nullptr || waits(session->first)) continue;
    Forget(session);
    return true;
  }
  return false;
}

void HoldBook::Forget(Sessions::iterator session) {
  if (session->second.ttl != kNever) {
    sessions_by_expiry_.erase(session->second.listed);
    room_.Leave(0, kBytesOfSession);
  }
  sessions_.erase(session);
}

bool HoldBook::Renew(const SessionId& id, Instant now) {
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) return false;
  Session& session = found->second;
  if (session.ttl != kNever) session.expires = After(now, session.ttl);
  return true;
}

void HoldBook::ReleaseAll(const SessionId& id) {
  const auto found = sessions_.find(id);
  if (found == sessions_.end() || found->second.first == nullptr) return;
  ended_.push_back(std::exchange(found->second.first, nullptr));
  found->second.era += 1;
}

void HoldBook::EndSession(const SessionId& id) {
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) return;
  if (found->second.first != nullptr) ended_.push_back(found->second.first);
  Forget(found);
}

std::vector<Returned> HoldBook::TakeEnded(size_t most) {
  std::vector<Returned> returned;
  while (!ended_.empty() && returned.size() < most) {
    Entry* const entry = ended_.front();
    ended_.front() = entry->next;
    if (entry->next == nullptr) ended_.pop_front();
    const uint64_t copies = entry->hold.copies;
    room_.Leave(entry->hold.owner, BytesOf(entry->hold));
    returned.push_back(ReturnedOf(std::move(entry->hold), copies, 0));
    const Ticket name = entry->name;
    holds_.erase(name);
  }
  Tell();
  return returned;
}

// A renewal does not move a session in the list: that is done when its turn comes.
std::vector<SessionId> HoldBook::ExpiredSessions(Instant now, size_t most, bool& more) {
  std::vector<SessionId> expired;
  auto it = sessions_by_expiry_.begin();
  const auto due = [&] { return it != sessions_by_expiry_.end() && it->first <= now; };
  for (size_t i = 0; i < most && due(); ++i) {
    const SessionId id = it->second;
    Session& session = sessions_.find(id)->second;
    ++it;
    if (session.expires <= now) {
      expired.push_back(id);
    } else {
      sessions_by_expiry_.erase(session.listed);
      session.listed = sessions_by_expiry_.emplace(session.expires, id);
    }
  }
  more = due();
  return expired;
}

// ---- Holds ----

uint64_t HoldBook::BytesOf(const Hold& hold) {
  constexpr size_t kEntryOfMap = 48;
  size_t bytes = kEntryOfMap + ChunkBytes(sizeof(Entry)) + ChunkBytes(hold.queue) +
                 ChunkBytes(hold.subject) +
                 ChunkBytes(hold.groups.capacity() * sizeof(std::string));
  for (const std::string& group : hold.groups) bytes += ChunkBytes(group);
  if (hold.pools.capacity() > kPoolsInline) {
    bytes += ChunkBytes(hold.pools.capacity() * sizeof(Key));
  }
  return bytes;
}

Ticket HoldBook::Add(Hold hold) {
  Session& session = sessions_[hold.session];
  room_.Enter(hold.owner, BytesOf(hold));
  auto entry = std::make_unique<Entry>();
  const Ticket name = entry->name = NewTicket(node_);
  entry->hold = std::move(hold);
  entry->era = session.era;
  entry->next = session.first;
  if (session.first != nullptr) session.first->previous = entry.get();
  session.first = entry.get();
  holds_.try_emplace(name, std::move(entry));
  Tell();
  return name;
}

Result<HoldBook::Entry*> HoldBook::Find(const SessionId& session, const Ticket& name,
                                        uint64_t& copies, const Reach* reach) {
  const auto found = holds_.find(name);
  // A session that has ended holds nothing, though it may not have been taken out yet.
  const auto holder = sessions_.find(session);
  if (found == holds_.end() || found->second->hold.session != session ||
      holder == sessions_.end() || found->second->era != holder->second.era ||
      (reach != nullptr && !reach->Has(found->second->hold.namespace_name()))) {
    return Error{Code::kNotHeld, "this session has no such hold: it was released, or never was",
                 "hold"};
  }
  const Hold& hold = found->second->hold;
  if (copies > hold.copies) {
    return Error{Code::kBadRequest,
                 "the hold has " + std::to_string(hold.copies) + " copies, not so many", "copies"};
  }
  if (copies == 0) copies = hold.copies;
  return found->second.get();
}

Hold HoldBook::Take(Entry& entry, uint64_t copies) {
  entry.hold.copies -= copies;
  if (entry.hold.copies > 0) {
    Hold part = entry.hold;
    part.copies = copies;
    return part;
  }
  if (entry.next != nullptr) entry.next->previous = entry.previous;
  Entry*& before =
      entry.previous != nullptr ? entry.previous->next : sessions_[entry.hold.session].first;
  before = entry.next;
  room_.Leave(entry.hold.owner, BytesOf(entry.hold));
  Hold all = std::move(entry.hold);
  all.copies = copies;
  const Ticket name = entry.name;
  holds_.erase(name);
  Tell();
  return all;
}

Returned HoldBook::ReturnedOf(Hold hold, uint64_t copies, uint64_t left) {
  return {std::move(hold.pools),  copies, left, hold.share, std::move(hold.queue),
          std::move(hold.subject)};
}

Result<Returned> HoldBook::Release(const SessionId& session, const Ticket& name, uint64_t copies,
                                   const Reach* reach) {
  const Result<Entry*> found = Find(session, name, copies, reach);
  if (!found) return found.error();
  const uint64_t left = (*found)->hold.copies - copies;
  return ReturnedOf(Take(**found, copies), copies, left);
}

// ---- Transfers ----

Result<Ticket> HoldBook::Transfer(const SessionId& session, const Ticket& name, uint64_t copies,
                                  Instant expires, const Reach* reach) {
  const Result<Entry*> found = Find(session, name, copies, reach);
  if (!found) return found.error();
  const Hold& hold = (*found)->hold;
  if (copies < hold.copies && !HasRoom(hold)) {
    return Error{Code::kOverloaded, "no memory is left for more holds and transfers", "copies"};
  }
  const Ticket transfer = NewTicket(node_);
  Transferred given{Take(**found, copies), transfers_by_expiry_.emplace(expires, transfer)};
  room_.Enter(given.hold.owner, BytesOf(given.hold));
  transfers_.try_emplace(transfer, std::move(given));
  Tell();
  return transfer;
}

Hold HoldBook::TakeTransfer(Transfers::iterator transfer) {
  Hold hold = std::move(transfer->second.hold);
  room_.Leave(hold.owner, BytesOf(hold));
  transfers_by_expiry_.erase(transfer->second.listed);
  transfers_.erase(transfer);
  return hold;
}

Result<Seized> HoldBook::Seize(const SessionId& session, const Ticket& transfer, Instant now,
                               const Reach* reach) {
  const auto found = transfers_.find(transfer);
  if (found == transfers_.end() || found->second.listed->first <= now ||
      (reach != nullptr && !reach->Has(found->second.hold.namespace_name()))) {
    return Error{Code::kUnknownTransfer,
                 "no such transfer: it was seized, has expired, or never was", "transfer"};
  }
  Hold hold = TakeTransfer(found);
  hold.session = session;
  Seized seized;
  const size_t cut = hold.queue.find('\0');
  seized.namespace_name = hold.namespace_name();
  if (cut != std::string::npos) seized.resource = hold.queue.substr(cut + 1);
  seized.subject = hold.subject;
  seized.copies = hold.copies;
  seized.groups = hold.groups;
  seized.hold = Add(std::move(hold));
  return seized;
}

std::vector<Returned> HoldBook::ExpireTransfers(Instant now, size_t most) {
  std::vector<Returned> returned;
  while (!transfers_by_expiry_.empty() && transfers_by_expiry_.begin()->first <= now &&
         returned.size() < most) {
    Hold hold = TakeTransfer(transfers_.find(transfers_by_expiry_.begin()->second));
    const uint64_t copies = hold.copies;
    returned.push_back(ReturnedOf(std::move(hold), copies, 0));
  }
  Tell();
  return returned;
}

}  // namespace weir
