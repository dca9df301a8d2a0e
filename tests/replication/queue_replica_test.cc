#include "replication/queue_replica.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/replication/cluster.h"

namespace weir::queue_replica_test {
namespace {

using Queues = Cluster<QueueReplica>;

Queues MakeQueues(uint32_t nodes, QueueOptions options) {
  const uint64_t seed = options.seed;
  return Queues(
      nodes,
      [=](Origin self) mutable {
        options.seed = seed * 1000 + self.node * 10 + self.incarnation;
        return std::make_unique<QueueReplica>(self, options);
      },
      seed);
}

QueueOptions AnyOptions() {
  QueueOptions options;
  options.linf = *rc::gen::arbitrary<bool>();
  options.frequency = *rc::gen::arbitrary<bool>();
  options.margin = *rc::gen::element<Duration>(0s, 3s);
  options.seed = *rc::gen::inRange<uint64_t>(1, 1000);
  return options;
}

ReplicatedBucket AnyBucket() {
  const auto capacity = *rc::gen::inRange<uint64_t>(1, 30);
  const auto limit = *rc::gen::inRange<uint64_t>(1, 12);
  return {capacity, limit, *rc::gen::element<Duration>(1s, 7s, 1min, 333'333'337ns)};
}

constexpr ReplicatedBucket kFivePerSecond{5, 1, 1s};
constexpr ReplicatedBucket kSlow{50, 1, 1h};

// Erratum 4: the thesis takes them for one.
TEST(QueueReplica, SameBirthOnTwoNodesCountsTwice) {
  Queues nodes = MakeQueues(2, {.interval = 0ns});
  EXPECT_TRUE(nodes[0].Admit(kSomeKey, kSlow, 1, nodes.now));
  EXPECT_TRUE(nodes[1].Admit(kSomeKey, kSlow, 1, nodes.now));
  ASSERT_TRUE(nodes.Settle());
  EXPECT_EQ(nodes[0].Remaining(kSomeKey, kSlow, nodes.now), 48u);
  EXPECT_EQ(nodes[1].Remaining(kSomeKey, kSlow, nodes.now), 48u);
}

// Erratum 2: it is the elements whose death has passed that go.
TEST(QueueReplica, TokensComeBackOneAfterTheOtherAndTheKeyGoesWithTheLast) {
  QueueReplica node({0, 1}, {});
  node.Tick(kStart);
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(node.Admit(kSomeKey, kFivePerSecond, 2, kStart));
  EXPECT_FALSE(node.Admit(kSomeKey, kFivePerSecond, 2, kStart));
  for (uint64_t second = 0; second < 4; ++second) {
    const Instant now = kStart + std::chrono::seconds(second);
    EXPECT_EQ(node.Remaining(kSomeKey, kFivePerSecond, now), 1 + second);
    EXPECT_EQ(node.Remaining(kSomeKey, kFivePerSecond, now + 1s - 1ns), 1 + second);
  }
  for (int i = 1; i <= 20; ++i) node.Tick(kStart + 3s + i * 300ms);
  EXPECT_EQ(node.keys(), 0u);
}

TEST(QueueReplica, DeadElementsStayForTheMarginAndDoNotCount) {
  Queues nodes = MakeQueues(2, {.interval = 300ms, .margin = 10s});
  nodes.faults.lose = 1;
  EXPECT_TRUE(nodes[0].Admit(kSomeKey, kFivePerSecond, 1, nodes.now));
  nodes.RunFor(5s);
  EXPECT_EQ(nodes[0].keys(), 1u);
  EXPECT_EQ(nodes[0].Remaining(kSomeKey, kFivePerSecond, nodes.now), 5u);
  nodes.faults.lose = 0;
  nodes.RunFor(4s);
  EXPECT_EQ(nodes[1].keys(), 1u) << "told, though dead";
  nodes.RunFor(10s);
  EXPECT_EQ(nodes[0].keys(), 0u);
  EXPECT_EQ(nodes[1].keys(), 0u);
  EXPECT_EQ(nodes[0].owed(), 0u);
}

// Data set D: a request each 0.9 s where a token comes each second.
int RefusalsOfSlowOverUser(Duration interval, Duration margin, uint64_t seed) {
  Queues nodes = MakeQueues(30, {.interval = interval, .margin = margin, .seed = seed});
  nodes.faults.delay = 1ms;
  Random chance(seed);
  int refusals = 0;
  for (int i = 0; i < 111; ++i) {
    refusals += !nodes[chance.Below(30)].Admit(kSomeKey, kFivePerSecond, 1, nodes.now);
    nodes.RunFor(900ms);
  }
  return refusals;
}

TEST(QueueReplica, SlowOverUserIsRefusedIfDeadElementsAreTold) {
  CentralBucket central(kFivePerSecond, kStart);
  int due = 0;
  for (int i = 0; i < 111; ++i) due += !central.Admit(1, kStart + i * 900ms);
  for (const Duration interval : {300ms, 450ms, 900ms}) {
    const int without = RefusalsOfSlowOverUser(interval, 0s, 1);
    const int with = RefusalsOfSlowOverUser(interval, 30s, 1);
    RecordProperty("refusals_" + std::to_string(interval / 1ms),
                   std::to_string(without) + " " + std::to_string(with));
    EXPECT_GT(with, without);
    EXPECT_NEAR(with, due, 4);
  }
}

// Found by chaos: each node added the delay of the other's news to the lives that it gave, so that
// two nodes in turns lost more and more of what flowed in.
TEST(QueueReplica, NodesThatTakeTurnsLoseNoRefill) {
  TokenQueue queues[2] = {TokenQueue({100, 10, 1s}), TokenQueue({100, 10, 1s})};
  Instant now = kStart;
  for (uint32_t i = 0; i < 200; ++i) {
    TokenQueue& mine = queues[i % 2];
    mine.Add({{i % 2, 1}, i}, 1, now);
    Element told = *mine.Find({{i % 2, 1}, i});
    told.birth += 50ms;  // the time of travel
    now += 50ms;
    queues[1 - i % 2].Merge(told, now, 1h);
    now += 45ms;
  }
  // 200 in 19 s at 10 a second: 10 are not back yet.
  for (const TokenQueue& queue : queues) EXPECT_LE(queue.Alive(now), Ticks(queue.shape()).Of(12));
}

TEST(QueueReplica, RefundGivesBackWhatStillCounts) {
  Queues nodes = MakeQueues(2, {.interval = 0ns});
  EXPECT_TRUE(nodes[0].Admit(kSomeKey, kFivePerSecond, 3, nodes.now));
  EXPECT_TRUE(nodes[1].Admit(kSomeKey, kFivePerSecond, 1, nodes.now));
  ASSERT_TRUE(nodes.Settle());
  nodes[0].Refund(kSomeKey, 2, nodes.now);
  nodes[1].Refund(kSomeKey, 5, nodes.now);
  ASSERT_TRUE(nodes.Settle());
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(nodes[i].Remaining(kSomeKey, kFivePerSecond, nodes.now), 4u);
  }
}

TEST(QueueReplica, LateCopyOfARemovedElementIsNotTakenIn) {
  QueueReplica source({0, 1}, {.interval = 0ns, .margin = 1h});
  source.SetPeers({1});
  source.Tick(kStart);
  EXPECT_TRUE(source.Admit(kSomeKey, kFivePerSecond, 1, kStart));
  QueueReplica node({1, 1}, {.margin = 1s});
  bool good = false;
  node.Receive(source.Tick(kStart + 999ms).at(0).bytes, kStart + 999ms, good);
  EXPECT_EQ(node.Remaining(kSomeKey, kFivePerSecond, kStart + 999ms), 4u);
  for (int i = 0; i < 20; ++i) node.Tick(kStart + 1s + i * 300ms);
  EXPECT_EQ(node.keys(), 0u);
  node.Receive(source.Tick(kStart + 7s).at(0).bytes, kStart + 7s, good);
  EXPECT_TRUE(good);
  EXPECT_EQ(node.keys(), 0u);
}

// Its age lags by the time of travel, so that it seems to be young enough.
TEST(TokenQueue, RemovedElementThatComesBackPushesNothingTwice) {
  constexpr ReplicatedBucket kOnePerSecond{5, 1, 1s};
  constexpr Duration kMargin = 10s;
  constexpr Origin kSelf{0, 1};
  TokenQueue queue(kOnePerSecond);
  for (uint32_t i = 1; i <= 40; ++i) queue.Add({kSelf, i}, 1, kStart + i * 500ms);
  const Element first = queue.elements().front();
  const Instant now = kStart + 1500ms + kMargin;  // the first is back at 1500 ms
  ASSERT_EQ(queue.Expire(now, kMargin).size(), 1u);
  const int128 before = queue.Alive(now + 10s);
  Element late = first;
  late.birth += 200ms;
  EXPECT_EQ(queue.Merge(late, now, kMargin), TokenQueue::Merged::kTooOld);
  EXPECT_EQ(queue.Alive(now + 10s), before);
  // Of another origin it would be another.
  late.name.origin = {1, 1};
  EXPECT_EQ(queue.Merge(late, now, kMargin), TokenQueue::Merged::kNew);
}

TEST(QueueReplica, FrequentRequestsAreToldAtOnceAndOthersAreNot) {
  for (const Duration gap : {2399ms, 2401ms}) {
    QueueReplica node({0, 1}, {.interval = 1min, .frequency = true, .window = 3});
    node.SetPeers({1, 2, 3});
    node.Tick(kStart);
    Instant now = kStart + 1s;
    for (int i = 0; i < 2; ++i, now += gap) EXPECT_TRUE(node.Admit(kSomeKey, kSlow, 1, now));
    EXPECT_GT(node.NextTick(), kStart);
    EXPECT_TRUE(node.Admit(kSomeKey, kSlow, 1, now));
    EXPECT_EQ(node.NextTick() <= now, gap < 2400ms);
    EXPECT_EQ(node.Tick(now).size(), gap < 2400ms ? 3u : 0u);
    EXPECT_TRUE(node.Admit(kSomeKey, kSlow, 1, now));
    EXPECT_EQ(node.NextTick() <= now, gap > 2400ms) << "what was sent does not wait any more";
  }
}

TEST(QueueReplica, WindowIsTheShareOfANodeButAtLeastTwo) {
  for (const uint64_t capacity : {uint64_t{5}, uint64_t{40}}) {
    QueueReplica node({0, 1}, {.interval = 1min, .frequency = true});
    node.SetPeers({1, 2, 3});
    node.Tick(kStart);
    uint64_t admitted = 0;
    while (node.NextTick() > kStart) {
      ASSERT_TRUE(node.Admit(kSomeKey, {capacity, 1, 1h}, 1, kStart)) << admitted;
      ++admitted;
    }
    EXPECT_EQ(admitted, std::max<uint64_t>(2, capacity / 4));
  }
}

TEST(QueueReplica, LeastInformedPeerIsToldFirst) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    QueueReplica source({1, 1}, {.interval = 0ns});
    source.SetPeers({0});
    source.Tick(kStart);
    EXPECT_TRUE(source.Admit(kSomeKey, kSlow, 1, kStart));
    QueueReplica node({0, 1}, {.interval = 300ms, .linf = true, .seed = seed});
    node.SetPeers({1, 2});
    node.Tick(kStart);
    EXPECT_TRUE(node.Admit(kSomeKey, kSlow, 1, kStart));
    bool good = false;
    node.Receive(source.Tick(kStart).at(0).bytes, kStart, good);
    const Instant first = kStart + 300ms;
    EXPECT_EQ(node.Tick(first).at(0).to, 2u);
    EXPECT_EQ(node.Tick(first + 300ms).at(0).to, 1u);
  }
}

