// Limiters that share their limits, with a network between them that is only a delay: each decides
// alone, on what it has heard, and together they are one limiter.
#include "cluster/replicated_limits.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <atomic>
#include <deque>
#include <thread>

#include "rules/read/parse.h"
#include "weir/limiter.h"

namespace weir::cluster::replicated_limits_test {
namespace {

using namespace std::chrono_literals;

constexpr Instant kStart = FromNanos(1'800'000'000'000'000'000);
constexpr Duration kLatency = 1ms;
constexpr char kAnyLimit[] = "{limit: 1, per: 1s}";

std::shared_ptr<const Rulebook> Rules(const std::string& limit) {
  const ParseResult parsed = ParseRulesText(
      "namespaces: {n: {resources: {r: {limits: [" + limit + "]}}}}", "rules", {.cluster = true});
  EXPECT_TRUE(parsed.ok()) << ToString(parsed.errors);
  return parsed.rules;
}

class Fleet {
 public:
  Fleet(uint32_t nodes, const std::string& limit, Replication adhoc = Replication::kNone)
      : Fleet(nodes, Rules(limit), adhoc) {}
  Fleet(uint32_t nodes, const std::shared_ptr<const Rulebook>& rules, Replication adhoc)
      : adhoc_(adhoc) {
    for (uint32_t i = 0; i < nodes; ++i) Add(rules);
  }

  Instant now = kStart;

  Limiter& operator[](size_t node) { return *nodes_[node].limiter; }
  ReplicatedLimits& replicated(size_t node) { return *nodes_[node].replicated; }

  void Add(const std::string& limit) { Add(Rules(limit)); }
  void Add(const std::shared_ptr<const Rulebook>& rules) {
    const auto number = static_cast<uint32_t>(nodes_.size());
    Node& node = nodes_.emplace_back();
    node.replicated =
        std::make_unique<ReplicatedLimits>(Origin{number + 1, 1}, ReplicationOptions{}, now);
    node.limiter = std::make_unique<Limiter>(
        rules,
        LimiterOptions{.memory_bytes = 1 << 20, .secret = {1, 2}, .adhoc_replication = adhoc_},
        now);
    node.limiter->CoordinateWith(node.replicated.get());
    node.replicated->OnNews([limiter = node.limiter.get()](const Key& key, Instant at) {
      limiter->ApplyOthers(key.high, key.low, at);
    });
    std::vector<uint32_t> all;
    for (uint32_t i = 0; i < nodes_.size(); ++i) all.push_back(i + 1);
    for (Node& one : nodes_) one.replicated->SetPeers(all);
  }
  // The last to come copies what another knows, a slice at a time. Returns how many it took.
  int CopyFrom(
      size_t node, const SliceSize& most = {}, const std::function<void()>& between = [] {}) {
    const auto newest = static_cast<uint32_t>(nodes_.size());
    CopyCursor cursor;
    for (int slices = 1;; ++slices) {
      const Slice slice = nodes_[node].replicated->Everything(newest, cursor, most, now);
      EXPECT_LE(slice.keys, most.keys);
      for (const Envelope& envelope : slice.envelopes) {
        bool good = false;
        nodes_.back().replicated->Receive(envelope.bytes, now, good);
        EXPECT_TRUE(good);
      }
      if (slice.last) return slices;
      between();
    }
  }

  void RunFor(Duration d) {
    const Instant end = now + d;
    while (true) {
      Instant next = end;
      for (const Node& node : nodes_) next = std::min(next, node.replicated->NextTick());
      for (const auto& [at, envelope] : flying_) next = std::min(next, at);
      now = std::max(now, next);
      if (now >= end) return;
      while (!flying_.empty() && flying_.front().first <= now) {
        const Envelope envelope = flying_.front().second;
        flying_.pop_front();
        bool good = false;
        Send(nodes_[envelope.to - 1].replicated->Receive(envelope.bytes, now, good));
        EXPECT_TRUE(good);
      }
      for (Node& node : nodes_) {
        if (node.replicated->NextTick() <= now) Send(node.replicated->Tick(now));
      }
    }
  }

  bool Ask(size_t node, uint64_t cost = 1, std::string_view subject = "s") {
    return (*this)[node]
        .Decide({.namespace_name = "n", .resource = "r", .subject = subject, .cost = cost}, now)
        .allowed;
  }
  uint64_t Remaining(size_t node, std::string_view subject = "s") {
    return (*this)[node]
        .Peek({.namespace_name = "n", .resource = "r", .subject = subject}, now)
        .remaining;
  }

