// Disputes about this node's own name (dispute.h).
#include <algorithm>

#include "cluster/node.h"

namespace weir::cluster {
namespace {

using Kind = Message::Kind;
using Vote = Dispute::Vote;

constexpr Duration kGreetNamesakeEvery = std::chrono::seconds(1);
// Those who bear this node's name show themselves again within it.
constexpr Duration kDisputeLasts = std::chrono::seconds(10);
// So long members must take a rival for the node of this name that cannot be reached from here: one that has ended
// is dead to them by then.
constexpr Duration kUnconfirmed = std::chrono::seconds(6);

std::string Count(size_t n, std::string_view what) {
  return std::to_string(n) + " " + std::string(what) + (n == 1 ? "" : "s");
}

bool Has(const std::vector<Message>& messages, Kind kind) {
  return std::any_of(messages.begin(), messages.end(),
                     [kind](const Message& message) { return message.kind == kind; });
}

bool Has(const std::vector<Message>& messages, Kind kind, uint64_t stamp) {
  return std::any_of(messages.begin(), messages.end(), [=](const Message& message) {
    return message.kind == kind && message.stamp == stamp;
  });
}

}  // namespace

bool Node::disputed(Instant now) const {
  return dispute_.has_value() || namesakes_.now(now, kDisputeLasts);
}

// Who bears this node's name is greeted, for what comes may be from the past; who answers that is there.
// None: it is this node itself.
std::optional<Rejection> Node::TakeNamesake(const Opened& opened, const std::string& from,
                                            Instant now) {
  const uint64_t mark = opened.from.birthmark;
  const uint32_t life = opened.head.sender.incarnation;
  if (life == self_.incarnation && mark == options_.birthmark) {
    next_call_of_self_ = kEndOfTime;
    members_.MetSelfAt(from);
    return std::nullopt;
  }
  if (mark == 0) return Rejection::kImpostor;
  if (opened.head.for_anybody) AnswerGreeting(opened, from);
  const Namesake rival{life, mark, from, Has(opened.messages, Kind::kHolder)};
  const bool introduces = Has(opened.messages, Kind::kPlace) && next_introduction_ <= now;
  if (introduces) next_introduction_ = After(now, kGreetNamesakeEvery);
  for (const Message& message : opened.messages) {
    if (message.kind == Kind::kYield) HearYield(rival, message.stamp, now);
    if (message.kind == Kind::kPlace && introduces) GreetAtPlace(message, now);
  }
  if (dispute_ && dispute_->confirming && Has(opened.messages, Kind::kStay, dispute_->stamp)) {
    Yield(*std::exchange(dispute_, std::nullopt));
  } else if (challenge_ != 0 && Has(opened.messages, Kind::kPong, challenge_)) {
    challenge_ = 0;
    Introduce(rival, now);
    DisputeWith(rival, now);
    Decide(now);
  } else if (next_challenge_ <= now) {
    next_challenge_ = After(now, kGreetNamesakeEvery);
    challenge_ = Stamp(now);
    Greet(from, challenge_);
  }
  return Rejection::kImpostor;
}

// It may know nobody but this node: others are to tell it who holds the name.
void Node::Introduce(const Namesake& rival, Instant now) {
  std::string plain;
  AppendPing(Stamp(now), identity(), plain);
  AppendPlaces(self_.node, plain);
  transport_.Send(rival.address, sealer_.SealFor({self_.node, rival.incarnation}, plain));
}

void Node::HearHolder(const Message& message, Peer& peer, Instant now) {
  const bool me = message.life == self_.incarnation && message.from.birthmark == options_.birthmark;
  peer.accepts_me = me;
  // Whoever is accepted by one has joined.
  if (!me)
    DisputeWith({message.life, message.from.birthmark, std::string(message.body), true}, now);
  const Vote vote = !message.votes ? Vote::kNone : me ? Vote::kFor : Vote::kAgainst;
  if (dispute_) dispute_->votes[peer.number] = vote;
  Decide(now);
}

void Node::DisputeWith(const Namesake& rival, Instant now) {
  namesake_ = rival;
  if (dispute_) {
    dispute_->rival.joined = dispute_->rival.joined || rival.joined;
    return;
  }
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
  if (dispute_->confirming) return Confirm(now);
  const std::vector<uint32_t> alive = members_.Alive();
  const bool all = std::all_of(alive.begin(), alive.end(),
                               [&](uint32_t number) { return dispute_->votes.contains(number); });
  if (!all && dispute_->ends > now) return Poll(now);
  const bool must_yield = dispute_->MustYield(self_as_namesake());
  if (!must_yield) unconfirmed_ = {};
  if (!must_yield || promised_ > now) return Stay(now);
  dispute_->confirming = true;
  dispute_->ends = After(now, Dispute::kPatience);
  dispute_->next_poll = now;
  dispute_->stamp = Stamp(now);
  Confirm(now);
}

// The members have been asked one after the other, and may have changed their mind meanwhile: the rival must say that
// it stays, or both might yield.
void Node::Confirm(Instant now) {
  if (dispute_->ends <= now) {
    if (!unconfirmed_.now(now, kDisputeLasts)) unconfirmed_.since = now;
    unconfirmed_.seen = now;
    const bool long_enough = After(unconfirmed_.since, kUnconfirmed) <= now;
    if (long_enough && dispute_->Against() > dispute_->For()) {
      return Yield(*std::exchange(dispute_, std::nullopt));
    }
    return Stay(now);
  }
  if (dispute_->next_poll > now) return;
  dispute_->next_poll = After(now, Dispute::kAskEvery);
  SendToNamesake(dispute_->rival, Kind::kYield, dispute_->stamp);
}

// A rival wants to yield to this node. Of two that both want to, the one that started earlier stays.
void Node::HearYield(const Namesake& rival, uint64_t stamp, Instant now) {
  if (dispute_ && dispute_->confirming) {
    if (rival.StartedBefore(self_as_namesake())) return;
    dispute_.reset();
  }
  promised_ = After(now, 2 * Dispute::kPatience);
  SendToNamesake(rival, Kind::kStay, stamp);
}

void Node::SendToNamesake(const Namesake& rival, Kind kind, uint64_t stamp) {
  if (rival.address.empty()) return;
  std::string plain;
  AppendStamped(kind, stamp, identity(), plain);
  transport_.Send(rival.address, sealer_.SealFor({self_.node, rival.incarnation}, plain));
}

void Node::Stay(Instant now) {
  dispute_.reset();
  Trouble(namesakes_, OwnNamesakeText(), now);
}

void Node::Yield(const Dispute& decided) {
  const std::string where = decided.rival.address.empty() ? "" : " at " + decided.rival.address;
  yielded_ = "another node is \"" + options_.id + "\"" + where + ": it lives, and of " +
             Count(decided.For() + decided.Against(), "member") + " that answered " +
             std::to_string(decided.Against()) + " took it for the node of that name and " +
             std::to_string(decided.For()) +
             " this one. This one ends: give it a name of its own (--node), or stop the other";
  Warn(yielded_);
}

}  // namespace weir::cluster