TEST(QueueReplica, ManyElementsTravelInEnvelopesThatNoNetworkCuts) {
  Queues nodes = MakeQueues(2, {.interval = 0ns});
  const ReplicatedBucket bucket{1000, 1, 1h};
  for (int i = 0; i < 400; ++i) EXPECT_TRUE(nodes[0].Admit(kSomeKey, bucket, 1, nodes.now));
  ASSERT_TRUE(nodes.Settle());
  EXPECT_EQ(nodes[1].Remaining(kSomeKey, bucket, nodes.now), 600u);
  EXPECT_LE(nodes.most_bytes, kMostEnvelopeBytes);
  EXPECT_GT(nodes.most_bytes, kMostEnvelopeBytes - 50);
  EXPECT_TRUE(nodes.all_good);
}

TEST(QueueReplica, NodeThatComesBackWithoutMemoryIsToldWhatStillCounts) {
  Queues nodes = MakeQueues(3, {});
  for (size_t i = 0; i < 3; ++i) EXPECT_TRUE(nodes[i].Admit(kSomeKey, kSlow, 7, nodes.now));
  nodes.RunFor(1min);
  nodes.Restart(1, 2);
  EXPECT_TRUE(nodes[1].Admit(kSomeKey, kSlow, 1, nodes.now));
  nodes.RunFor(1min);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(nodes[i].Remaining(kSomeKey, kSlow, nodes.now), 28u);
}

