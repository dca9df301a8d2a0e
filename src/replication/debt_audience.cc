// Whom a DebtReplica tells: the home of a key, or everybody.
#include <algorithm>
#include <utility>

#include "replication/debt_replica.h"
#include "replication/homes.h"

namespace weir {

uint32_t DebtReplica::HomeOf(const Key& key) const {
  uint32_t home = self_.node;
  for (const Peer& peer : peers_) home = HomeOfTwo(key, home, peer.node);
  return home;
}

const DebtReplica::Peer* DebtReplica::FindPeer(uint32_t node) const {
  const auto at = std::lower_bound(peers_.begin(), peers_.end(), node,
                                   [](const Peer& peer, uint32_t n) { return peer.node < n; });
  return at == peers_.end() || at->node != node ? nullptr : &*at;
}
DebtReplica::Peer* DebtReplica::FindPeer(uint32_t node) {
  return const_cast<Peer*>(std::as_const(*this).FindPeer(node));
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
  std::erase_if(peers, [this](const Peer& peer) { return FindPeer(peer.node) != nullptr; });
  if (subjects_.empty() || (fresh.empty() && peers.empty())) return;
  for (auto& [name, subject] : subjects_) {
    uint32_t home = subject.home;
    if (home != self_.node && FindPeer(home) == nullptr) home = HomeOf(name.key);
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
  const Peer* peer = FindPeer(life.node);
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

// Everybody, if this is the home, or the home does not answer, or there is no time to wait for it,
// or it would have to tell them at once: that is as many envelopes, and sooner. Back to the home
// alone when all have confirmed what they were told; it is handed all own rows then, for it has to
// tell them from now on.
void DebtReplica::ChooseAudience(Subject& subject, Instant now) {
  const Peer* home = FindPeer(subject.home);
  const bool leaves_none = subject.untold > 0 && subject.untold >= Room(subject, now);
  if (home == nullptr || home->deaf || leaving_ || leaves_none) {
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

}  // namespace weir