  // CL.THROTTLE.
  Decision Throttle(size_t node, const AdhocRequest& request) {
    Decision decision;
    (*this)[node].DecideAdhoc(request, now, decision);
    EXPECT_EQ(decision.error, Code::kOk) << decision.message;
    return decision;
  }
  // A descriptor (path, /) of `domain`; `limit` is what it brings with it.
  bool Hit(size_t node, std::string_view domain, uint64_t hits,
           std::optional<CarriedLimit> limit = std::nullopt) {
    const std::vector<DescriptorEntry> entries = {{"path", "/"}};
    const Descriptor descriptor{.entries = entries, .limit = limit};
    DescriptorDecision decision;
    (*this)[node].DecideDescriptors({domain, {&descriptor, 1}, hits}, now, decision);
    EXPECT_EQ(decision.error, Code::kOk) << decision.message;
    return !decision.over;
  }

 private:
  struct Node {
    std::unique_ptr<ReplicatedLimits> replicated;
    std::unique_ptr<Limiter> limiter;
  };

  void Send(std::vector<Envelope> envelopes) {
    for (Envelope& one : envelopes) flying_.emplace_back(now + kLatency, std::move(one));
  }

  const Replication adhoc_;
  std::deque<Node> nodes_;
  std::deque<std::pair<Instant, Envelope>> flying_;
};

struct Case {
  const char* name;
  std::string limit;
};

class ReplicatedLimitsOfEveryKind : public ::testing::TestWithParam<Case> {};

TEST_P(ReplicatedLimitsOfEveryKind, WhatOneUsesTheOthersHaveNot) {
  Fleet fleet(3, GetParam().limit);
  EXPECT_TRUE(fleet.Ask(0, 70));
  fleet.RunFor(5s);
  EXPECT_EQ(fleet.Remaining(1), 30u);
  EXPECT_TRUE(fleet.Ask(1, 20));
  fleet.RunFor(5s);
  EXPECT_EQ(fleet.Remaining(0), 10u) << "into a state that was there";
  EXPECT_EQ(fleet.Remaining(2), 10u) << "into none";
  EXPECT_FALSE(fleet.Ask(2, 11));
  EXPECT_TRUE(fleet.Ask(2, 10));
  fleet.RunFor(5s);
  EXPECT_FALSE(fleet.Ask(0));
  EXPECT_FALSE(fleet.Ask(1));
}

TEST_P(ReplicatedLimitsOfEveryKind, WhatIsGivenBackIsGivenBackToAll) {
  Fleet fleet(3, GetParam().limit);
  const Decision taken = fleet[0].Decide(
      {.namespace_name = "n", .resource = "r", .subject = "s", .cost = 60, .settle = true},
      fleet.now);
  ASSERT_TRUE(taken.allowed);
  fleet.RunFor(5s);
  EXPECT_EQ(fleet.Remaining(2), 40u);
  ASSERT_TRUE(fleet[0].Settle(taken.ticket, 10, fleet.now).ok());
  fleet.RunFor(15s);
  EXPECT_EQ(fleet.Remaining(0), 90u);
  EXPECT_EQ(fleet.Remaining(1), 90u);
  EXPECT_EQ(fleet.Remaining(2), 90u);
}

TEST_P(ReplicatedLimitsOfEveryKind, WhatWasMoreIsMoreForAll) {
  Fleet fleet(2, GetParam().limit);
  const Decision taken = fleet[0].Decide(
      {.namespace_name = "n", .resource = "r", .subject = "s", .cost = 60, .settle = true},
      fleet.now);
  ASSERT_TRUE(fleet[0].Settle(taken.ticket, 95, fleet.now).ok());
  fleet.RunFor(5s);
  EXPECT_EQ(fleet.Remaining(1), 5u);
}

TEST_P(ReplicatedLimitsOfEveryKind, AJoiningNodeKnowsWhatItCopied) {
  Fleet fleet(2, GetParam().limit);
  EXPECT_TRUE(fleet.Ask(0, 50));
  EXPECT_TRUE(fleet.Ask(1, 30));
  fleet.RunFor(5s);
  fleet.Add(GetParam().limit);
  fleet.CopyFrom(0);
  EXPECT_EQ(fleet.Remaining(2), 20u);
  fleet.RunFor(20s);
  EXPECT_EQ(fleet.Remaining(2), 20u) << "and counts nothing twice";
}

// Requests go on meanwhile, at every node: none of them is lost, and none is counted twice.
TEST_P(ReplicatedLimitsOfEveryKind, WhatIsUsedBetweenTwoSlicesOfACopyIsKnownToo) {
  constexpr uint64_t kSubjects = 40;
  Fleet fleet(2, GetParam().limit);
  std::vector<uint64_t> used(kSubjects);
  const auto use = [&](size_t node, uint64_t subject) {
    if (fleet.Ask(node, 2, std::to_string(subject))) used[subject] += 2;
  };
  for (uint64_t i = 0; i < kSubjects; ++i) use(i % 2, i);
  fleet.RunFor(3s);
  fleet.Add(GetParam().limit);
  uint64_t next = 0;
  const int slices = fleet.CopyFrom(0, {.keys = 3}, [&] {
    for (size_t node = 0; node < 3; ++node) use(node, next++ * 7 % kSubjects);
    fleet.RunFor(3ms);
  });
  EXPECT_GT(slices, 10);
  fleet.RunFor(20s);
  for (uint64_t i = 0; i < kSubjects; ++i) {
    for (size_t node = 0; node < 3; ++node) {
      EXPECT_EQ(fleet.Remaining(node, std::to_string(i)), 100 - used[i]) << node << ", " << i;
    }
  }
}

// To learn that all is too much for a datagram, no more than a datagram is written.
TEST(ReplicatedLimits, WhatIsTooMuchIsNotWrittenWhole) {
  for (const Replication how : {Replication::kDebt, Replication::kQueue, Replication::kCounter}) {
    Fleet fleet(2, kAnyLimit, how);
    AdhocRequest request{.key = "", .limit = 100, .per = 24h, .burst = 100, .cost = 1};
    for (int i = 0; i < 3'000; ++i) {
      const std::string key = std::to_string(i);
      request.key = key;
      fleet.Throttle(0, request);
    }
    CopyCursor cursor;
    const Slice slice =
        fleet.replicated(0).Everything(2, cursor, {.bytes = 1'100, .around = 3}, kStart);
    EXPECT_FALSE(slice.last);
    EXPECT_LT(slice.keys, 60u);
    EXPECT_LE(slice.envelopes.size(), 1u);
  }
}

// A key that is new here waits for the lock: so it is seen that a journal is read in part.
TEST(ReplicatedLimits, ACopyThatBeginsLetsRequestsInWhileItReadsTheJournal) {
  ReplicatedLimits replicated({1, 1}, {}, kStart);
  constexpr uint64_t kUses = 100'000;
  const CoordinatedLimit limit{
      .replication = Replication::kDebt, .capacity = 1 << 30, .limit = 1, .per = 1s};
  for (uint64_t i = 0; i < kUses; ++i) {
    replicated.Note({.key = {i, i}, .limit = limit, .taken = 1, .remaining = 1, .at = kStart});
  }
  const auto is_read = [&](uint64_t i) {
    return !replicated.Begin({i, i}, limit, {}, kStart).empty();
  };
  std::atomic<bool> looks = false;
  bool saw_a_part = false;
  std::thread request([&] {
    while (!is_read(0)) looks = true;
    saw_a_part = !is_read(kUses - 1);
  });
  while (!looks) std::this_thread::yield();
  CopyCursor cursor;
  replicated.Everything(2, cursor, {.keys = 1}, kStart);
  request.join();
  EXPECT_TRUE(saw_a_part);
  EXPECT_TRUE(is_read(kUses - 1));
}

TEST_P(ReplicatedLimitsOfEveryKind, AnExhaustedLimitIsExhaustedEverywhere) {
  Fleet fleet(4, GetParam().limit);
  uint64_t admitted = 0;
  for (int i = 0; i < 300; ++i) {
    admitted += fleet.Ask(static_cast<size_t>(i) % 4) ? 1 : 0;
    fleet.RunFor(20ms);
  }
  EXPECT_GE(admitted, 100u);
  EXPECT_LE(admitted, 135u) << "the counter tells late";
}

// Long enough that nothing flows in or leaves meanwhile.
INSTANTIATE_TEST_SUITE_P(
    Kinds, ReplicatedLimitsOfEveryKind,
    ::testing::Values(
        Case{"Debt", "{limit: 100, per: 10d, coordination: replicated}"},
        Case{"Counter", "{limit: 100, per: 10d, coordination: {replicated: counter}}"},
        Case{"Queue", "{limit: 100, per: 10d, coordination: {replicated: queue}}"},
        Case{"FixedWindow",
             "{algorithm: fixed_window, limit: 100, per: 10d, coordination: replicated}"},
        Case{"SlidingWindow",
             "{algorithm: sliding_window, edge: strict, limit: 100, per: 10d, coordination: "
             "replicated}"},
        Case{"FixedWindowOfAQueue",
             "{algorithm: fixed_window, limit: 100, per: 10d, coordination: {replicated: queue}}"},
        Case{"SlidingWindowOfAQueue",
             "{algorithm: sliding_window, edge: strict, limit: 100, per: 10d, coordination: "
             "{replicated: queue}}"},
        Case{"FixedWindowOfACounter",
             "{algorithm: fixed_window, limit: 100, per: 10d, coordination: {replicated: "
             "counter}}"},
        Case{"SlidingLog",
             "{algorithm: sliding_log, limit: 100, per: 10d, coordination: {replicated: queue}}"}),
    [](const auto& one) { return std::string(one.param.name); });

TEST(ReplicatedLimits, AWindowThatHasBegunElsewhereWaitsUntilItBeginsHere) {
  Fleet fleet(2, "{algorithm: fixed_window, limit: 100, per: 10s, coordination: replicated}");
  EXPECT_TRUE(fleet.Ask(1, 5));
  const Instant real = fleet.now;
  // Node 0 is ahead by a window.
  fleet[0].Decide({.namespace_name = "n", .resource = "r", .subject = "s", .cost = 60}, real + 10s);
  fleet.RunFor(5s);
  EXPECT_EQ(fleet.Remaining(1), 95u);
  fleet.RunFor(6s);
  EXPECT_EQ(fleet.Remaining(1), 40u);
}

TEST_P(ReplicatedLimitsOfEveryKind, NewsOfAKeyThatIsJustBeingUsedHereAreNotLost) {
  Fleet fleet(2, GetParam().limit);
  EXPECT_TRUE(fleet.Ask(0, 70));
  fleet.RunFor(kLatency);  // node 0 has told it, and node 1 is about to hear
  EXPECT_TRUE(fleet.Ask(1, 10)) << "noted, and not read yet";
  fleet.RunFor(10s);
  EXPECT_EQ(fleet.Remaining(0), 20u);
  EXPECT_EQ(fleet.Remaining(1), 20u);
}

TEST(ReplicatedLimits, NewsOfAKeyThatWasLongIdleHereAreNotLost) {
  Fleet fleet(2, "{limit: 100, per: 100s, coordination: replicated}");
  EXPECT_TRUE(fleet.Ask(1, 1));
  fleet.RunFor(60s);
  EXPECT_EQ(fleet.replicated(1).Counts().keys, 0u) << "its bucket is full, and its use forgotten";
  EXPECT_TRUE(fleet.Ask(0, 90));
  fleet.RunFor(1s);
  EXPECT_FALSE(fleet.Ask(1, 12));
  EXPECT_LE(fleet.Remaining(1), 11u);
}

// ---- Limits that come with requests ----

constexpr CarriedLimit kHundredAYear = {100, RateUnit::kYear};

AdhocRequest Of(uint64_t cost) {
  return {.key = "user", .limit = 100, .per = 24h * 10, .burst = 100, .cost = cost};
}

TEST(CarriedLimits, AreEachNodesOwnUnlessItIsSaid) {
  Fleet fleet(2, kAnyLimit);
  EXPECT_TRUE(fleet.Throttle(0, Of(100)).allowed);
  EXPECT_TRUE(fleet.Hit(0, "n", 100, kHundredAYear));
  fleet.RunFor(10s);
  EXPECT_TRUE(fleet.Throttle(1, Of(100)).allowed);
  EXPECT_TRUE(fleet.Hit(1, "n", 100, kHundredAYear));
  EXPECT_EQ(fleet.replicated(0).Counts().noted, 0u);
}

TEST(CarriedLimits, AreCountedTogetherWhereItIsSaid) {
  for (const Replication how : {Replication::kDebt, Replication::kQueue, Replication::kCounter}) {
    Fleet fleet(3, kAnyLimit, how);
    EXPECT_TRUE(fleet.Throttle(0, Of(70)).allowed);
    EXPECT_TRUE(fleet.Hit(0, "n", 70, kHundredAYear));
    fleet.RunFor(10s);
    EXPECT_EQ(fleet.Throttle(1, Of(0)).remaining, 30u);
    EXPECT_FALSE(fleet.Throttle(1, Of(31)).allowed);
    EXPECT_TRUE(fleet.Throttle(1, Of(30)).allowed);
    EXPECT_FALSE(fleet.Hit(1, "n", 31, kHundredAYear));
    EXPECT_TRUE(fleet.Hit(1, "n", 30, kHundredAYear));
    fleet.RunFor(10s);
    for (size_t node = 0; node < 3; ++node) {
      EXPECT_FALSE(fleet.Throttle(node, Of(1)).allowed) << node;
      EXPECT_FALSE(fleet.Hit(node, "n", 1, kHundredAYear)) << node;
    }
  }
}

TEST(CarriedLimits, OfADomainHaveWhatItsNamespaceSays) {
  const auto rules = [](const std::string& coordination) {
    return ParseRulesText("namespaces: {edge: {coordination: " + coordination + "}}", "rules",
                          {.cluster = true})
        .rules;
  };
  Fleet together(2, rules("replicated"), Replication::kNone);
  EXPECT_TRUE(together.Hit(0, "edge", 100, kHundredAYear));
  together.RunFor(10s);
  EXPECT_FALSE(together.Hit(1, "edge", 1, kHundredAYear));
  Fleet alone(2, rules("local"), Replication::kDebt);
  EXPECT_TRUE(alone.Hit(0, "edge", 100, kHundredAYear));
  alone.RunFor(10s);
  EXPECT_TRUE(alone.Hit(1, "edge", 100, kHundredAYear));
}

TEST(CarriedLimits, AFileOfRatelimitIsCountedTogetherWhereTheFlagSaysIt) {
  const auto rules = [](std::optional<Coordination> coordination) {
    return ParseRatelimitText(
               "domain: edge\ndescriptors: [{key: path, rate_limit: {unit: year, "
               "requests_per_unit: 100}}]",
               "edge.yaml", {.cluster = true, .ratelimit = std::move(coordination)})
        .rules;
  };
  Fleet together(2, rules(Coordination{Coordination::Kind::kReplicated, "debt", {}}), {});
  EXPECT_TRUE(together.Hit(0, "edge", 100));
  together.RunFor(10s);
  EXPECT_FALSE(together.Hit(1, "edge", 1));
  Fleet alone(2, rules(std::nullopt), {});
  EXPECT_TRUE(alone.Hit(0, "edge", 100));
  alone.RunFor(10s);
  EXPECT_TRUE(alone.Hit(1, "edge", 100));
}

// Requests may bring other numbers for the same key each time: what others used counts as so many
// tokens, not as so many ticks of numbers that the state no longer has.
TEST(CarriedLimits, UseUnderOtherNumbersLocksNobodyOut) {
  Fleet fleet(2, kAnyLimit, Replication::kDebt);
  const AdhocRequest slow{.key = "user", .limit = 7, .per = 1s, .burst = 100, .cost = 1};
  AdhocRequest fast{.key = "user", .limit = 1000, .per = 1s, .burst = 1000, .cost = 1001};
  EXPECT_TRUE(fleet.Throttle(1, slow).allowed);
  fleet.RunFor(10ms);
  EXPECT_FALSE(fleet.Throttle(1, fast).allowed) << "but its state has the new numbers";
  fast.cost = 50;
  EXPECT_TRUE(fleet.Throttle(0, fast).allowed);
  fleet.RunFor(8s);
  fast.cost = 0;
  EXPECT_EQ(fleet.Throttle(1, fast).remaining, 1000u);
}

TEST(ReplicatedLimits, DecidesAsOneBucketWhenNewsTravelFast) {
  // One that knows everything, and four that tell one another, on the same requests.
  const std::string numbers = "limit: 10, per: 1s, burst: 50";
  Fleet fleet(4, "{" + numbers + ", coordination: replicated}");
  Limiter central(Rules("{" + numbers + "}"), {}, kStart);
  uint64_t differences = 0, refused = 0;
  for (int i = 0; i < 2000; ++i) {
    fleet.RunFor(25ms);  // 40 a second where 10 flow in
    const bool want =
        central.Decide({.namespace_name = "n", .resource = "r", .subject = "s"}, fleet.now).allowed;
    differences += fleet.Ask(static_cast<size_t>(i * 7 % 4)) != want ? 1 : 0;
    refused += want ? 0 : 1;
  }
  EXPECT_GT(refused, 1000u);
  EXPECT_LE(differences, 20u) << "late by the latency, now and then";
}

TEST(ReplicatedLimits, KeysThatNobodyAsksForAreForgotten) {
  Fleet fleet(2, "{limit: 100, per: 1s, coordination: replicated}");
  for (int i = 0; i < 100; ++i) {
    fleet[0].Decide(
        {.namespace_name = "n", .resource = "r", .subject = std::to_string(i), .cost = 60},
        fleet.now);
  }
  fleet.RunFor(1s);
  EXPECT_GE(fleet.replicated(1).Counts().keys, 100u);
  fleet.RunFor(60s);
  EXPECT_EQ(fleet.replicated(0).Counts().keys, 0u);
  EXPECT_EQ(fleet.replicated(1).Counts().keys, 0u);
}

}  // namespace
}  // namespace weir::cluster::replicated_limits_test