TEST(QueueReplica, BytesComeAndGoWithTheElements) {
  Queues nodes = MakeQueues(3, {});
  const size_t before = nodes[0].bytes();
  const ReplicatedBucket bucket{200, 10, 1s};
  for (int i = 0; i < 200; ++i) EXPECT_TRUE(nodes[0].Admit(kSomeKey, bucket, 1, nodes.now));
  EXPECT_GE(nodes[0].bytes(), before + 200 * (sizeof(Element) + 2 * sizeof(ElementName)));
  nodes.RunFor(1min);
  EXPECT_EQ(nodes[0].keys(), 0u);
  EXPECT_LT(nodes[0].bytes(), before + 1000);
}

TEST(QueueReplica, BrokenBytesChangeNothing) {
  QueueReplica source({0, 1}, {.interval = 0ns});
  source.SetPeers({1});
  source.Tick(kStart);
  EXPECT_TRUE(source.Admit(kSomeKey, kFivePerSecond, 2, kStart));
  const std::string sent = source.Tick(kStart).at(0).bytes;
  QueueReplica node({1, 1}, {});
  bool good = true;
  for (size_t length = 0; length < sent.size(); ++length) {
    node.Receive(std::string_view(sent).substr(0, length), kStart, good);
    // Head and no acknowledgements are an envelope that tells nothing.
    EXPECT_EQ(good, length == 6);
  }
  EXPECT_EQ(node.keys(), 0u);
}

