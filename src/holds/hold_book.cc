#include "holds/hold_book.h"

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

HoldBook::HoldBook(std::string_view node, std::atomic<uint64_t>* outstanding, FairRoom& room,
                   size_t most_sessions)
    : node_(NodeHash(node)),
      outstanding_(outstanding == nullptr ? not_told_ : *outstanding),
      room_(room),
      most_sessions_(most_sessions) {
  outstanding_.store(0);
}

// ---- Sessions ----

SessionId HoldBook::OpenSession(Duration ttl, uint64_t client, Instant now) {
  const SessionId id = NewTicket(node_);
  Session session{.ttl = ttl, .client = client};
  std::unique_lock order(order_mutex_, std::defer_lock);
  if (ttl != kNever) {
    order.lock();
    if (sessions_by_expiry_.size() >= most_sessions_ && !MakeRoomForSession()) return {};
    session.expires = After(now, ttl);
    session.listed = sessions_by_expiry_.emplace(session.expires, id);
    room_.Enter(0, kBytesOfSession);
  }
  Part& part = PartOf(id);
  const std::lock_guard lock(part.mutex);
  part.sessions.try_emplace(id, session);
  return id;
}

// Looks at a few only: where sessions are in use, there is no room. One that is not in its part any more is
// just ending: whoever ends it takes it from the list.
bool HoldBook::MakeRoomForSession() {
  constexpr int kLooks = 64;
  auto it = sessions_by_expiry_.begin();
  for (int i = 0; i < kLooks && it != sessions_by_expiry_.end(); ++i, ++it) {
    Part& part = PartOf(it->second);
    const std::lock_guard lock(part.mutex);
    const auto session = part.sessions.find(it->second);
    if (session == part.sessions.end()) continue;
    if (session->second.first != nullptr || session->second.waits > 0) continue;
    part.sessions.erase(session);
    sessions_by_expiry_.erase(it);
    room_.Leave(0, kBytesOfSession);
    return true;
  }
  return false;
}

bool HoldBook::Renew(const SessionId& id, Instant now) {
  Part& part = PartOf(id);
  const std::lock_guard lock(part.mutex);
  const auto found = part.sessions.find(id);
  if (found == part.sessions.end()) return false;
  Session& session = found->second;
  if (session.ttl != kNever) session.expires = After(now, session.ttl);
  return true;
}

bool HoldBook::HasSession(const SessionId& id) {
  Part& part = PartOf(id);
  const std::lock_guard lock(part.mutex);
  return part.sessions.contains(id);
}

std::optional<uint64_t> HoldBook::BeginWait(const SessionId& id) {
  Part& part = PartOf(id);
  const std::lock_guard lock(part.mutex);
  const auto found = part.sessions.find(id);
  if (found == part.sessions.end()) return std::nullopt;
  found->second.waits += 1;
  return found->second.client;
}

bool HoldBook::EndWait(const SessionId& id) {
  Part& part = PartOf(id);
  const std::lock_guard lock(part.mutex);
  const auto found = part.sessions.find(id);
  if (found == part.sessions.end()) return false;
  found->second.waits -= 1;
  return true;
}

std::vector<Returned> HoldBook::ReleaseAll(const SessionId& id, size_t most) {
  std::vector<Returned> returned;
  Part& part = PartOf(id);
  const std::lock_guard lock(part.mutex);
  const auto found = part.sessions.find(id);
  if (found == part.sessions.end() || found->second.first == nullptr) return returned;
  part.ended.push_front(std::exchange(found->second.first, nullptr));
  ended_.fetch_add(1);
  found->second.era += 1;
  TakeEnded(part, most, returned);
  return returned;
}

HoldBook::Ended HoldBook::EndSession(const SessionId& id, size_t most,
                                     std::optional<Instant> expired) {
  Ended ended;
  std::optional<SessionsByExpiry::iterator> listed;
  {
    Part& part = PartOf(id);
    const std::lock_guard lock(part.mutex);
    const auto found = part.sessions.find(id);
    if (found == part.sessions.end() || (expired && found->second.expires > *expired)) return ended;
    const Session& session = found->second;
    ended.was_there = true;
    ended.waited = session.waits > 0;
    if (session.ttl != kNever) listed = session.listed;
    if (session.first != nullptr) {
      part.ended.push_front(session.first);
      ended_.fetch_add(1);
    }
    part.sessions.erase(found);
    TakeEnded(part, most, ended.returned);
  }
  if (listed) {
    const std::lock_guard order(order_mutex_);
    sessions_by_expiry_.erase(*listed);
    room_.Leave(0, kBytesOfSession);
  }
  return ended;
}

