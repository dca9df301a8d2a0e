#include "cluster/node.h"

#include <algorithm>

namespace weir::cluster {
namespace {

constexpr std::array<std::string_view, static_cast<size_t>(Rejection::kCount)> kRejections = {
    "malformed", "unreadable", "repeated", "too_old",      "too_new",
    "old_life",  "stranger",   "impostor", "bad_envelope", "version"};

}  // namespace

std::string_view RejectionName(Rejection rejection) {
  return kRejections[static_cast<size_t>(rejection)];
}

Node::Node(NodeOptions options, const KeyRing& keys, Correspondent& correspondent,
           Transport& transport, Instant now)
    : options_(std::move(options)),
      keys_(keys),
      self_{NodeNumber(options_.id), options_.incarnation},
      started_(now),
      deadline_(After(now, options_.join_deadline)),
      correspondent_(correspondent),
      transport_(transport),
      sealer_(keys_.sealing(), self_, options_.first_sequence),
      members_(options_.id, options_.membership) {
  UpdatePeers();
}

std::optional<Error> Node::SetMembers(const std::vector<Member>& members, Instant now) {
  if (std::optional<Error> error = members_.SetMembers(members, now)) return error;
  listed_ = true;
  UpdatePeers();
  if (members_.Find(stranger_number_) != nullptr) strangers_ = {};  // it is none any more
  for (const Member& member : members) {
    if (member.id != options_.id || member.address == own_listed_at_) continue;
    own_listed_at_ = member.address;
    next_call_of_self_ = now;
    self_patience_ = options_.membership.first_greetings;
  }
  return std::nullopt;
}

void Node::SetKeys(const KeyRing& keys) {
  keys_ = keys;
  sealer_.SetKey(keys_.sealing());
  members_.ForEach([&](Peer& peer) {
    if (peer.opener != nullptr) peer.opener->SetKeys(keys_);
    if (peer.claim != nullptr) peer.claim->opener->SetKeys(keys_);
  });
}

bool Node::KnowsHostOf(const std::string& address) const {
  const auto host = [](std::string_view text) { return text.substr(0, text.rfind(':')); };
  return std::any_of(members_.peers().begin(), members_.peers().end(), [&](const auto& one) {
    const Peer& peer = one.second;
    return host(peer.address) == host(address) || host(peer.heard_from) == host(address);
  });
}

void Node::Tick(Instant now) {
  if (!yielded_.empty()) return;
  const Membership::Calls calls = members_.Due(now);
  for (Peer* peer : calls.pings) Ping(*peer, now);
  for (Peer* peer : calls.quiet) GreetWherever(*peer, "", now);
  for (const std::string& address : calls.greetings) Greet(address, Stamp(now));
  if (next_call_of_self_ <= now) CallSelf(now);
  for (const Peer* peer : calls.died) Note(Described(*peer) + " is dead");
  if (!calls.died.empty()) UpdatePeers();
  TickClaims(now);
  if (dispute_) Decide(now);
  if (correspondent_.NextTick() <= now) Post(correspondent_.Tick(now));
  TickCopy(now);
  if (questions_.NextTick() <= now) TickQuestions(now);
}

Instant Node::NextTick() const {
  if (!yielded_.empty()) return kEndOfTime;
  return std::min({members_.NextCall(), correspondent_.NextTick(), NextCopy(),
                   questions_.NextTick(), NextClaim(), next_call_of_self_});
}

void Node::Leave(Instant now) {
  questions_.GiveUp();
  Post(correspondent_.Farewell(now));
  std::string plain;
  AppendBare(Message::Kind::kBye, plain);
  for (const uint32_t number : members_.Alive()) Send(*members_.Find(number), plain);
}

void Node::Greet(const std::string& address, uint64_t stamp) {
  std::string plain;
  AppendGreeting(stamp, identity(), plain);
  transport_.Send(address, sealer_.SealForAnybody(plain));
}

void Node::Ping(Peer& peer, Instant now) {
  std::string plain;
  AppendPing(Stamp(now), identity(), plain);
  AppendPlaces(peer.number, plain);
  Send(peer, plain);
}

// By its stamp an answer tells to which greeting it is.
void Node::GreetWherever(Peer& peer, const std::string& also, Instant now) {
  std::set<std::string> places = {also, peer.address, peer.heard_from, peer.listed_at};
  places.erase("");
  peer.listed_answers = false;
  uint64_t stamp = Stamp(now);
  for (const std::string& place : places) {
    if (place == peer.listed_at) peer.listed_stamp = stamp;
    if (place == peer.heard_from) {
      peer.heard_stamp = stamp;
      peer.greeted_at = place;
    }
    Greet(place, stamp++);
  }
}

// Until it has answered itself, once.
void Node::CallSelf(Instant now) {
  Greet(own_listed_at_, Stamp(now));
  next_call_of_self_ = After(now, self_patience_);
  self_patience_ = std::min(options_.membership.greet_every, 2 * self_patience_);
}

void Node::Send(Peer& peer, std::string_view plain) {
  SendTo(peer.life(), peer.address, peer, plain);
}

void Node::SendTo(Origin life, const std::string& address, Peer& peer, std::string_view plain) {
  const std::string datagram = sealer_.SealFor(life, plain);
  peer.traffic.datagrams_out += 1;
  peer.traffic.bytes_out += datagram.size();
  transport_.Send(address, datagram);
}

// As many as fit share a datagram.
void Node::Post(std::vector<Envelope> envelopes) {
  std::map<uint32_t, std::string> plain;
  for (const Envelope& envelope : envelopes) {
    Peer* peer = members_.Find(envelope.to);
    if (peer == nullptr || !peer->alive) continue;
    if (envelope.bytes.size() > kMostEnvelopeBytes) {
      too_large_ += 1;
      continue;
    }
    std::string& all = plain[envelope.to];
    if (all.size() + envelope.bytes.size() + kAroundEnvelopeBytes > kMostPlainBytes) {
      Send(*peer, all);
      all.clear();
    }
    AppendEnvelope(envelope.bytes, all);
  }
  for (const auto& [number, all] : plain) Send(*members_.Find(number), all);
}

void Node::UpdatePeers() { correspondent_.SetPeers(members_.Alive()); }

void Node::Note(const std::string& text) const {
  if (options_.note) options_.note(text);
}

void Node::Warn(const std::string& text) const {
  if (options_.warn) options_.warn(text);
}

NodeStatus Node::Status(Instant now) const {
  NodeStatus status{.id = options_.id,
                    .number = self_.node,
                    .incarnation = self_.incarnation,
                    .ready = ready_,
                    .peers = {},
                    .problems = Problems(now),
                    .rejected = rejected_,
                    .copies = copies_,
                    .questions = questions_.counts(),
                    .too_large = too_large_,
                    .names_refused = names_refused_,
                    .names_disputed = names_disputed_};
  for (const auto& [number, peer] : members_.peers()) {
    PeerStatus& one = status.peers.emplace_back();
    one.id = peer.id;
    one.address = peer.address;
    one.number = number;
    one.incarnation = peer.incarnation;
    one.alive = peer.alive;
    one.round_trip = peer.round_trip;
    one.traffic = peer.traffic;
    if (peer.incarnation == 0) continue;
    one.last_heard = std::max(Duration::zero(), now - peer.last_heard);
    one.staleness = one.last_heard + std::max(Duration::zero(), peer.round_trip / 2);
  }
  std::sort(status.peers.begin(), status.peers.end(),
            [](const PeerStatus& a, const PeerStatus& b) { return a.id < b.id; });
  return status;
}

}  // namespace weir::cluster
