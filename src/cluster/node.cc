#include "cluster/node.h"

#include <algorithm>

namespace weir::cluster {
namespace {

constexpr std::array<std::string_view, static_cast<size_t>(Rejection::kCount)> kRejections = {
    "malformed", "unreadable", "repeated", "too_old",
    "old_life",  "stranger",   "impostor", "bad_envelope"};

uint64_t Stamp(Instant now) { return static_cast<uint64_t>(ToNanos(now)); }

}  // namespace

std::string_view RejectionName(Rejection rejection) {
  return kRejections[static_cast<size_t>(rejection)];
}

Node::Node(NodeOptions options, const ClusterKey& key, Correspondent& correspondent,
           Transport& transport, Instant now)
    : options_(std::move(options)),
      key_(key),
      self_{NodeNumber(options_.id), options_.incarnation},
      deadline_(After(now, options_.join_deadline)),
      correspondent_(correspondent),
      transport_(transport),
      sealer_(key_, self_, options_.first_sequence),
      members_(options_.id, options_.membership) {
  UpdatePeers();
}

std::optional<Error> Node::SetMembers(const std::vector<Member>& members, Instant now) {
  if (std::optional<Error> error = members_.SetMembers(members, now)) return error;
  listed_ = true;
  UpdatePeers();
  return std::nullopt;
}

void Node::Tick(Instant now) {
  const Membership::Calls calls = members_.Due(now);
  for (Peer* peer : calls.pings) {
    std::string plain;
    AppendPing(Stamp(now), options_.id, plain);
    Send(*peer, plain);
  }
  for (const std::string& address : calls.greetings) Greet(address, now);
  for (const Peer* peer : calls.died) Note(peer->id + " at " + peer->address + " is dead");
  if (!calls.died.empty()) UpdatePeers();
  if (correspondent_.NextTick() <= now) Post(correspondent_.Tick(now));
  TickCopy(now);
  if (questions_.NextTick() <= now) TickQuestions(now);
}

Instant Node::NextTick() const {
  return std::min(
      {members_.NextCall(), correspondent_.NextTick(), NextCopy(), questions_.NextTick()});
}

void Node::Leave(Instant now) {
  questions_.GiveUp();
  Post(correspondent_.Farewell(now));
  std::string plain;
  AppendBare(Message::Kind::kBye, plain);
  for (const uint32_t number : members_.Alive()) Send(*members_.Find(number), plain);
}

void Node::Greet(const std::string& address, Instant now) {
  std::string plain;
  AppendGreeting(Stamp(now), options_.id, plain);
  transport_.Send(address, sealer_.SealForAnybody(plain));
}

void Node::Send(Peer& peer, std::string_view plain) {
  const std::string datagram = sealer_.SealFor(peer.life(), plain);
  peer.traffic.datagrams_out += 1;
  peer.traffic.bytes_out += datagram.size();
  transport_.Send(peer.address, datagram);
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

NodeStatus Node::Status(Instant now) const {
  NodeStatus status{.id = options_.id,
                    .number = self_.node,
                    .incarnation = self_.incarnation,
                    .ready = ready_,
                    .peers = {},
                    .rejected = rejected_,
                    .copies = copies_,
                    .questions = questions_.counts(),
                    .too_large = too_large_};
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