void HoldBook::TakeEnded(Part& part, size_t most, std::vector<Returned>& returned) {
  while (!part.ended.empty() && returned.size() < most) {
    Entry* const entry = part.ended.front();
    part.ended.front() = entry->next;
    if (entry->next == nullptr) {
      part.ended.pop_front();
      ended_.fetch_sub(1);
    }
    const uint64_t copies = entry->hold.copies;
    room_.Leave(entry->hold.owner, BytesOf(entry->hold));
    returned.push_back(ReturnedOf(std::move(entry->hold), copies, 0));
    const Ticket name = entry->name;
    part.holds.erase(name);
    outstanding_.fetch_sub(1);
  }
}

std::vector<Returned> HoldBook::TakeEnded(size_t most) {
  std::vector<Returned> returned;
  if (!any_ended()) return returned;
  for (Part& part : parts_) {
    const std::lock_guard lock(part.mutex);
    TakeEnded(part, most, returned);
  }
  return returned;
}

// A renewal does not move a session in the list: that is done when its turn comes.
std::vector<SessionId> HoldBook::ExpiredSessions(Instant now, size_t most, bool& more) {
  std::vector<SessionId> expired;
  const std::lock_guard order(order_mutex_);
  auto it = sessions_by_expiry_.begin();
  const auto due = [&] { return it != sessions_by_expiry_.end() && it->first <= now; };
  for (size_t i = 0; i < most && due(); ++i) {
    const SessionId id = it->second;
    const auto here = it++;
    Part& part = PartOf(id);
    const std::lock_guard lock(part.mutex);
    const auto found = part.sessions.find(id);
    if (found == part.sessions.end()) continue;  // just ending
    if (found->second.expires <= now) {
      expired.push_back(id);
    } else {
      sessions_by_expiry_.erase(here);
      found->second.listed = sessions_by_expiry_.emplace(found->second.expires, id);
    }
  }
  more = more || due();
  return expired;
}