RC_GTEST_PROP(QueueReplicaProperty, AnyBytesAreSurvived, (uint64_t seed)) {
  Random chance(seed);
  QueueReplica source({0, 1}, {.interval = 0ns});
  source.SetPeers({1});
  source.Tick(kStart);
  for (uint64_t i = 0; i < 3; ++i) source.Admit({i, i}, kFivePerSecond, 2, kStart);
  std::string bytes = source.Tick(kStart).at(0).bytes;
  for (int i = 0; i < 4; ++i) bytes[chance.Below(bytes.size())] = static_cast<char>(chance());
  QueueReplica node({1, 1}, {.interval = 0ns, .frequency = true});
  node.SetPeers({0, 2});
  bool good = false;
  node.Receive(bytes, kStart, good);
  node.Admit({1, 1}, kFivePerSecond, 1, kStart + 1s);
  for (int i = 0; i < 4; ++i) node.Tick(kStart + i * 1s);
  RC_ASSERT(node.Remaining({1, 1}, kFivePerSecond, kStart + 1s) <= 5u);
}

RC_GTEST_PROP(QueueReplicaProperty, WithInstantDeliveryNodesDecideLikeOneBucket, ()) {
  const ReplicatedBucket bucket = AnyBucket();
  QueueOptions options = AnyOptions();
  options.interval = 0ns;
  Queues nodes = MakeQueues(*rc::gen::inRange<uint32_t>(1, 5), options);
  CentralBucket central(bucket, nodes.now);
  const int requests = *rc::gen::inRange(1, 60);
  for (int i = 0; i < requests; ++i) {
    nodes.now += Duration(*rc::gen::inRange<int64_t>(0, 2 * bucket.per.count()) / 8);
    const auto node = *rc::gen::inRange<size_t>(0, nodes.size());
    const auto cost = *rc::gen::inRange<uint64_t>(0, 5);
    const bool admitted = nodes[node].Admit(kSomeKey, bucket, cost, nodes.now);
    RC_ASSERT(admitted == central.Admit(cost, nodes.now));
    RC_ASSERT(nodes.Settle());
    if (admitted && *rc::gen::inRange(0, 5) == 0) {
      const auto back = *rc::gen::inRange<uint64_t>(0, cost + 1);
      nodes[node].Refund(kSomeKey, back, nodes.now);
      central.Refund(back, nodes.now);
      RC_ASSERT(nodes.Settle());
    }
  }
}

