#include "replication/counter_replica.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/replication/cluster.h"

namespace weir::counter_replica_test {
namespace {

using Counters = Cluster<CounterReplica>;

Counters MakeCounters(uint32_t nodes, Duration interval = 300ms, uint64_t seed = 1) {
  return Counters(
      nodes,
      [=](Origin self) {
        return std::make_unique<CounterReplica>(
            self, CounterOptions{.interval = interval,
                                 .seed = seed * 1000 + self.node * 10 + self.incarnation});
      },
      seed);
}

ReplicatedBucket AnyBucket() {
  const auto capacity = *rc::gen::inRange<uint64_t>(1, 30);
  const auto limit = *rc::gen::inRange<uint64_t>(1, 12);
  return {capacity, limit, *rc::gen::element<Duration>(1s, 7s, 1min, 333'333'337ns)};
}

constexpr ReplicatedBucket kFivePerSecond{5, 1, 1s};

// Erratum 1: by Listing 3.1 an idle bucket of 5 holds 3605 after an hour.
TEST(CounterReplica, IdleBucketNeverHoldsMoreThanItsCapacity) {
  CounterReplica node({0, 1}, {});
  EXPECT_TRUE(node.Admit(kSomeKey, kFivePerSecond, 1, kStart));
  for (int minute = 1; minute <= 60; ++minute) {
    EXPECT_EQ(node.Remaining(kSomeKey, kFivePerSecond, kStart + minute * 1min), 5u);
    EXPECT_TRUE(node.Admit(kSomeKey, kFivePerSecond, 0, kStart + minute * 1min));
  }
  EXPECT_FALSE(node.Admit(kSomeKey, kFivePerSecond, 6, kStart + 1h));
  EXPECT_TRUE(node.Admit(kSomeKey, kFivePerSecond, 5, kStart + 1h));
  EXPECT_FALSE(node.Admit(kSomeKey, kFivePerSecond, 1, kStart + 1h));
}

// Erratum 15: node 0 has not refilled since the start. By Listing 3.4 it would take the other's
// greater limit with its instant, or keep its own as it was then.
TEST(CounterReplica, LimitsAreRefilledToTheSameInstantBeforeTheyAreCompared) {
  Counters nodes = MakeCounters(2, 0ns);
  const ReplicatedBucket bucket{10, 1, 1s};
  EXPECT_TRUE(nodes[0].Admit(kSomeKey, bucket, 10, nodes.now));
  ASSERT_TRUE(nodes.Settle());
  nodes.now += 5s;
  EXPECT_TRUE(nodes[1].Admit(kSomeKey, bucket, 5, nodes.now));
  nodes.now += 3s;
  ASSERT_TRUE(nodes.Settle());
  EXPECT_EQ(nodes[0].Remaining(kSomeKey, bucket, nodes.now), 3u);
  EXPECT_EQ(nodes[1].Remaining(kSomeKey, bucket, nodes.now), 3u);
}

TEST(CounterReplica, RefundGivesBackWhatThisNodeConsumedAndNoMore) {
  Counters nodes = MakeCounters(2, 0ns);
  EXPECT_TRUE(nodes[0].Admit(kSomeKey, kFivePerSecond, 3, nodes.now));
  EXPECT_TRUE(nodes[1].Admit(kSomeKey, kFivePerSecond, 1, nodes.now));
  nodes[1].Refund(kSomeKey, 5, nodes.now);
  ASSERT_TRUE(nodes.Settle());
  EXPECT_EQ(nodes[0].Remaining(kSomeKey, kFivePerSecond, nodes.now), 2u);
  EXPECT_EQ(nodes[1].Remaining(kSomeKey, kFivePerSecond, nodes.now), 2u);
}

TEST(CounterReplica, WithoutLossNothingIsToldTwiceOrToldBack) {
  Counters nodes = MakeCounters(2);
  EXPECT_TRUE(nodes[0].Admit(kSomeKey, kFivePerSecond, 1, nodes.now));
  nodes.RunFor(1min);
  EXPECT_EQ(nodes.told, 1u);
  EXPECT_EQ(nodes[0].owed(), 0u);
  EXPECT_EQ(nodes[1].Used(kSomeKey), 1u);
}

TEST(CounterReplica, TellsAsManyAtATimeAsItsFanOut) {
  for (const uint32_t fan_out : {1u, 3u}) {
    CounterReplica node({0, 1}, {.fan_out = fan_out, .seed = 1});
    node.SetPeers({0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
    node.Take(kSomeKey, kFivePerSecond, 1, kStart);
    node.Tick(kStart);  // decides when to begin
    EXPECT_EQ(node.Tick(kStart + 1s).size(), fan_out);
  }
}

TEST(CounterReplica, LostEnvelopeIsToldAgain) {
  Counters nodes = MakeCounters(2);
  nodes.faults.lose = 1;
  EXPECT_TRUE(nodes[0].Admit(kSomeKey, kFivePerSecond, 1, nodes.now));
  nodes.RunFor(10s);
  EXPECT_EQ(nodes[1].Used(kSomeKey), 0u);
  nodes.faults.lose = 0;
  nodes.RunFor(10s);
  EXPECT_EQ(nodes[1].Used(kSomeKey), 1u);
  EXPECT_EQ(nodes[0].owed(), 0u);
}

TEST(CounterReplica, ManyKeysTravelInEnvelopesThatNoNetworkCuts) {
  Counters nodes = MakeCounters(2, 0ns);
  for (uint64_t i = 0; i < 500; ++i) {
    EXPECT_TRUE(nodes[0].Admit({i, i * 7}, kFivePerSecond, 1, nodes.now));
  }
  ASSERT_TRUE(nodes.Settle());
  EXPECT_EQ(nodes[1].keys(), 500u);
  EXPECT_GT(nodes.told, 10u);
  EXPECT_LE(nodes.most_bytes, kMostEnvelopeBytes);
  EXPECT_GT(nodes.most_bytes, kMostEnvelopeBytes - 100);
  EXPECT_TRUE(nodes.all_good);
}

TEST(CounterReplica, AWholeBucketThatFillsSeveralEnvelopesArrivesThoughOneIsLost) {
  const CounterOptions whole{.interval = 300ms, .whole_buckets = true};
  const ReplicatedBucket bucket{1000, 1, 1h};
  CounterReplica one({0, 1}, whole), other({1, 1}, whole);
  one.SetPeers({0, 1});
  other.SetPeers({0, 1});
  bool good = false;
  for (uint32_t node = 2; node < 402; ++node) {
    CounterReplica gone({node, 1}, {});
    gone.SetPeers({0, node});
    gone.Take(kSomeKey, bucket, 1, kStart);
    for (const Envelope& told : gone.Farewell(kStart)) one.Receive(told.bytes, kStart, good);
  }
  ASSERT_EQ(one.Used(kSomeKey), 400u);
  Instant now = kStart;
  int told = 0;
  for (; now < kStart + 10s; now += 100ms) {
    for (const Envelope& envelope : one.Tick(now)) {
      EXPECT_LE(envelope.bytes.size(), kMostEnvelopeBytes);
      if (++told > 1) other.Receive(envelope.bytes, now, good);
    }
    for (const Envelope& envelope : other.Tick(now)) one.Receive(envelope.bytes, now, good);
  }
  EXPECT_GT(told, 2);
  EXPECT_EQ(other.Used(kSomeKey), 400u);
  EXPECT_EQ(one.owed() + other.owed(), 0u);
}

TEST(CounterReplica, NodeThatComesBackWithoutMemoryIsToldWhatItHadConsumed) {
  Counters nodes = MakeCounters(3);
  const ReplicatedBucket bucket{100, 1, 1h};
  for (size_t i = 0; i < 3; ++i) EXPECT_TRUE(nodes[i].Admit(kSomeKey, bucket, 7, nodes.now));
  nodes.RunFor(1min);
  nodes.Restart(1, 2);
  EXPECT_TRUE(nodes[1].Admit(kSomeKey, bucket, 1, nodes.now));
  nodes.RunFor(1min);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(nodes[i].Used(kSomeKey), 22u);
}

TEST(CounterReplica, BrokenBytesChangeNothing) {
  CounterReplica source({0, 1}, {.interval = 0ns, .seed = 1});
  source.SetPeers({1});
  EXPECT_TRUE(source.Admit(kSomeKey, kFivePerSecond, 2, kStart));
  source.Tick(kStart);
  const std::vector<Envelope> sent = source.Tick(kStart);
  ASSERT_EQ(sent.size(), 1u);
  CounterReplica node({1, 1}, {});
  bool good = true;
  for (size_t length = 0; length < sent[0].bytes.size(); ++length) {
    node.Receive(std::string_view(sent[0].bytes).substr(0, length), kStart, good);
    // Head and no acknowledgements are an envelope that tells nothing.
    EXPECT_EQ(good, length == 6);
  }
  EXPECT_EQ(node.keys(), 0u);
  node.Receive(sent[0].bytes, kStart, good);
  EXPECT_TRUE(good);
  EXPECT_EQ(node.Used(kSomeKey), 2u);
}

// Found by chaos: what was given back after it had been refilled was there twice, on a node that
// heard of it late.
TEST(CounterReplica, ARefundThatIsHeardLateMintsNothing) {
  Counters nodes = MakeCounters(2, 0ns);
  ASSERT_TRUE(nodes[0].Admit(kSomeKey, kFivePerSecond, 5, nodes.now));
  ASSERT_TRUE(nodes.Settle());
  nodes.now += 10s;  // full again
  nodes[0].Refund(kSomeKey, 5, nodes.now);
  ASSERT_TRUE(nodes[1].Admit(kSomeKey, kFivePerSecond, 5, nodes.now));
  ASSERT_TRUE(nodes.Settle());
  EXPECT_EQ(nodes[1].Remaining(kSomeKey, kFivePerSecond, nodes.now), 0u);
  EXPECT_EQ(nodes[0].Remaining(kSomeKey, kFivePerSecond, nodes.now), 0u);
}

// A peer that left may hear an envelope of then when it is there again.
TEST(CounterReplica, NumbersOfEnvelopesGoOnAfterAPeerLeft) {
  CounterReplica node({0, 1}, {.interval = 0ns, .seed = 1});
  node.SetPeers({1});
  node.Tick(kStart);
  node.Admit(kSomeKey, kFivePerSecond, 1, kStart);
  ASSERT_EQ(EnvelopeReader(node.Tick(kStart).at(0).bytes).head().sequence, 1u);
  node.SetPeers({});
  node.SetPeers({1});
  EXPECT_EQ(EnvelopeReader(node.Tick(kStart).at(0).bytes).head().sequence, 2u);
}

RC_GTEST_PROP(CounterReplicaProperty, AnyBytesAreSurvived, (uint64_t seed)) {
  Random chance(seed);
  CounterReplica source({0, 1}, {.interval = 0ns, .seed = 1});
  source.SetPeers({1});
  for (uint64_t i = 0; i < 3; ++i) source.Admit({i, i}, kFivePerSecond, 2, kStart);
  source.Tick(kStart);
  std::string bytes = source.Tick(kStart).at(0).bytes;
  for (int i = 0; i < 4; ++i) bytes[chance.Below(bytes.size())] = static_cast<char>(chance());
  CounterReplica node({1, 1}, {});
  node.SetPeers({0});
  bool good = false;
  node.Receive(bytes, kStart, good);
  node.Admit({1, 1}, kFivePerSecond, 1, kStart + 1s);
  RC_ASSERT(node.Remaining({1, 1}, kFivePerSecond, kStart + 1s) <= 5u);
}

RC_GTEST_PROP(CounterReplicaProperty, WithInstantDeliveryNodesDecideLikeOneBucket, ()) {
  const ReplicatedBucket bucket = AnyBucket();
  Counters nodes = MakeCounters(*rc::gen::inRange<uint32_t>(1, 5), 0ns);
  CentralBucket central(bucket, nodes.now);
  std::vector<uint64_t> taken(nodes.size());
  const int requests = *rc::gen::inRange(1, 60);
  for (int i = 0; i < requests; ++i) {
    nodes.now += Duration(*rc::gen::inRange<int64_t>(0, 2 * bucket.per.count()) / 8);
    const auto node = *rc::gen::inRange<size_t>(0, nodes.size());
    const auto cost = *rc::gen::inRange<uint64_t>(0, 5);
    if (taken[node] >= cost && *rc::gen::inRange(0, 5) == 0) {
      nodes[node].Refund(kSomeKey, cost, nodes.now);
      central.Refund(cost, nodes.now);
      taken[node] -= cost;
    } else {
      const bool admitted = nodes[node].Admit(kSomeKey, bucket, cost, nodes.now);
      RC_ASSERT(admitted == central.Admit(cost, nodes.now));
      if (admitted) taken[node] += cost;
    }
    RC_ASSERT(nodes.Settle());
  }
}

RC_GTEST_PROP(CounterReplicaProperty, AfterQuietAllKnowWhatWasUsedAndAgreeWhenItIsBack, ()) {
  const ReplicatedBucket bucket = AnyBucket();
  Counters nodes =
      MakeCounters(*rc::gen::inRange<uint32_t>(2, 6), 300ms, *rc::gen::inRange<uint64_t>(1, 1000));
  nodes.faults = {0.3, 0.3, 700ms};
  uint64_t used = 0;
  const int requests = *rc::gen::inRange(1, 60);
  for (int i = 0; i < requests; ++i) {
    nodes.RunFor(Duration(*rc::gen::inRange<int64_t>(0, 1'000'000'000)));
    const auto node = *rc::gen::inRange<size_t>(0, nodes.size());
    const auto cost = *rc::gen::inRange<uint64_t>(1, 4);
    if (nodes[node].Admit(kSomeKey, bucket, cost, nodes.now)) used += cost;
  }
  nodes.RunFor(5min);
  nodes.faults = {};
  nodes.RunFor(bucket.per * static_cast<int64_t>(2 * used));
  for (size_t i = 0; i < nodes.size(); ++i) {
    RC_ASSERT(nodes[i].Used(kSomeKey) == used);
    RC_ASSERT(nodes[i].owed() == 0u);
    RC_ASSERT(nodes[i].Remaining(kSomeKey, bucket, nodes.now) == bucket.capacity);
  }
  RC_ASSERT(nodes.all_good);
}

// Where no bucket was full since the first request, `limit` is the same line for all.
RC_GTEST_PROP(CounterReplicaProperty, AfterQuietAllHaveTheSameLeft, ()) {
  const ReplicatedBucket bucket{1000, 3, 1min};
  Counters nodes =
      MakeCounters(*rc::gen::inRange<uint32_t>(2, 6), 300ms, *rc::gen::inRange<uint64_t>(1, 1000));
  nodes.faults = {0.3, 0.3, 700ms};
  for (size_t i = 0; i < nodes.size(); ++i) nodes[i].Admit(kSomeKey, bucket, 100, nodes.now);
  const int requests = *rc::gen::inRange(1, 60);
  for (int i = 0; i < requests; ++i) {
    nodes.RunFor(Duration(*rc::gen::inRange<int64_t>(0, 1'000'000'000)));
    const auto node = *rc::gen::inRange<size_t>(0, nodes.size());
    const auto cost = *rc::gen::inRange<uint64_t>(1, 20);
    const bool admitted = nodes[node].Admit(kSomeKey, bucket, cost, nodes.now);
    if (admitted && *rc::gen::inRange(0, 4) == 0) nodes[node].Refund(kSomeKey, cost, nodes.now);
  }
  nodes.RunFor(5min);
  // But for what flows in while a refund travels.
  const uint64_t left = nodes[0].Remaining(kSomeKey, bucket, nodes.now);
  for (size_t i = 1; i < nodes.size(); ++i) {
    const uint64_t other = nodes[i].Remaining(kSomeKey, bucket, nodes.now);
    RC_ASSERT(std::max(left, other) - std::min(left, other) <= 1u);
  }
}

RC_GTEST_PROP(CounterReplicaProperty, OrderAndRepetitionOfMergesDoNotMatter, (uint64_t seed)) {
  Random chance(seed);
  const ReplicatedBucket bucket = AnyBucket();
  std::vector<std::string> told;
  for (uint32_t node = 0; node < 4; ++node) {
    CounterReplica source({node, 1}, {.interval = 0ns, .seed = seed});
    source.SetPeers({9});
    source.Tick(kStart);
    for (int i = 0; i < 5; ++i) {
      source.Admit(kSomeKey, bucket, chance.Below(3), kStart + i * 1s);
      for (Envelope& envelope : source.Tick(kStart + i * 1s)) told.push_back(envelope.bytes);
    }
  }
  uint64_t left[2], used[2];
  for (int run = 0; run < 2; ++run) {
    CounterReplica node({9, 1}, {});
    std::shuffle(told.begin(), told.end(), chance);
    for (size_t i = 0; i < told.size(); ++i) {
      bool good = false;
      node.Receive(told[i], kStart + 5s, good);
      RC_ASSERT(good);
      node.Receive(told[chance.Below(i + 1)], kStart + 5s, good);
    }
    left[run] = node.Remaining(kSomeKey, bucket, kStart + 6s);
    used[run] = node.Used(kSomeKey);
  }
  RC_ASSERT(left[0] == left[1]);
  RC_ASSERT(used[0] == used[1]);
}

}  // namespace
}  // namespace weir::counter_replica_test
