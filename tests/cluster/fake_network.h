// Nodes that talk over a network in simulated time, which may lose, double, delay and so reorder
// datagrams, and cut nodes off. Chance is seeded. Each node carries a DebtReplica.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "cluster/node.h"
#include "replication/debt_replica.h"

namespace weir::cluster {

using namespace std::chrono_literals;

inline constexpr Instant kStart = FromNanos(1'700'000'000'000'000'000);

inline ClusterKey SomeKey(const std::string& text = "a secret that all nodes of a cluster share") {
  return *ClusterKey::FromText(text);
}

struct Faults {
  double lose = 0;
  double duplicate = 0;
  Duration least_delay = 1ms;
  Duration most_delay = 1ms;
  bool streams_fail = false;
};

class FakeNetwork {
 public:
  explicit FakeNetwork(uint64_t seed = 1) : random_(seed) {}

  Instant now = kStart;
  Faults faults;
  size_t most_bytes = 0;
  size_t datagrams = 0;
  std::map<std::string, bool> deaf;   // that nothing goes to
  std::map<std::string, bool> cut;    // addresses that nothing goes to or comes from
  std::vector<std::string> recorded;  // everything that was sent, if `record`
  bool record = false;
  std::map<std::string, std::string> ended;  // those that have yielded, and why
  std::map<std::string, std::vector<std::string>> warnings;
  std::map<std::pair<std::string, std::string>, bool> apart;  // nothing goes from one to the other
  std::map<std::string, std::string> speaks_as;  // the address that its datagrams come from

  struct Machine : Transport {
    Machine(FakeNetwork& network, std::string address)
        : network_(network), address(std::move(address)) {}
    void Send(const std::string& to, std::string_view datagram) override {
      network_.Carry(address, to, std::string(datagram));
    }
    void Fetch(const std::string& to, std::string question) override {
      network_.flying_.push_back({network_.Later(), address, to, std::move(question), true});
    }

    FakeNetwork& network_;
    const std::string address;
    std::unique_ptr<DebtReplica> replica;
    std::unique_ptr<Node> node;
  };

  // Starts, or starts again without memory. Its address is its id.
  Node& Start(const std::string& id, uint32_t incarnation, const std::vector<std::string>& peers,
              const NodeOptions& options = {}, const KeyRing& key = SomeKey()) {
    return StartAt(id, id, incarnation, peers, options, key);
  }
  // Peers are at the addresses of their names.
  Node& StartAt(const std::string& address, const std::string& id, uint32_t incarnation,
                const std::vector<std::string>& peers, NodeOptions options = {},
                const KeyRing& key = SomeKey()) {
    auto& machine = machines_[address];
    if (machine == nullptr) machine = std::make_unique<Machine>(*this, address);
    ended.erase(address);
    options.id = id;
    options.incarnation = incarnation;
    if (options.birthmark == 1) options.birthmark = incarnation;
    options.warn = options.trouble = [this, address](const std::string& text) {
      warnings[address].push_back(text);
    };
    options.first_sequence = 1 + random_.Below(uint64_t{1} << 47);
    machine->node = nullptr;
    machine->replica =
        std::make_unique<DebtReplica>(Origin{NodeNumber(id), incarnation}, DebtOptions{}, now);
    machine->node = std::make_unique<Node>(options, key, *machine->replica, *machine, now);
    std::vector<Member> members;
    for (const std::string& peer : peers) {
      members.push_back({options.membership.open ? "" : peer, peer});
    }
    machine->node->SetMembers(members, now);
    return *machine->node;
  }
  void Stop(const std::string& id) { machines_[id]->node = nullptr; }
  // A process that stands still: what is sent to it waits.
  void Pause(const std::string& address) { paused_[address]; }
  void Resume(const std::string& address) {
    const std::vector<Flying> held = std::move(paused_.extract(address).mapped());
    for (Flying one : held) {
      one.at = now;
      flying_.push_back(std::move(one));
    }
  }
  bool runs(const std::string& address) const {
    const auto found = machines_.find(address);
    return found != machines_.end() && found->second->node != nullptr;
  }

  Node& node(const std::string& id) { return *machines_.at(id)->node; }
  DebtReplica& replica(const std::string& id) { return *machines_.at(id)->replica; }