HoldBook::Sizes HoldBook::sizes() {
  Sizes sizes;
  for (Part& part : parts_) {
    const std::lock_guard lock(part.mutex);
    sizes.sessions += part.sessions.size();
    sizes.holds += part.holds.size();
  }
  const std::lock_guard lock(transfers_mutex_);
  sizes.transfers = transfers_.size();
  return sizes;
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

Ticket HoldBook::Add(Hold&& hold) {
  Part& part = PartOf(hold.session);
  const std::lock_guard lock(part.mutex);
  const auto session = part.sessions.find(hold.session);
  return session == part.sessions.end() ? Ticket{} : AddTo(part, session->second, std::move(hold));
}

Ticket HoldBook::AddTo(Part& part, Session& session, Hold&& hold) {
  room_.Enter(hold.owner, BytesOf(hold));
  auto entry = std::make_unique<Entry>();
  const Ticket name = entry->name = NewTicket(node_);
  entry->hold = std::move(hold);
  entry->era = session.era;
  entry->next = session.first;
  if (session.first != nullptr) session.first->previous = entry.get();
  session.first = entry.get();
  part.holds.try_emplace(name, std::move(entry));
  outstanding_.fetch_add(1);
  return name;
}

Result<HoldBook::Entry*> HoldBook::Find(Part& part, const SessionId& session, const Ticket& name,
                                        uint64_t& copies, const Reach* reach) {
  const auto found = part.holds.find(name);
  // A session that has ended holds nothing, though it may not have been taken out yet.
  const auto holder = part.sessions.find(session);
  if (found == part.holds.end() || found->second->hold.session != session ||
      holder == part.sessions.end() || found->second->era != holder->second.era ||
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

Hold HoldBook::Take(Part& part, Entry& entry, uint64_t copies) {
  entry.hold.copies -= copies;
  if (entry.hold.copies > 0) {
    Hold taken = entry.hold;
    taken.copies = copies;
    return taken;
  }
  if (entry.next != nullptr) entry.next->previous = entry.previous;
  Entry*& before = entry.previous != nullptr ? entry.previous->next
                                             : part.sessions.find(entry.hold.session)->second.first;
  before = entry.next;
  room_.Leave(entry.hold.owner, BytesOf(entry.hold));
  Hold all = std::move(entry.hold);
  all.copies = copies;
  const Ticket name = entry.name;
  part.holds.erase(name);
  outstanding_.fetch_sub(1);
  return all;
}

Returned HoldBook::ReturnedOf(Hold hold, uint64_t copies, uint64_t left) {
  return {std::move(hold.pools),  copies, left, hold.share, std::move(hold.queue),
          std::move(hold.subject)};
}

Result<Returned> HoldBook::Release(const SessionId& session, const Ticket& name, uint64_t copies,
                                   const Reach* reach) {
  Part& part = PartOf(session);
  const std::lock_guard lock(part.mutex);
  const Result<Entry*> found = Find(part, session, name, copies, reach);
  if (!found) return found.error();
  const uint64_t left = (*found)->hold.copies - copies;
  return ReturnedOf(Take(part, **found, copies), copies, left);
}

// ---- Transfers ----

Result<Ticket> HoldBook::Transfer(const SessionId& session, const Ticket& name, uint64_t copies,
                                  Instant expires, const Reach* reach) {
  Part& part = PartOf(session);
  const std::lock_guard lock(part.mutex);
  const Result<Entry*> found = Find(part, session, name, copies, reach);
  if (!found) return found.error();
  const Hold& hold = (*found)->hold;
  if (copies < hold.copies && !HasRoom(hold)) {
    return Error{Code::kOverloaded, "no memory is left for more holds and transfers", "copies"};
  }
  const Ticket transfer = NewTicket(node_);
  outstanding_.fetch_add(1);  // before the hold goes: what is on its way is never not counted
  const std::lock_guard transfers(transfers_mutex_);
  Transferred given{Take(part, **found, copies), transfers_by_expiry_.emplace(expires, transfer)};
  room_.Enter(given.hold.owner, BytesOf(given.hold));
  transfers_.try_emplace(transfer, std::move(given));
  return transfer;
}

Hold HoldBook::TakeTransfer(Transfers::iterator transfer) {
  Hold hold = std::move(transfer->second.hold);
  room_.Leave(hold.owner, BytesOf(hold));
  transfers_by_expiry_.erase(transfer->second.listed);
  transfers_.erase(transfer);
  return hold;
}

Result<Seized> HoldBook::Seize(const SessionId& id, const Ticket& transfer, Instant now,
                               const Reach* reach) {
  Part& part = PartOf(id);
  const std::lock_guard lock(part.mutex);
  const auto session = part.sessions.find(id);
  if (session == part.sessions.end()) {
    return Error{Code::kNotHeld, "there is no such session: it has ended, or never was", "session"};
  }
  const std::lock_guard transfers(transfers_mutex_);
  const auto found = transfers_.find(transfer);
  if (found == transfers_.end() || found->second.listed->first <= now ||
      (reach != nullptr && !reach->Has(found->second.hold.namespace_name()))) {
    return Error{Code::kUnknownTransfer,
                 "no such transfer: it was seized, has expired, or never was", "transfer"};
  }
  Hold hold = TakeTransfer(found);
  hold.session = id;
  Seized seized;
  const size_t cut = hold.queue.find('\0');
  seized.namespace_name = hold.namespace_name();
  if (cut != std::string::npos) seized.resource = hold.queue.substr(cut + 1);
  seized.subject = hold.subject;
  seized.copies = hold.copies;
  seized.groups = hold.groups;
  seized.hold = AddTo(part, session->second, std::move(hold));
  outstanding_.fetch_sub(1);
  return seized;
}

std::vector<Returned> HoldBook::ExpireTransfers(Instant now, size_t most, bool& more) {
  std::vector<Returned> returned;
  const std::lock_guard lock(transfers_mutex_);
  const auto due = [&] {
    return !transfers_by_expiry_.empty() && transfers_by_expiry_.begin()->first <= now;
  };
  while (due() && returned.size() < most) {
    Hold hold = TakeTransfer(transfers_.find(transfers_by_expiry_.begin()->second));
    const uint64_t copies = hold.copies;
    returned.push_back(ReturnedOf(std::move(hold), copies, 0));
    outstanding_.fetch_sub(1);
  }
  more = more || due();
  return returned;
}

}  // namespace weir
