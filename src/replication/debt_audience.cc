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
  bool fresh = false;
  for (const uint32_t node : nodes) {
    if (node == self_.node || (!peers.empty() && peers.back().node == node)) continue;
    if (const Peer* known = FindPeer(node)) {
      peers.push_back(*known);
    } else {
      peers.push_back({.node = node, .due = list_.last() > 0});
      fresh = true;
    }
  }
  std::swap(peers_, peers);
  std::erase_if(peers, [this](const Peer& peer) { return FindPeer(peer.node) != nullptr; });
  if (subjects_.empty() || (!fresh && peers.empty())) return;
  BeginLayout();
  for (const Peer& peer : peers) {
    std::erase_if(left_, [&](const Left& left) { return left.node == peer.node; });
    left_.push_back({peer.node, layout_});
    ended_ = layout_;
  }
  if (!peers_.empty()) next_heartbeat_ = Instant::min();
  TurnSteps steps;
  CatchUp(steps.catch_up);
}

void DebtReplica::BeginLayout() {
  layout_ += 1;
  behind_ = SIZE_MAX;
}

// It may be there again.
bool DebtReplica::HasLeft(uint32_t node, uint32_t since) const {
  return std::any_of(left_.begin(), left_.end(),
                     [&](const Left& left) { return left.node == node && left.layout > since; });
}

bool DebtReplica::Bring(const StateName& name, Subject& subject) {
  const uint32_t since = subject.layout;
  if (since == layout_) return false;
  subject.layout = layout_ & kMostLayouts;
  const uint32_t home = HomeOf(name.key);
  const bool moves = home != subject.home || HasLeft(subject.home, since);
  if (moves) MoveHome(subject, home);
  const bool adopts = since < ended_ && Adopt(subject, since);
  if (moves || adopts) Retell(name, subject);
  return moves || adopts;
}

void DebtReplica::CatchUp(Steps& steps) {
  for (; subjects_.Before(behind_) != nullptr; --behind_) {
    if (!steps.any()) return;
    auto& [name, subject] = subjects_.begin()[static_cast<ptrdiff_t>(behind_ - 1)];
    steps.Take(1 + peers_.size() / 8);
    if (Bring(name, subject)) steps.Take(Steps::kOfKey);
  }
  left_.clear();
}

// It is handed what this node has to tell; whatever was told to all stays so until all know it.
void DebtReplica::MoveHome(Subject& subject, uint32_t home) {
  subject.home = home;
  subject.to_all = subject.to_all || home == self_.node;
  TellAgain(subject);
}

void DebtReplica::Retell(const StateName& name, Subject& subject) {
  if (subject.again) return;
  subject.again = true;
  again_.names.push_back(name);
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
// more, and whoever did may be gone too. Of who left since, all that is known was so before.
bool DebtReplica::Adopt(Subject& subject, uint32_t since) {
  bool any = false;
  for (size_t i = 0; i < subject.rows.rows().size(); ++i) {
    const DebtRows::Row& row = subject.rows.rows()[i];
    if (row.place != 0 || row.untold) continue;
    if (!IsOver(row.origin) && !HasLeft(row.origin.node, since)) continue;
    subject.rows.SetPlace(i, 0, true);
    any = true;
  }
  return any;
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
    peer.told_for = peer.deaf ? 0 : peer.confirmed;
    tells_for_deaf_ = true;
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

// Tells everybody what those were handed that do not answer.
void DebtReplica::TellForDeaf(Steps& steps) {
  if (!tells_for_deaf_) return;
  for (Peer& peer : peers_) {
    if (peer.told_for == kNothing) continue;
    bool all = true;
    list_.After(peer.told_for, [&](const TellingList::Entry& entry) {
      all = steps.any();
      if (!all) return false;
      steps.Take(entry.gone() ? 1 : Steps::kOfLookup);
      peer.told_for = entry.number;
      if (entry.gone()) return true;
      Subject& subject = subjects_.at(entry.name);
      Bring(entry.name, subject);
      if (subject.home != peer.node || subject.to_all) return true;
      steps.Take(Steps::kOfKey);
      subject.to_all = true;
      TellAgain(subject);
      Retell(entry.name, subject);
      return true;
    });
    if (!all) return;
    peer.told_for = kNothing;
  }
  tells_for_deaf_ = false;
}

}  // namespace weir