// Returns by how much the nodes differ at most.
uint64_t DisagreementAfterQuiet(const Faults& faults) {
  const ReplicatedBucket bucket{*rc::gen::inRange<uint64_t>(1, 60), 1, 2h};
  Queues nodes = MakeQueues(*rc::gen::inRange<uint32_t>(2, 6), AnyOptions());
  nodes.faults = faults;
  const int requests = *rc::gen::inRange(1, 60);
  for (int i = 0; i < requests; ++i) {
    nodes.RunFor(Duration(*rc::gen::inRange<int64_t>(0, 1'000'000'000)));
    const auto node = *rc::gen::inRange<size_t>(0, nodes.size());
    const auto cost = *rc::gen::inRange<uint64_t>(1, 4);
    const bool admitted = nodes[node].Admit(kSomeKey, bucket, cost, nodes.now);
    if (admitted && *rc::gen::inRange(0, 4) == 0) nodes[node].Refund(kSomeKey, 1, nodes.now);
  }
  nodes.RunFor(5min);
  nodes.faults = {};
  nodes.RunFor(1min);
  RC_ASSERT(nodes.all_good);
  uint64_t least = UINT64_MAX, most = 0;
  for (size_t i = 0; i < nodes.size(); ++i) {
    RC_ASSERT(nodes[i].owed() == 0u);
    least = std::min(least, nodes[i].Remaining(kSomeKey, bucket, nodes.now));
    most = std::max(most, nodes[i].Remaining(kSomeKey, bucket, nodes.now));
  }
  return most - least;
}

RC_GTEST_PROP(QueueReplicaProperty, AfterQuietAllHaveTheSameLeft, ()) {
  RC_ASSERT(DisagreementAfterQuiet({0.3, 0.3, 0ns}) == 0u);
}

// Ages lag by the time of travel, so a token may be back a little later on one node.
RC_GTEST_PROP(QueueReplicaProperty, AfterQuietAndDelaysAllDifferByATokenAtMost, ()) {
  RC_ASSERT(DisagreementAfterQuiet({0.3, 0.3, 700ms}) <= 1u);
}

RC_GTEST_PROP(QueueReplicaProperty, OrderAndRepetitionOfMergesDoNotMatter, (uint64_t seed)) {
  Random chance(seed);
  const ReplicatedBucket bucket = AnyBucket();
  std::vector<std::string> told;
  for (uint32_t node = 0; node < 4; ++node) {
    QueueReplica source({node, 1}, {.interval = 0ns, .margin = 1h, .seed = seed});
    source.SetPeers({9});
    source.Tick(kStart);
    for (int i = 0; i < 5; ++i) {
      if (source.Admit(kSomeKey, bucket, chance.Below(4), kStart + i * 1s)) {
        for (Envelope& envelope : source.Tick(kStart + i * 1s)) told.push_back(envelope.bytes);
        source.Refund(kSomeKey, chance.Below(2), kStart + i * 1s);
      }
      for (Envelope& envelope : source.Tick(kStart + i * 1s)) told.push_back(envelope.bytes);
    }
  }
  uint64_t left[2];
  for (int run = 0; run < 2; ++run) {
    QueueReplica node({9, 1}, {.margin = 1h});
    std::shuffle(told.begin(), told.end(), chance);
    for (size_t i = 0; i < told.size(); ++i) {
      bool good = false;
      node.Receive(told[i], kStart + 5s, good);
      RC_ASSERT(good);
      node.Receive(told[chance.Below(i + 1)], kStart + 5s, good);
    }
    left[run] = node.Remaining(kSomeKey, bucket, kStart + 5s);
  }
  RC_ASSERT(left[0] == left[1]);
}

}  // namespace
}  // namespace weir::queue_replica_test
