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
  for (const Ticket& name : found->second.holds) {
    const auto hold = holds_.find(name);
    const uint64_t copies = hold->second.copies;
    returned.push_back(ReturnedOf(std::move(hold->second), copies, 0));
    holds_.erase(hold);
  }
  sessions_.erase(found);
  Tell();
  return returned;
}

Ticket HoldBook::Add(Hold hold) {
  const Ticket name = NewTicket(node_);
  sessions_[hold.session].holds.insert(name);
  holds_.try_emplace(name, std::move(hold));
  Tell();
  return name;
}

Result<Hold*> HoldBook::Find(const SessionId& session, const Ticket& name, uint64_t& copies) {
  const auto found = holds_.find(name);
  if (found == holds_.end() || found->second.session != session) {
    return Error{Code::kNotHeld, "this session has no such hold: it was released, or never was",
                 "hold"};
  }
  Hold& hold = found->second;
  if (copies > hold.copies) {
    return Error{Code::kBadRequest,
                 "the hold has " + std::to_string(hold.copies) + " copies, not so many", "copies"};
  }
  if (copies == 0) copies = hold.copies;
  return &hold;
}

void HoldBook::Shrink(const Ticket& name, Hold& hold, uint64_t copies) {
  hold.copies -= copies;
  if (hold.copies > 0) return;
  sessions_[hold.session].holds.erase(name);
  holds_.erase(name);
  Tell();
}

Returned HoldBook::ReturnedOf(Hold hold, uint64_t copies, uint64_t left) {
  return {std::move(hold.pools),  copies, left, hold.share, std::move(hold.queue),
          std::move(hold.subject)};
}

Result<Returned> HoldBook::Release(const SessionId& session, const Ticket& name, uint64_t copies) {
  const Result<Hold*> hold = Find(session, name, copies);
  if (!hold) return hold.error();
  const uint64_t left = (*hold)->copies - copies;
  if (left > 0) {
    (*hold)->copies = left;
    return ReturnedOf(**hold, copies, left);
  }
  Hold gone = std::move(**hold);
  Shrink(name, **hold, copies);
  return ReturnedOf(std::move(gone), copies, 0);
}

Result<Ticket> HoldBook::Transfer(const SessionId& session, const Ticket& name, uint64_t copies,
                                  Instant expires) {
  const Result<Hold*> hold = Find(session, name, copies);
  if (!hold) return hold.error();
  const Ticket transfer = NewTicket(node_);
  Hold moved = **hold;
  moved.copies = copies;
  transfers_.try_emplace(transfer, Transferred{std::move(moved), expires});
  transfers_by_expiry_.emplace(expires, transfer);
  Shrink(name, **hold, copies);
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