  // A node that is due again and again at one instant would keep its thread busy for nothing: that is a failure of
  // whatever test it happens in.
  void RunFor(Duration d) {
    const Instant end = now + d;
    int steps = 0;  // at one instant
    while (true) {
      Instant next = end;
      for (const auto& [id, machine] : machines_) {
        if (Ticks(id)) next = std::min(next, machine->node->NextTick());
      }
      for (const Flying& flying : flying_) next = std::min(next, flying.at);
      steps = next > now ? 0 : steps + 1;
      if (steps > kMostSteps) {
        ADD_FAILURE() << "time stands still: a node is due for ever";
        next = end;
      }
      now = std::max(now, next);
      if (now >= end) return;
      Deliver();
      for (const auto& [id, machine] : machines_) {
        if (Ticks(id) && machine->node->NextTick() <= now) machine->node->Tick(now);
      }
      EndThoseThatYielded();
    }
  }

  void Carry(const std::string& from, const std::string& to, std::string datagram) {
    most_bytes = std::max(most_bytes, datagram.size());
    datagrams += 1;
    if (record) recorded.push_back(datagram);
    if (random_.Unit() < faults.lose) return;
    if (random_.Unit() < faults.duplicate) flying_.push_back({Later(), from, to, datagram});
    flying_.push_back({Later(), from, to, std::move(datagram)});
  }

 private:
  struct Flying {
    Instant at;
    std::string from, to, bytes;
    bool question = false;  // of a stream
  };

  static constexpr int kMostSteps = 1000;

  bool Ticks(const std::string& address) const {
    return runs(address) && !paused_.contains(address);
  }
  void EndThoseThatYielded() {
    for (const auto& [address, machine] : machines_) {
      if (machine->node == nullptr || machine->node->yielded().empty()) continue;
      ended[address] = machine->node->yielded();
      machine->node->Leave(now);
      machine->node = nullptr;
    }
  }
  Instant Later() {
    const auto more = static_cast<uint64_t>((faults.most_delay - faults.least_delay).count());
    return now + faults.least_delay + Duration(random_.Below(more + 1));
  }
  void Deliver() {
    const auto due = std::stable_partition(flying_.begin(), flying_.end(),
                                           [&](const Flying& one) { return one.at > now; });
    std::vector<Flying> arrived(std::make_move_iterator(due),
                                std::make_move_iterator(flying_.end()));
    flying_.erase(due, flying_.end());
    for (Flying& one : arrived) {
      if (const auto waits = paused_.find(one.to); waits != paused_.end()) {
        waits->second.push_back(std::move(one));
        continue;
      }
      const auto found = machines_.find(one.to);
      const bool there = found != machines_.end() && found->second->node != nullptr &&
                         !cut[one.from] && !cut[one.to] && !deaf[one.to] &&
                         !apart[{one.from, one.to}];
      if (one.question) {
        Stream(one, there);
      } else if (there) {
        const auto alias = speaks_as.find(one.from);
        const std::string& from = alias == speaks_as.end() ? one.from : alias->second;
        found->second->node->Receive(one.bytes, from, now);
      }
    }
  }
  // At once, for simplicity.
  void Stream(const Flying& question, bool there) {
    const auto asker = machines_.find(question.from);
    if (asker == machines_.end() || asker->second->node == nullptr) return;
    Node& taker = *asker->second->node;
    const auto stream = there && !faults.streams_fail
                            ? node(question.to).AnswerStream(question.bytes, now)
                            : nullptr;
    while (stream != nullptr) {
      const auto piece = stream->Next(now);
      if (!piece) break;
      const Node::Piece taken = taker.TakePiece(*piece, now);
      if (taken == Node::Piece::kLast) return;
      if (taken == Node::Piece::kBroken) break;
    }
    taker.FetchFailed(now);
  }

  Random random_;
  std::map<std::string, std::unique_ptr<Machine>> machines_;
  std::vector<Flying> flying_;
  std::map<std::string, std::vector<Flying>> paused_;
};

inline const PeerStatus* Find(const NodeStatus& status, const std::string& id) {
  for (const PeerStatus& peer : status.peers) {
    if (peer.id == id) return &peer;
  }
  return nullptr;
}

inline bool Sees(FakeNetwork& network, const std::string& who, const std::string& whom) {
  const NodeStatus status = network.node(who).Status(network.now);
  const PeerStatus* peer = Find(status, whom);
  return peer != nullptr && peer->alive;
}

inline bool HasProblem(const NodeStatus& status, const std::string& code) {
  return std::any_of(status.problems.begin(), status.problems.end(),
                     [&](const Problem& problem) { return problem.code == code; });
}

inline uint64_t Rejected(const NodeStatus& status, Rejection reason) {
  return status.rejected[static_cast<size_t>(reason)];
}

}  // namespace weir::cluster
