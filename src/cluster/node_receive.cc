#include <algorithm>

#include "cluster/node.h"

namespace weir::cluster {
namespace {

using Kind = Message::Kind;

constexpr uint64_t kLongestRoundTrip = 30'000'000'000;  // ns
constexpr uint64_t kFreshFor = 5'000'000'000;           // ns, an answer to a greeting
constexpr uint64_t kGreetingsAtOnce = 4;                // their stamps follow one another
constexpr size_t kMostPlaces = 8;                       // told at a time, in turn
constexpr size_t kMostPlaceBytes = 100;
static_assert(kMostPlaces * (kMostPlaceBytes + kAroundPlaceBytes) + 200 < kMostPlainBytes);
constexpr Duration kAskWhereEvery = std::chrono::seconds(1);
// Where a peer is that speaks from elsewhere than the list has it: soon if it is not known, and seldom if
// it is where the list has it, too.
constexpr Duration kSearchEvery = std::chrono::seconds(3), kSearchSeldom = std::chrono::seconds(30);

// A greeting is for anybody and stands alone; all else is for one node.
bool IsOrdered(const std::vector<Message>& messages, bool for_anybody) {
  for (const Message& message : messages) {
    if ((message.kind == Kind::kGreeting) != for_anybody) return false;
  }
  return !messages.empty() && (!for_anybody || messages.size() == 1);
}

}  // namespace

void Node::Receive(std::string_view datagram, const std::string& from, Instant now) {
  if (!yielded_.empty()) return;
  Opened opened;
  opened.bytes = datagram.size();
  std::optional<Rejection> reason = Open(datagram, from, opened, now);
  // Who is on the list is being looked up still: it will greet again.
  if (!listed_ && reason == Rejection::kStranger) return;
  if (!reason && opened.head.sender.node == self_.node) {
    reason = TakeNamesake(opened, from, now);
    if (!reason) return;  // this node itself, which is on its own list
  }
  if (!reason && opened.head.for_anybody) return AnswerGreeting(opened, from);
  if (!reason && !opened.accepted) {
    reason = TakeClaim(opened, from, now);
    if (!reason) return;
  }
  if (!reason) reason = Believe(opened, from, now);
  if (reason) {
    NoteRejection(*reason, opened, from, now);
    return Reject(*reason, opened.peer);
  }
  opened.peer->traffic.datagrams_in += 1;
  opened.peer->traffic.bytes_in += datagram.size();
  for (const Message& message : opened.messages) Handle(message, *opened.peer, now);
}

void Node::Reject(Rejection reason, Peer* peer) {
  rejected_[static_cast<size_t>(reason)] += 1;
  if (peer != nullptr) peer->traffic.rejected += 1;
}

// Nothing has changed after it but what has come of the sender's numbers.
std::optional<Rejection> Node::Open(std::string_view datagram, const std::string& from,
                                    Opened& opened, Instant now) {
  const std::optional<SealedHead> head = ReadSealedHead(datagram);
  if (!head) return Rejection::kMalformed;
  opened.head = *head;
  const Origin sender = head->sender;
  Peer* const peer = opened.peer = members_.Find(sender.node);
  const auto anew = [&] {
    opened.opener = std::make_unique<Opener>(keys_, sender);
    return opened.opener.get();
  };
  Claim* const claim = peer == nullptr ? nullptr : peer->claim.get();
  const bool claims = claim != nullptr && sender.incarnation == claim->incarnation;
  const bool known =
      peer != nullptr && peer->opener != nullptr && sender.incarnation == peer->incarnation;
  opened.by = known ? peer->opener.get() : claims ? claim->opener.get() : anew();
  if (!opened.by->Read(*head, datagram, self_, opened.plain)) return Rejection::kUnreadable;
  opened.key = opened.by->key();
  std::optional<std::vector<Message>> messages = ReadMessages(opened.plain);
  if (!messages || !IsOrdered(*messages, head->for_anybody)) return Rejection::kMalformed;
  opened.messages = std::move(*messages);
  if (const std::optional<Rejection> wrong = CheckIdentity(opened)) return wrong;
  // Two processes may have started with one number.
  const uint64_t mark = opened.from.birthmark;
  if (known && mark != 0 && peer->birthmark != 0 && mark != peer->birthmark) {
    opened.by = claims && claim->birthmark == mark ? claim->opener.get() : anew();
  }
  // The first of a name is believed where the list or a member has it; elsewhere those are asked first.
  const bool first = peer != nullptr && peer->incarnation == 0 &&
                     (!peer->listed || peer->listed_at.empty() || from == peer->listed_at ||
                      from == peer->told_at);
  opened.accepted = peer == nullptr || first || opened.by == peer->opener.get();
  return TakeSequence(opened, now);
}

// Sequences that are out of order altogether are put right by asking: the answer to a greeting that was
// just sent cannot be from the past.
std::optional<Rejection> Node::TakeSequence(Opened& opened, Instant now) {
  const uint64_t sequence = opened.head.sequence;
  const Opener::Outcome outcome = opened.by->Take(sequence);
  if (outcome == Opener::Outcome::kOpened) return std::nullopt;
  if (outcome == Opener::Outcome::kRepeated) return Rejection::kRepeated;
  Peer* const peer = opened.peer;
  for (const Message& message : opened.messages) {
    if (peer == nullptr || !IsFresh(message, now) || message.stamp <= peer->latest_pong) continue;
    opened.by->BeginAt(sequence);
    return std::nullopt;
  }
  if (peer != nullptr && opened.accepted && peer->next_question <= now) {
    peer->next_question = After(now, kAskWhereEvery);
    Greet(peer->address, static_cast<uint64_t>(ToNanos(now)));
  }
  return outcome == Opener::Outcome::kTooOld ? Rejection::kTooOld : Rejection::kTooNew;
}

// It answers a greeting that this life has just sent.
bool Node::IsFresh(const Message& message, Instant now) const {
  const auto stamp = static_cast<uint64_t>(ToNanos(now)) + kGreetingsAtOnce;
  return message.kind == Kind::kPong && !message.from.id.empty() && message.stamp <= stamp &&
         stamp - message.stamp < kFreshFor;
}

// A node speaks for itself only.
std::optional<Rejection> Node::CheckIdentity(Opened& opened) {
  const Origin sender = opened.head.sender;
  for (const Message& message : opened.messages) {
    const std::string_view id = message.from.id;
    if (!id.empty()) opened.from = message.from;
    const bool wrong_id = !id.empty() && (NodeNumber(id) != sender.node || !IdProblem(id).empty() ||
                                          (opened.peer != nullptr && opened.peer->id != id));
    const bool wrong_sender =
        message.kind == Kind::kEnvelope && EnvelopeReader(message.body).head().sender != sender;
    if (wrong_id && NodeNumber(id) == sender.node && !std::exchange(collision_noted_, true)) {
      Warn("\"" + std::string(id) +
           "\" comes to the number of another node by chance: it needs another name");
    }
    if (wrong_id || wrong_sender) return Rejection::kImpostor;
    if (!id.empty() && message.from.birthmark == 0) return Rejection::kVersion;
  }
  if (sender.node == self_.node) return std::nullopt;
  const bool stranger = opened.peer == nullptr && !options_.membership.open;
  return stranger ? std::optional(Rejection::kStranger) : std::nullopt;
}

// One of this node's own name is also told whether this one has joined.
void Node::AnswerGreeting(const Opened& opened, const std::string& from) {
  std::string plain;
  AppendPong(opened.messages.front().stamp, identity(), plain);
  if (opened.head.sender.node == self_.node && joined()) {
    AppendHolder(self_.incarnation, options_.birthmark, false, "", plain);
  }
  const std::string datagram = sealer_.SealFor(opened.head.sender, plain);
  if (opened.peer != nullptr) {
    opened.peer->traffic.datagrams_out += 1;
    opened.peer->traffic.bytes_out += datagram.size();
  }
  transport_.Send(from, datagram);
}

// It was sealed for this life, so it is no older: the sender is there.
std::optional<Rejection> Node::Believe(Opened& opened, const std::string& from, Instant now) {
  if (opened.peer == nullptr && !opened.from.id.empty()) {
    opened.peer = members_.Learn(std::string(opened.from.id), from, now);
  }
  if (opened.peer == nullptr) return Rejection::kStranger;
  Peer& peer = *opened.peer;
  // Of one who was never heard, what comes first must say who he is: his greeting is answered so.
  if (peer.incarnation == 0 && opened.from.birthmark == 0) return Rejection::kOldLife;
  if (opened.opener != nullptr) peer.opener = std::move(opened.opener);
  if (peer.birthmark == 0) peer.birthmark = opened.from.birthmark;
  if (!from.empty() && peer.heard_from != from) peer.heard_from = from;
  if (!peer.listed && !opened.from.id.empty() && !from.empty()) {
    peer.address = from;
    members_.MetAt(from, peer);
  }
  Met(peer, members_.Heard(peer, opened.head.sender.incarnation, now), now);
  CompareNames(peer, opened.from, now);
  if (!peer.listed || from.empty()) return std::nullopt;
  if (from == peer.listed_at) {
    peer.address = peer.listed_at;
  } else {
    Search(peer, from, now);
  }
  return std::nullopt;
}

// It is reached where the list has it, if it answers there; else where it speaks from.
void Node::Search(Peer& peer, const std::string& from, Instant now) {
  if (peer.next_search > now) return;
  peer.next_search = After(now, kSearchEvery);
  GreetWherever(peer, from, now);
}

void Node::FoundAt(Peer& peer, uint64_t stamp, Instant now) {
  if (!peer.listed) return;
  if (stamp == peer.listed_stamp) {
    peer.address = peer.listed_at;
    peer.listed_answers = true;
    peer.next_search = After(now, kSearchSeldom);
  } else if (stamp == peer.heard_stamp && !peer.listed_answers) {
    peer.address = peer.greeted_at;
  }
}

// One that has just started, or was cut off meanwhile, knows only the list. Of two, one may do all the pinging: so
// it goes with pings and with their answers.
void Node::AppendPlaces(uint32_t to, std::string& plain) {
  std::vector<const Peer*> elsewhere;
  for (const auto& [number, peer] : members_.peers()) {
    const bool tells = peer.alive && number != to && peer.address.size() <= kMostPlaceBytes;
    if (tells && !members_.IsFoundByList(peer)) elsewhere.push_back(&peer);
  }
  for (size_t i = 0; i < std::min(elsewhere.size(), kMostPlaces); ++i) {
    const Peer& peer = *elsewhere[next_place_++ % elsewhere.size()];
    AppendPlace(peer.number, peer.address, plain);
  }
}

void Node::GreetAtPlace(const Message& message, Instant now) {
  Peer* peer = members_.Find(message.node);
  if (peer != nullptr && peer->incarnation == 0) peer->told_at = message.body;
  const bool unknown = peer == nullptr && options_.membership.open && message.node != self_.node;
  if (unknown || (peer != nullptr && !peer->alive)) Greet(std::string(message.body), Stamp(now));
}

void Node::Met(Peer& peer, Membership::News news, Instant now) {
  if (news == Membership::News::kNone) return;
  UpdatePeers();
  first_heard_ = std::min(first_heard_, now);
  copy_at_ = std::min(copy_at_, now);
  if (news == Membership::News::kReturned && ready_) {
    returned_.insert(peer.number);
    invited_[peer.number] = 0;
    invite_at_ = now;
  }
  if (news == Membership::News::kNewLife) peer.accepts_me = false;
  Note(Described(peer) + (news == Membership::News::kReturned ? " is back" : " is there"));
}

void Node::Handle(const Message& message, Peer& peer, Instant now) {
  switch (message.kind) {
    case Kind::kGreeting: return;
    case Kind::kPing: {
      AcceptedBy(peer, now);
      std::string plain;
      AppendPong(message.stamp, {"", options_.birthmark, options_.names}, plain);
      AppendPlaces(peer.number, plain);
      return Send(peer, plain);
    }
    case Kind::kPong: {
      const uint64_t took = static_cast<uint64_t>(ToNanos(now)) - message.stamp;  // or nonsense
      if (took < kLongestRoundTrip) peer.round_trip = Duration(static_cast<int64_t>(took));
      peer.latest_pong = std::max(peer.latest_pong, message.stamp);
      if (message.from.id.empty()) return AcceptedBy(peer, now);
      if (IsFresh(message, now)) FoundAt(peer, message.stamp, now);
      if (peer.claim != nullptr && IsFresh(message, now)) Refuse(peer, message.stamp, now);
      return Ping(peer, now);  // it knows a greeting only, which proves nothing
    }
    case Kind::kEnvelope: return TakeEnvelope(message.body, &peer, now);
    case Kind::kAsk: return AnswerAsk(peer, peer.life(), peer.address, now);
    case Kind::kAskMe:
      if (copied_) returned_.insert(peer.number);
      copy_at_ = std::min(copy_at_, now);
      return;
    case Kind::kQuestion: return AnswerQuestion(message, peer, now);
    case Kind::kAnswer: return questions_.Take(peer.number, message.stamp, message.body);
    case Kind::kBye:
      members_.Died(peer, now);
      peer.left = true;
      Note(Described(peer) + " has left");
      if (peer.claim != nullptr) Judge(peer, now);
      return UpdatePeers();
    case Kind::kWho: return TellHolder(peer, peer.life(), peer.address, now);
    case Kind::kHolder: return HearHolder(message, peer, now);
    case Kind::kPlace: return GreetAtPlace(message, now);
    case Kind::kYield:
    case Kind::kStay: return;  // are for those of the sender's own name
    case Kind::kWhole:
    case Kind::kLarge:
    case Kind::kNothing: return HandleCopy(message, peer, now);
  }
}

void Node::TakeEnvelope(std::string_view bytes, Peer* peer, Instant now) {
  bool good = false;
  std::vector<Envelope> answers = correspondent_.Receive(bytes, now, good);
  if (!good) {
    Reject(Rejection::kBadEnvelope, peer);
    if (peer != nullptr) NoteBadEnvelope(*peer, now);
  }
  if (!answers.empty()) Post(std::move(answers));
}

}  // namespace weir::cluster
