// A whole node without sockets: limiter, replicated limits and node, put together as the server does it, in
// simulated time. Whatever it sends is kept, for a test to carry or to record.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "cluster/node.h"
#include "cluster/replicated_limits.h"
#include "mail/mailroom.h"
#include "rules/read/parse.h"
#include "server/settle_elsewhere.h"
#include "weir/limiter.h"

namespace weir::upgrade_test {

using namespace std::chrono_literals;

inline constexpr Instant kStart = FromNanos(1'800'000'000'000'000'000);

// One resource for each way in which nodes count together; long enough that nothing flows in meanwhile.
inline constexpr const char* kResources[] = {"debt", "counter", "queue", "fixed", "sliding", "log"};
inline constexpr char kRules[] = R"(
namespaces:
  n:
    resources:
      debt: {limits: [{limit: 100, per: 10d, coordination: replicated}]}
      counter: {limits: [{limit: 100, per: 10d, coordination: {replicated: counter}}]}
      queue: {limits: [{limit: 100, per: 10d, coordination: {replicated: queue}}]}
      fixed: {limits: [{algorithm: fixed_window, limit: 100, per: 10d, coordination: replicated}]}
      sliding:
        limits:
          - {algorithm: sliding_window, edge: strict, limit: 100, per: 10d, coordination: replicated}
      log:
        limits: [{algorithm: sliding_log, limit: 100, per: 10d, coordination: {replicated: queue}}]
)";

inline cluster::ClusterKey SomeKey() {
  return *cluster::ClusterKey::FromText("a secret that all nodes of a cluster share");
}

struct Sent {
  Instant at{};
  std::string from, to, bytes;
};

class Site : public cluster::Transport {
 public:
  Site(const std::string& name, uint32_t incarnation, const std::string& peer, Instant now)
      : id(name), last_(now) {
    const ParseResult parsed = ParseRulesText(kRules, "rules", {.cluster = true});
    EXPECT_TRUE(parsed.ok()) << ToString(parsed.errors);
    const Origin self{cluster::NodeNumber(id), incarnation};
    replicated =
        std::make_unique<cluster::ReplicatedLimits>(self, cluster::ReplicationOptions{}, now);
    limiter = std::make_unique<Limiter>(
        parsed.rules, LimiterOptions{.memory_bytes = 1 << 20, .secret = {1, 2}, .node = id}, now);
    limiter->CoordinateWith(replicated.get());
    replicated->OnNews(
        [this](const Key& key, Instant at) { limiter->ApplyOthers(key.high, key.low, at); });
    mailroom.Give({EnvelopeKind::kCounter, EnvelopeKind::kQueue, EnvelopeKind::kDebt}, *replicated);
    cluster::NodeOptions options;
    options.id = id;
    options.incarnation = incarnation;
    options.birthmark = 1000 + incarnation;
    options.names = 77;
    options.first_sequence = uint64_t{1000} * incarnation;
    options.answer = [this](std::string_view question, Instant at) {
      return SettleAnswer(*limiter, question, at);
    };
    node = std::make_unique<cluster::Node>(options, SomeKey(), mailroom, *this, now);
    node->SetMembers({{id, id}, {peer, peer}}, now);
  }

  void Send(const std::string& to, std::string_view datagram) override {
    sent.push_back({{}, id, to, std::string(datagram)});
  }
  void Fetch(const std::string&, std::string) override { ADD_FAILURE() << "it fits a datagram"; }

  void TickUntil(Instant now) {
    while (node->NextTick() <= now) {
      const size_t before = sent.size();
      const Instant at = std::max(node->NextTick(), last_);
      last_ = at;
      node->Tick(at);
      for (size_t i = before; i < sent.size(); ++i) sent[i].at = at;
    }
    last_ = now;
  }
  void Receive(const Sent& one, Instant now) {
    const size_t before = sent.size();
    node->Receive(one.bytes, one.from, now);
    for (size_t i = before; i < sent.size(); ++i) sent[i].at = now;
  }

  Decision Use(const std::string& resource, const std::string& subject, uint64_t cost, Instant now,
               bool settle = false) {
    Request request{"n", resource, subject, cost};
    request.settle = settle;
    return limiter->Decide(request, now);
  }
  uint64_t Remaining(const std::string& resource, const std::string& subject, Instant now) {
    return limiter->Peek({"n", resource, subject}, now).remaining;
  }
  // Brings the ticket of the other node here.
  void Settle(const Ticket& ticket, uint64_t cost, Instant now) {
    node->Ask([](std::string_view) { return true; }, *SettleQuestion({ticket, cost}), now,
              [this](const cluster::Node::Answer& answer) { settled = ReadSettleAnswer(answer); });
  }

  const std::string id;
  std::unique_ptr<cluster::ReplicatedLimits> replicated;
  Mailroom mailroom;
  std::unique_ptr<Limiter> limiter;
  std::unique_ptr<cluster::Node> node;
  std::vector<Sent> sent;
  std::optional<Result<Settled>> settled;

 private:
  Instant last_;
};

}  // namespace weir::upgrade_test
