#include "limiter/hold_book.h"

namespace weir {

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

SessionId HoldBook::OpenSession(Duration ttl, Instant now) {
  const SessionId id = NewTicket(node_);
  Session& session = sessions_[id];
  session.ttl = ttl;
  if (ttl != kNever) session.expires = After(now, ttl);
  return id;
}

bool HoldBook::Renew(const SessionId& id, Instant now) {
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) return false;
  Session& session = found->second;
  if (session.ttl != kNever) session.expires = After(now, session.ttl);
  return true;
}

std::vector<Returned> HoldBook::EndSession(const SessionId& id) {
  std::vector<Returned> returned;
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) return returned;
  for (Entry* entry = found->second.first; entry != nullptr;) {
    const uint64_t copies = entry->hold.copies;
    returned.push_back(ReturnedOf(std::move(entry->hold), copies, 0));
    const Ticket name = entry->name;
    entry = entry->next;
    holds_.erase(name);
  }
  sessions_.erase(found);
  Tell();
  return returned;
}

Ticket HoldBook::Add(Hold hold) {
  Session& session = sessions_[hold.session];
  auto entry = std::make_unique<Entry>();
  const Ticket name = entry->name = NewTicket(node_);
  entry->hold = std::move(hold);
  entry->next = session.first;
  if (session.first != nullptr) session.first->previous = entry.get();
  session.first = entry.get();
  holds_.try_emplace(name, std::move(entry));
  Tell();
  return name;
}

Result<HoldBook::Entry*> HoldBook::Find(const SessionId& session, const Ticket& name,
                                        uint64_t& copies) {
  const auto found = holds_.find(name);
  if (found == holds_.end() || found->second->hold.session != session) {
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

Result<Returned> HoldBook::Release(const SessionId& session, const Ticket& name, uint64_t copies) {
  const Result<Entry*> found = Find(session, name, copies);
  if (!found) return found.error();
  const uint64_t left = (*found)->hold.copies - copies;
  return ReturnedOf(Take(**found, copies), copies, left);
}

Result<Ticket> HoldBook::Transfer(const SessionId& session, const Ticket& name, uint64_t copies,
                                  Instant expires) {
  const Result<Entry*> found = Find(session, name, copies);
  if (!found) return found.error();
  const Ticket transfer = NewTicket(node_);
  transfers_.try_emplace(transfer, Transferred{Take(**found, copies), expires});
  transfers_by_expiry_.emplace(expires, transfer);
  Tell();
  return transfer;
}

Result<Seized> HoldBook::Seize(const SessionId& session, const Ticket& transfer, Instant now) {
  const auto found = transfers_.find(transfer);
  if (found == transfers_.end() || found->second.expires <= now) {
    return Error{Code::kUnknownTransfer,
                 "no such transfer: it was seized, has expired, or never was", "transfer"};
  }
  Hold hold = std::move(found->second.hold);
  transfers_.erase(found);
  hold.session = session;
  Seized seized;
  const size_t cut = hold.queue.find('\0');
  seized.namespace_name = hold.queue.substr(0, cut);
  if (cut != std::string::npos) seized.resource = hold.queue.substr(cut + 1);
  seized.subject = hold.subject;
  seized.copies = hold.copies;
  seized.groups = hold.groups;
  seized.hold = Add(std::move(hold));
  return seized;
}

std::vector<SessionId> HoldBook::ExpiredSessions(Instant now) const {
  std::vector<SessionId> expired;
  for (const auto& [id, session] : sessions_) {
    if (session.expires <= now) expired.push_back(id);
  }
  return expired;
}

std::vector<Returned> HoldBook::ExpireTransfers(Instant now) {
  std::vector<Returned> returned;
  while (!transfers_by_expiry_.empty() && transfers_by_expiry_.begin()->first <= now) {
    const Ticket transfer = transfers_by_expiry_.begin()->second;
    transfers_by_expiry_.erase(transfers_by_expiry_.begin());
    const auto found = transfers_.find(transfer);
    if (found == transfers_.end()) continue;
    const uint64_t copies = found->second.hold.copies;
    returned.push_back(ReturnedOf(std::move(found->second.hold), copies, 0));
    transfers_.erase(found);
  }
  Tell();
  return returned;
}

}  // namespace weir
