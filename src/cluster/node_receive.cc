#include "cluster/node.h"

namespace weir::cluster {
namespace {

using Kind = Message::Kind;

constexpr uint64_t kLongestRoundTrip = 30'000'000'000;  // ns

// A greeting is for anybody and stands alone; all else is for one node.
bool IsOrdered(const std::vector<Message>& messages, bool for_anybody) {
  for (const Message& message : messages) {
    if ((message.kind == Kind::kGreeting) != for_anybody) return false;
  }
  return !messages.empty() && (!for_anybody || messages.size() == 1);
}

}  // namespace

void Node::Receive(std::string_view datagram, const std::string& from, Instant now) {
  Opened opened;
  std::optional<Rejection> reason = Open(datagram, opened);
  // This node is on its own list.
  if (opened.head.sender == self_ && reason == Rejection::kImpostor) return;
  // Who is on the list is being looked up still: it will greet again.
  if (!listed_ && reason == Rejection::kStranger) return;
  if (!reason && opened.head.for_anybody) return AnswerGreeting(opened, from);
  if (!reason) reason = Believe(opened, from, now);
  if (reason) return Reject(*reason, opened.peer);
  opened.peer->traffic.datagrams_in += 1;
  opened.peer->traffic.bytes_in += datagram.size();
  for (const Message& message : opened.messages) Handle(message, *opened.peer, now);
}

void Node::Reject(Rejection reason, Peer* peer) {
  rejected_[static_cast<size_t>(reason)] += 1;
  if (peer != nullptr) peer->traffic.rejected += 1;
}

// Nothing has changed after it but what has come of the sender's numbers.
std::optional<Rejection> Node::Open(std::string_view datagram, Opened& opened) {
  const std::optional<SealedHead> head = ReadSealedHead(datagram);
  if (!head) return Rejection::kMalformed;
  opened.head = *head;
  opened.peer = members_.Find(head->sender.node);
  const Peer* peer = opened.peer;
  if (peer != nullptr && head->sender.incarnation < peer->incarnation) return Rejection::kOldLife;
  const bool known =
      peer != nullptr && peer->opener != nullptr && head->sender.incarnation == peer->incarnation;
  if (!known) opened.opener = std::make_unique<Opener>(key_, head->sender);
  Opener& opener = known ? *peer->opener : *opened.opener;
  switch (opener.Open(*head, datagram, self_, opened.plain)) {
    case Opener::Outcome::kOpened: break;
    case Opener::Outcome::kUnreadable: return Rejection::kUnreadable;
    case Opener::Outcome::kRepeated: return Rejection::kRepeated;
    case Opener::Outcome::kTooOld: return Rejection::kTooOld;
  }
  std::optional<std::vector<Message>> messages = ReadMessages(opened.plain);
  if (!messages || !IsOrdered(*messages, head->for_anybody)) return Rejection::kMalformed;
  opened.messages = std::move(*messages);
  return CheckIdentity(opened);
}

// A node speaks for itself only.
std::optional<Rejection> Node::CheckIdentity(Opened& opened) {
  const Origin sender = opened.head.sender;
  for (const Message& message : opened.messages) {
    if (!message.id.empty()) opened.id = message.id;
    const bool wrong_id =
        !message.id.empty() &&
        (NodeNumber(message.id) != sender.node || !IdProblem(message.id).empty() ||
         (opened.peer != nullptr && opened.peer->id != message.id));
    const bool wrong_sender =
        message.kind == Kind::kEnvelope && EnvelopeReader(message.body).head().sender != sender;
    if (wrong_id && NodeNumber(message.id) == sender.node &&
        !std::exchange(collision_noted_, true)) {
      Note("\"" + std::string(message.id) +
           "\" comes to the number of another node by chance: it "
           "needs another name");
    }
    if (wrong_id || wrong_sender) return Rejection::kImpostor;
  }
  if (sender == self_) return Rejection::kImpostor;
  if (sender.node == self_.node) {
    if (std::exchange(namesake_noted_, true)) return Rejection::kImpostor;
    Note("another node calls itself \"" + options_.id + "\": each needs a name of its own");
    return Rejection::kImpostor;
  }
  const bool stranger = opened.peer == nullptr && !options_.membership.open;
  return stranger ? std::optional(Rejection::kStranger) : std::nullopt;
}

void Node::AnswerGreeting(const Opened& opened, const std::string& from) {
  std::string plain;
  AppendPong(opened.messages.front().stamp, options_.id, plain);
  const std::string datagram = sealer_.SealFor(opened.head.sender, plain);
  if (opened.peer != nullptr) {
    opened.peer->traffic.datagrams_out += 1;
    opened.peer->traffic.bytes_out += datagram.size();
  }
  transport_.Send(from, datagram);
}

// It was sealed for this life, so it is no older: the sender is there.
std::optional<Rejection> Node::Believe(Opened& opened, const std::string& from, Instant now) {
  if (opened.peer == nullptr && !opened.id.empty()) {
    opened.peer = members_.Learn(std::string(opened.id), from, now);
  }
  if (opened.peer == nullptr) return Rejection::kStranger;
  Peer& peer = *opened.peer;
  if (opened.opener != nullptr) peer.opener = std::move(opened.opener);
  if (!peer.listed && !opened.id.empty() && !from.empty()) {
    peer.address = from;
    members_.MetAt(from, peer);
  }
  const Membership::News news = members_.Heard(peer, opened.head.sender.incarnation, now);
  if (news == Membership::News::kNone) return std::nullopt;
  UpdatePeers();
  first_heard_ = std::min(first_heard_, now);
  copy_at_ = std::min(copy_at_, now);
  if (news == Membership::News::kReturned && ready_) {
    returned_.insert(peer.number);
    invited_[peer.number] = 0;
    invite_at_ = now;
  }
  Note(peer.id + " at " + peer.address +
       (news == Membership::News::kReturned ? " is back" : " is there"));
  return std::nullopt;
}

void Node::Handle(const Message& message, Peer& peer, Instant now) {
  switch (message.kind) {
    case Kind::kGreeting: return;
    case Kind::kPing: {
      std::string plain;
      AppendPong(message.stamp, "", plain);
      return Send(peer, plain);
    }
    case Kind::kPong: {
      const uint64_t took = static_cast<uint64_t>(ToNanos(now)) - message.stamp;  // or nonsense
      if (took < kLongestRoundTrip) peer.round_trip = Duration(static_cast<int64_t>(took));
      if (message.id.empty()) return;
      std::string plain;  // it knows a greeting only, which proves nothing
      AppendPing(static_cast<uint64_t>(ToNanos(now)), options_.id, plain);
      return Send(peer, plain);
    }
    case Kind::kEnvelope: return TakeEnvelope(message.body, &peer, now);
    case Kind::kAsk: return AnswerAsk(peer, now);
    case Kind::kAskMe:
      if (copied_) returned_.insert(peer.number);
      copy_at_ = std::min(copy_at_, now);
      return;
    case Kind::kQuestion: return AnswerQuestion(message, peer, now);
    case Kind::kAnswer: return questions_.Take(peer.number, message.stamp, message.body);
    case Kind::kBye:
      members_.Died(peer, now);
      Note(peer.id + " at " + peer.address + " has left");
      return UpdatePeers();
    case Kind::kWhole:
    case Kind::kLarge:
    case Kind::kNothing: return HandleCopy(message, peer, now);
  }
}

void Node::TakeEnvelope(std::string_view bytes, Peer* peer, Instant now) {
  bool good = false;
  std::vector<Envelope> answers = correspondent_.Receive(bytes, now, good);
  if (!good) Reject(Rejection::kBadEnvelope, peer);
  if (!answers.empty()) Post(std::move(answers));
}

}  // namespace weir::cluster
