#include "replication/debt_replica.h"

#include <algorithm>

#include "replication/homes.h"

namespace weir {

DebtReplica::DebtReplica(Origin self, const DebtOptions& options, Instant)
    : self_(self), options_(options) {}

// ---- Decisions ----

DebtReplica::Subject& DebtReplica::Make(const StateName& name) {
  Subject& subject = subjects_[name];
  subject.home = HomeOf(name.key);
  subject.to_all = subject.home == self_.node;
  return subject;
}

DebtReplica::Subject* DebtReplica::Limited(const StateName& name, const SharedBucket& limit) {
  const auto found = subjects_.find(name);
  if (found == subjects_.end() && subjects_.size() >= options_.most_subjects) {
    turned_away_ += 1;
    return nullptr;
  }
  Subject& subject = found == subjects_.end() ? Make(name) : found->second;
  if (subject.limited && subject.limit == limit) return &subject;
  subject.limit = limit;
  subject.ticks = Ticks(limit);
  subject.limited = true;
  subject.rows.Refold();
  return &subject;
}

bool DebtReplica::Admit(const Key& key, const SharedBucket& limit, uint64_t cost, Instant now) {
  if (Ticks(limit).Of(cost) > Level(key, limit, now)) return false;
  Take(key, limit, cost, now);
  return true;
}

void DebtReplica::Take(const Key& key, const SharedBucket& limit, uint64_t cost, Instant now) {
  if (cost == 0) return;
  const StateName name{key, limit.window};
  Subject* subject = Limited(name, limit);
  if (subject == nullptr) return;
  subject->rows.Charge(subject->ticks, self_, cost, now, segments_);
  subject->own_untold += cost;
  NoteChange(name, *subject, cost, now);
}

void DebtReplica::Refund(const StateName& name, uint64_t cost, Instant now) {
  const auto found = subjects_.find(name);
  if (found == subjects_.end()) return;
  Subject& subject = found->second;
  if (subject.rows.Refund(subject.ticks, self_, cost, now)) NoteChange(name, subject, 0, now);
}

int128 DebtReplica::Level(const Key& key, const SharedBucket& limit, Instant now) {
  const StateName name{key, limit.window};
  if (!subjects_.contains(name)) return Ticks(limit).Of(limit.capacity);
  Subject& subject = *Limited(name, limit);
  return subject.ticks.Of(limit.capacity) - subject.rows.Debt(subject.ticks, now);
}

uint64_t DebtReplica::Remaining(const Key& key, const SharedBucket& limit, Instant now) {
  return Ticks(limit).Tokens(Level(key, limit, now));
}

// ---- When it has to be told ----

void DebtReplica::NoteChange(const StateName& name, Subject& subject, uint64_t tokens,
                             Instant now) {
  const bool is_new = subject.forget_at == Instant{};
  subject.forget_at = std::max(subject.forget_at, ForgetAt(subject, now));
  if (is_new) forgetting_.emplace(subject.forget_at, name);
  subject.untold += tokens;
  TellIfUrgent(name, subject, now);
  if (subject.urgent || subject.waits) return;
  subject.waits = true;
  untold_.push_back(name);
  if (tell_at_ == kEndOfTime) tell_at_ = After(now, options_.patience);
}

// A home has gathered as much as there is room, or this node has its share of half the room.
void DebtReplica::TellIfUrgent(const StateName& name, Subject& subject, Instant now) {
  if (subject.urgent || subject.untold == 0 || peers_.empty()) return;
  const uint128 before = uint128{Room(subject, now)} + subject.untold;
  const bool all = subject.home == self_.node && uint128{subject.untold} * 2 >= before;
  const uint128 shares = uint128{subject.own_untold} * 2 * (peers_.size() + 1);
  if (all || (subject.own_untold > 0 && shares >= before)) TellNow(name, subject);
}

uint64_t DebtReplica::Room(Subject& subject, Instant now) {
  const int128 full = subject.ticks.Of(subject.limit.capacity);
  return subject.ticks.Tokens(full - subject.rows.Debt(subject.ticks, now));
}

void DebtReplica::TellNow(const StateName& name, Subject& subject) {
  if (subject.urgent) return;
  subject.urgent = true;
  urgent_.push_back(name);
}

void DebtReplica::ListTheUntold(Instant now) {
  pushes_ += urgent_.size();
  for (const StateName& name : urgent_) PutOnList(name, now);
  urgent_.clear();
  if (tell_at_ > now) return;
  for (const StateName& name : untold_) {
    const auto found = subjects_.find(name);
    if (found != subjects_.end()) found->second.waits = false;
    PutOnList(name, now);
  }
  untold_.clear();
  tell_at_ = kEndOfTime;
}

void DebtReplica::PutOnList(const StateName& name, Instant now) {
  const auto found = subjects_.find(name);
  if (found == subjects_.end()) return;
  Subject& subject = found->second;
  ChooseAudience(subject, now);
  subject.urgent = false;
  subject.untold = subject.own_untold = 0;
  bool any = false;
  for (size_t i = 0; i < subject.rows.rows().size(); ++i) {
    const DebtRows::Row& row = subject.rows.rows()[i];
    if (!row.untold) continue;
    if (row.place != 0) list_.Remove(row.place);
    subject.rows.SetPlace(i, list_.Add(name, row.origin, row.segment), false);
    any = true;
  }
  if (!any) return;
  for (Peer& peer : peers_) {
    if (subject.to_all || peer.node == subject.home) peer.due = true;
  }
  write_now_ = true;
}

// ---- Whom ----

uint32_t DebtReplica::HomeOf(const Key& key) const {
  uint32_t home = self_.node;
  for (const Peer& peer : peers_) home = HomeOfTwo(key, home, peer.node);
  return home;
}

DebtReplica::Peer* DebtReplica::FindPeer(uint32_t node) {
  const auto at = std::lower_bound(peers_.begin(), peers_.end(), node,
                                   [](const Peer& peer, uint32_t n) { return peer.node < n; });
  return at == peers_.end() || at->node != node ? nullptr : &*at;
}
bool DebtReplica::IsPeer(uint32_t node) const {
  return const_cast<DebtReplica*>(this)->FindPeer(node) != nullptr;
}

void DebtReplica::SetPeers(std::vector<uint32_t> nodes) {
  std::sort(nodes.begin(), nodes.end());
  std::vector<Peer> peers;
  std::vector<uint32_t> fresh;
  for (const uint32_t node : nodes) {
    if (node == self_.node || (!peers.empty() && peers.back().node == node)) continue;
    if (const Peer* known = FindPeer(node)) {
      peers.push_back(*known);
    } else {
      peers.push_back({.node = node, .due = list_.last() > 0});
      fresh.push_back(node);
    }
  }
  std::swap(peers_, peers);
  std::erase_if(peers, [this](const Peer& peer) { return IsPeer(peer.node); });
  if (subjects_.empty() || (fresh.empty() && peers.empty())) return;
  for (auto& [name, subject] : subjects_) {
    uint32_t home = subject.home;
    if (home != self_.node && !IsPeer(home)) home = HomeOf(name.key);
    for (const uint32_t node : fresh) home = HomeOfTwo(name.key, home, node);
    if (home != subject.home) MoveHome(name, subject, home);
  }
  if (!peers.empty()) Adopt();
  if (!peers_.empty()) next_heartbeat_ = Instant::min();
}

// It is handed what this node has to tell; whatever was told to all stays so until all know it.
void DebtReplica::MoveHome(const StateName& name, Subject& subject, uint32_t home) {
  subject.home = home;
  subject.to_all = subject.to_all || home == self_.node;
  TellAgain(subject);
  TellNow(name, subject);
}

// Whatever this node has to tell of it.
void DebtReplica::TellAgain(Subject& subject) {
  for (size_t i = 0; i < subject.rows.rows().size(); ++i) {
    const DebtRows::Row& row = subject.rows.rows()[i];
    if (row.origin == self_ || row.place != 0) subject.rows.SetPlace(i, row.place, true);
  }
}

bool DebtReplica::IsOver(Origin life) const {
  if (life.node == self_.node) return life.incarnation < self_.incarnation;
  const Peer* peer = const_cast<DebtReplica*>(this)->FindPeer(life.node);
  return peer == nullptr || life.incarnation < peer->incarnation;
}

// Rows of lives that are over, as if they were this node's own: their owners do not tell them any
// more, and whoever did may be gone too.
void DebtReplica::Adopt() {
  for (auto& [name, subject] : subjects_) {
    bool any = false;
    for (size_t i = 0; i < subject.rows.rows().size(); ++i) {
      const DebtRows::Row& row = subject.rows.rows()[i];
      if (row.place != 0 || row.untold || !IsOver(row.origin)) continue;
      subject.rows.SetPlace(i, 0, true);
      any = true;
    }
    if (any) TellNow(name, subject);
  }
}

// Everybody, if this is the home, or the home does not answer, or it would have to tell them at once:
// that is as many envelopes, and sooner. Back to the home alone when all have confirmed what they
// were told; it is handed all own rows then, for it has to tell them from now on.
void DebtReplica::ChooseAudience(Subject& subject, Instant now) {
  const Peer* home = FindPeer(subject.home);
  const bool leaves_none = subject.untold > 0 && subject.untold >= Room(subject, now);
  if (home == nullptr || home->deaf || leaves_none) {
    if (!subject.to_all) TellAgain(subject);  // the home may not have told all that it was handed
    subject.to_all = true;
    return;
  }
  if (!subject.to_all || !AllConfirmed(subject)) return;
  subject.to_all = false;
  for (size_t i = 0; i < subject.rows.rows().size(); ++i) {
    const DebtRows::Row& row = subject.rows.rows()[i];
    if (row.origin == self_ || row.place == 0) continue;
    list_.Remove(row.place);
    subject.rows.SetPlace(i, 0, false);
  }
  TellAgain(subject);
}

bool DebtReplica::AllConfirmed(const Subject& subject) const {
  uint64_t least = list_.last();
  for (const Peer& peer : peers_) least = std::min(least, peer.confirmed);
  return std::all_of(subject.rows.rows().begin(), subject.rows.rows().end(),
                     [&](const DebtRows::Row& row) {
                       return row.place <= least && (row.origin == self_ || !row.untold);
                     });
}

void DebtReplica::FindDeaf(Instant now) {
  for (Peer& peer : peers_) {
    if (DeafAt(peer) > now) continue;
    // First what it was handed since it was last heard; if it stays deaf, all: what it took in
    // before may be lost with it.
    TellForHome(peer.node, peer.deaf ? 0 : peer.confirmed);
    peer.lost = peer.deaf;
    peer.deaf = true;
  }
  SetNextDeaf();
}

// When it is to be found out whether it has answered.
Instant DebtReplica::DeafAt(const Peer& peer) const {
  if (peer.asked_since == kEndOfTime || peer.lost) return kEndOfTime;
  const Duration patience = std::max(options_.answer_patience, 4 * peer.answers_in);
  return After(peer.asked_since, peer.deaf ? patience + options_.heartbeat : patience);
}

void DebtReplica::SetNextDeaf() {
  next_deaf_ = kEndOfTime;
  for (const Peer& peer : peers_) next_deaf_ = std::min(next_deaf_, DeafAt(peer));
}

// Tells everybody what this home was handed.
void DebtReplica::TellForHome(uint32_t home, uint64_t after) {
  for (const TellingList::Entry& entry : list_.After(after)) {
    if (entry.gone()) continue;
    Subject& subject = subjects_.at(entry.name);
    if (subject.home != home || subject.to_all) continue;
    subject.to_all = true;
    TellAgain(subject);
    TellNow(entry.name, subject);
  }
}

// ---- Forgetting ----

// When everybody has heard of all, and nothing of it counts any more. Not at once: what is over by
// itself may not be together with rows that are still to come.
Instant DebtReplica::ForgetAt(Subject& subject, Instant now) const {
  if (subject.limit.limit == 0) return After(now, subject.limit.per);
  return std::max(After(subject.rows.ZeroAt(subject.ticks, now), options_.grace),
                  After(now, options_.grace / 2));
}

void DebtReplica::Forget(Instant now) {
  const auto off_list = [this](const DebtRows::Row& row) {
    if (row.place != 0) list_.Remove(row.place);
  };
  while (!forgetting_.empty() && forgetting_.top().first <= now) {
    const StateName name = forgetting_.top().second;
    forgetting_.pop();
    const auto found = subjects_.find(name);
    if (found == subjects_.end()) continue;
    Subject& subject = found->second;
    const bool told = !subject.urgent && !subject.waits;
    if (subject.forget_at <= now && told) {
      for (const DebtRows::Row& row : subject.rows.rows()) off_list(row);
      subjects_.erase(found);
      continue;
    }
    if (subject.limited && told) {
      const Instant before = After(now, -options_.grace);
      for (const DebtRows::Row& row : subject.rows.DropEnded(subject.ticks, before, now)) {
        off_list(row);
      }
    }
    forgetting_.emplace(std::max(subject.forget_at, After(now, options_.heartbeat)), name);
  }
}

const DebtRows* DebtReplica::Find(const Key& key) const {
  const auto found = subjects_.find({key});
  return found == subjects_.end() ? nullptr : &found->second.rows;
}

size_t DebtReplica::bytes() const {
  size_t bytes = subjects_.capacity() * (sizeof(StateName) + sizeof(Subject) + 1);
  for (const auto& [name, subject] : subjects_) bytes += subject.rows.heap_bytes();
  bytes += peers_.capacity() * sizeof(Peer) + list_.bytes();
  bytes += (untold_.capacity() + urgent_.capacity()) * sizeof(StateName);
  return bytes + forgetting_.size() * sizeof(Due);
}

}  // namespace weir
