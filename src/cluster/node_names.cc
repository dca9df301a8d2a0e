// To whom a name belongs: claims to names of others, and disputes about this node's own.
#include <algorithm>

#include "cluster/node.h"

namespace weir::cluster {
namespace {

using Kind = Message::Kind;

constexpr Duration kForgetClaim = std::chrono::seconds(10);
constexpr Duration kChallengeNamesakeEvery = std::chrono::seconds(1);

std::string Count(size_t n, std::string_view what) {
  return std::to_string(n) + " " + std::string(what) + (n == 1 ? "" : "s");
}

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

// ---- Names of others ----

// Of a life that is not the accepted one. Only who says who he is can want a name.
std::optional<Rejection> Node::TakeClaim(Opened& opened, const std::string& from, Instant now) {
  Peer& peer = *opened.peer;
  const bool goes_on = peer.claim != nullptr && opened.by == peer.claim->opener.get();
  if (!goes_on) {
    const bool other = peer.claim != nullptr && After(peer.claim->heard, kClaimPatience) > now;
    if (other || opened.from.birthmark == 0) return Rejection::kOldLife;
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
      if (claim.refused) TellHolder(peer, life, claim.from);
      break;
    case Kind::kWho: TellHolder(peer, life, claim.from); break;
    case Kind::kAsk:  // of one who is dead here the limiters know nobody to tell
      if (!claim.refused && peer.alive) AnswerAsk(peer, life, claim.from, now);
      break;
    case Kind::kBye: peer.claim = nullptr; return false;
    default: Reject(Rejection::kOldLife, &peer); break;
  }
  return true;
}

// Who wants the name, and who has it, wherever that may be. By its stamp an answer tells to which
// greeting it is.
void Node::Challenge(Peer& peer, Instant now) {
  Claim& claim = *peer.claim;
  if (claim.refused) return;
  claim.next_challenge = After(now, kChallengeEvery);
  std::set<std::string> places = {claim.from, peer.address, peer.heard_from, peer.listed_at};
  places.erase("");
  uint64_t stamp = Stamp(now);
  for (const std::string& place : places) {
    if (place == peer.listed_at) peer.listed_stamp = stamp;
    Greet(place, stamp++);
  }
}

void Node::Judge(Peer& peer, Instant now) {
  const Claim& claim = *peer.claim;
  if (claim.refused || !claim.fresh) return;
  const bool silent = claim.ends() <= now;
  if (!peer.alive || claim.from == peer.heard_from || silent) Accept(peer, now);
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
  if (!peer.listed || !claim->at_listed) peer.address = claim->from;
  if (!peer.listed) members_.MetAt(claim->from, peer);
  const Membership::News news = members_.Heard(peer, claim->incarnation, now);
  Met(peer, same_number ? Membership::News::kNewLife : news, now);
  std::string plain;  // so that it knows
  AppendPing(Stamp(now), identity(), plain);
  Send(peer, plain);
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
  TellHolder(peer, {peer.number, claim.incarnation}, claim.from);
}

void Node::TellHolder(Peer& peer, Origin asker, const std::string& address) {
  std::string plain;
  AppendHolder(peer.incarnation, peer.birthmark,
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

// ---- This node's own ----

// Who bears this node's name is greeted, for what comes may be from the past; who answers that is there.
// None: it is this node itself.
std::optional<Rejection> Node::TakeNamesake(const Opened& opened, const std::string& from,
                                            Instant now) {
  const uint64_t mark = opened.from.birthmark;
  const uint32_t life = opened.head.sender.incarnation;
  if (life == self_.incarnation && mark == options_.birthmark) return std::nullopt;
  if (mark == 0) return Rejection::kImpostor;
  if (opened.head.for_anybody) AnswerGreeting(opened, from);
  const bool answers =
      std::any_of(opened.messages.begin(), opened.messages.end(), [&](const Message& message) {
        return message.kind == Kind::kPong && challenge_ != 0 && message.stamp == challenge_;
      });
  if (answers) {
    challenge_ = 0;
    DisputeWith({life, mark, from}, now);
    Decide(now);
  } else if (next_challenge_ <= now) {
    next_challenge_ = After(now, kChallengeNamesakeEvery);
    challenge_ = Stamp(now);
    Greet(from, challenge_);
  }
  return Rejection::kImpostor;
}

void Node::HearHolder(const Message& message, Peer& peer, Instant now) {
  const bool me = message.life == self_.incarnation && message.from.birthmark == options_.birthmark;
  peer.accepts_me = me;
  if (!me) DisputeWith({message.life, message.from.birthmark, std::string(message.body)}, now);
  if (dispute_) dispute_->votes[peer.number] = me;
  Decide(now);
}

void Node::DisputeWith(const Namesake& rival, Instant now) {
  namesake_ = rival;
  if (dispute_) return;
  names_disputed_ += 1;
  dispute_ = Dispute{rival, After(now, Dispute::kPatience), now, {}};
}

// Those who have not answered yet.
void Node::Poll(Instant now) {
  if (dispute_->next_poll > now) return;
  dispute_->next_poll = After(now, Dispute::kAskEvery);
  std::string plain;
  AppendBare(Kind::kWho, plain);
  for (const uint32_t number : members_.Alive()) {
    if (!dispute_->votes.contains(number)) Send(*members_.Find(number), plain);
  }
}

void Node::Decide(Instant now) {
  if (!dispute_) return;
  const std::vector<uint32_t> alive = members_.Alive();
  const bool all = std::all_of(alive.begin(), alive.end(),
                               [&](uint32_t number) { return dispute_->votes.contains(number); });
  if (!all && dispute_->ends > now) return Poll(now);
  const Dispute decided = *std::exchange(dispute_, std::nullopt);
  const std::string where = decided.rival.address.empty() ? "" : " at " + decided.rival.address;
  if (!decided.MustYield(self_as_namesake())) {
    return Trouble(namesakes_, OwnNamesakeText(), now);
  }
  yielded_ = "another node is \"" + options_.id + "\"" + where + ": it lives, and of " +
             Count(decided.votes.size(), "member") + " that answered " +
             std::to_string(decided.Against()) + " took it for the node of that name and " +
             std::to_string(decided.For()) +
             " this one. This one ends: give it a name of its own (--node), or stop the other";
  Warn(yielded_);
}

}  // namespace weir::cluster
