// To whom a name belongs: claims to the names of others.
#include <algorithm>

#include "cluster/node.h"

namespace weir::cluster {
namespace {

using Kind = Message::Kind;

constexpr Duration kForgetClaim = std::chrono::seconds(10);

}  // namespace

bool Node::named() const {
  return std::any_of(members_.peers().begin(), members_.peers().end(),
                     [](const auto& one) { return one.second.accepts_me; });
}

// Whoever was asked before that may not have answered.
void Node::AcceptedBy(Peer& peer, Instant now) {
  if (std::exchange(peer.accepts_me, true) || copied_ || copying_.reader != nullptr) return;
  if (copying_.from == peer.number) copying_.asked = {};
  copy_at_ = std::min(copy_at_, now);
}

// Of a life that is not the accepted one. Only who says who he is can want a name.
std::optional<Rejection> Node::TakeClaim(Opened& opened, const std::string& from, Instant now) {
  Peer& peer = *opened.peer;
  const bool goes_on = peer.claim != nullptr && opened.by == peer.claim->opener.get();
  if (!goes_on) {
    const bool other = peer.claim != nullptr && After(peer.claim->heard, kClaimPatience) > now;
    if ((other && from != peer.heard_from) || opened.from.birthmark == 0) {
      return Rejection::kOldLife;
    }
    peer.claim = std::make_unique<Claim>();
    peer.claim->incarnation = opened.head.sender.incarnation;
    peer.claim->birthmark = opened.from.birthmark;
    peer.claim->since = peer.claim->next_challenge = now;
    peer.claim->opener = std::move(opened.opener);
  }
  Claim& claim = *peer.claim;
  claim.heard = now;
  if (!from.empty()) claim.from = from;
  if (claim.refused && claim.ends() <= now) {
    claim.refused = claim.fresh = false;
    claim.since = claim.next_challenge = now;
  }
  for (const Message& message : opened.messages) {
    if (!HandleClaim(message, peer, now)) return std::nullopt;  // there is no claim any more
  }
  if (peer.claim->next_challenge <= now) Challenge(peer, now);
  Judge(peer, now);
  return std::nullopt;
}

// False if the claim is over.
bool Node::HandleClaim(const Message& message, Peer& peer, Instant now) {
  Claim& claim = *peer.claim;
  const Origin life{peer.number, claim.incarnation};
  switch (message.kind) {
    case Kind::kPong:
      if (IsFresh(message, now) && (!peer.alive || message.stamp >= Stamp(claim.since))) {
        claim.fresh = true;
        claim.at_listed = claim.at_listed || message.stamp == peer.listed_stamp;
      }
      break;
    case Kind::kPing:
      if (claim.refused) TellHolder(peer, life, claim.from, now);
      break;
    case Kind::kWho: TellHolder(peer, life, claim.from, now); break;
    case Kind::kAsk:  // of one who is dead here the limiters know nobody to tell
      if (!claim.refused && peer.alive) AnswerAsk(peer, life, claim.from, now);
      break;
    case Kind::kBye: peer.claim = nullptr; return false;
    default: Reject(Rejection::kOldLife, &peer); break;
  }
  return true;
}

// Who wants the name, and who has it, wherever that may be.
void Node::Challenge(Peer& peer, Instant now) {
  Claim& claim = *peer.claim;
  if (claim.refused) return;
  claim.next_challenge = After(now, kChallengeEvery);
  GreetWherever(peer, claim.from, now);
}

void Node::Judge(Peer& peer, Instant now) {
  const Claim& claim = *peer.claim;
  if (claim.refused || !claim.fresh) return;
  const bool silent = After(claim.since, peer.alive ? kClaimPatience : kDeadPatience) <= now;
  const bool at_its_place = peer.incarnation == 0 ? claim.at_listed : claim.from == peer.heard_from;
  if (peer.left || at_its_place || silent) Accept(peer, now);
}

void Node::Accept(Peer& peer, Instant now) {
  const std::unique_ptr<Claim> claim = std::move(peer.claim);
  if (claim->incarnation <= peer.incarnation) {
    // The limiters take a life for over when a later one comes; this one is not later by its number,
    // so they forget the node first.
    peer.alive = false;
    UpdatePeers();
  }
  const bool same_number = claim->incarnation == peer.incarnation;
  peer.opener = std::move(claim->opener);
  peer.birthmark = claim->birthmark;
  peer.heard_from = claim->from;
  peer.latest_pong = 0;
  peer.address = peer.listed && claim->at_listed ? peer.listed_at : claim->from;
  if (!peer.listed) members_.MetAt(claim->from, peer);
  const Membership::News news = members_.Heard(peer, claim->incarnation, now);
  Met(peer, same_number ? Membership::News::kNewLife : news, now);
  Ping(peer, now);  // so that it knows
}

// The known life has answered a greeting with this stamp.
void Node::Refuse(Peer& peer, uint64_t stamp, Instant now) {
  Claim& claim = *peer.claim;
  if (claim.refused || stamp < Stamp(claim.since)) return;
  claim.refused = true;
  claim.since = now;
  names_refused_ += 1;
  peer.namesake_at = claim.from;
  Trouble(peer.namesake, NamesakeText(peer), now);
  TellHolder(peer, {peer.number, claim.incarnation}, claim.from, now);
}

void Node::TellHolder(Peer& peer, Origin asker, const std::string& address, Instant now) {
  if (peer.incarnation == 0) return;  // nobody is yet
  std::string plain;
  AppendHolder(peer.incarnation, peer.birthmark, !disputed(now),
               peer.heard_from.empty() ? peer.address : peer.heard_from, plain);
  SendTo(asker, address, peer, plain);
}

void Node::TickClaims(Instant now) {
  members_.ForEach([&](Peer& peer) {
    if (peer.claim == nullptr) return;
    Judge(peer, now);
    if (peer.claim == nullptr) return;
    const Claim& claim = *peer.claim;
    const bool over = !claim.refused && claim.ends() <= now;  // and it has not answered
    if (over || After(claim.heard, kForgetClaim) <= now) {
      peer.claim = nullptr;
    } else if (!claim.refused && claim.next_challenge <= now) {
      Challenge(peer, now);
    }
  });
}

Instant Node::NextClaim() const {
  Instant next = dispute_ ? std::min(dispute_->ends, dispute_->next_poll) : kEndOfTime;
  for (const auto& [number, peer] : members_.peers()) {
    if (peer.claim == nullptr || peer.claim->refused) continue;
    next = std::min({next, peer.claim->next_challenge, peer.claim->ends()});
  }
  return next;
}

}  // namespace weir::cluster
