// Nodes in simulated time.
#include <gtest/gtest.h>

#include "tests/cluster/fake_network.h"

namespace weir::cluster::node_test {
namespace {

constexpr ReplicatedBucket kLimit{.capacity = 100, .limit = 1, .per = std::chrono::hours(1)};
constexpr Key kKey{1, 2};

const std::vector<std::string> kThree = {"a", "b", "c"};

FakeNetwork Three(uint64_t seed = 1, Faults faults = {}) {
  FakeNetwork network(seed);
  network.faults = faults;
  return network;
}

void StartAll(FakeNetwork& network) {
  for (const std::string& id : kThree) network.Start(id, 1, kThree);
}

void ExpectAllSeeAll(FakeNetwork& network) {
  for (const std::string& who : kThree) {
    for (const std::string& whom : kThree) {
      if (who != whom) {
        EXPECT_TRUE(Sees(network, who, whom)) << who << " does not see " << whom;
      }
    }
  }
}

TEST(Node, ThreeThatStartTogetherAreReadyWithinATenthOfASecond) {
  FakeNetwork network = Three();
  StartAll(network);
  EXPECT_FALSE(network.node("a").ready());
  network.RunFor(200ms);
  ExpectAllSeeAll(network);
  for (const std::string& id : kThree) EXPECT_TRUE(network.node(id).ready()) << id;
}

TEST(Node, OneWithoutPeersIsReadyAtOnce) {
  FakeNetwork network;
  network.Start("a", 1, {"a"});
  network.RunFor(1ms);
  EXPECT_TRUE(network.node("a").ready());
}

TEST(Node, OneWhosePeersAreAwayIsReadyWhenItsTimeIsUp) {
  FakeNetwork network;
  network.Start("a", 1, kThree);
  network.RunFor(1900ms);
  EXPECT_FALSE(network.node("a").ready());
  network.RunFor(200ms);
  EXPECT_TRUE(network.node("a").ready());
}

TEST(Node, WhatOneAdmitsTheOthersKnow) {
  FakeNetwork network = Three();
  StartAll(network);
  network.RunFor(1s);
  for (int i = 0; i < 60; ++i) {
    EXPECT_TRUE(network.replica("a").Admit(kKey, kLimit, 1, network.now));
    network.RunFor(10ms);
  }
  network.RunFor(15s);
  EXPECT_EQ(network.replica("b").Remaining(kKey, kLimit, network.now), 40u);
  EXPECT_EQ(network.replica("c").Remaining(kKey, kLimit, network.now), 40u);
}

TEST(Node, OneThatStartsAgainCopiesWhatTheOthersKnowBeforeItIsReady) {
  FakeNetwork network = Three();
  StartAll(network);
  network.RunFor(1s);
  network.replica("c").Admit(kKey, kLimit, 40, network.now);  // more than its share: told at once
  network.RunFor(1s);
  network.Stop("c");
  network.RunFor(1s);
  network.Start("c", 2, kThree);
  while (!network.node("c").ready()) network.RunFor(1ms);
  EXPECT_LT(network.now, kStart + 3500ms);
  EXPECT_EQ(network.replica("c").Remaining(kKey, kLimit, network.now), 60u);
  EXPECT_EQ(network.node("c").Status(network.now).copies.received, 1u);
}

TEST(Node, TwoThatStartAgainTogetherAskTheThird) {
  FakeNetwork network = Three();
  StartAll(network);
  network.RunFor(1s);
  network.replica("a").Admit(kKey, kLimit, 30, network.now);
  network.RunFor(11s);
  network.Start("b", 2, kThree);
  network.Start("c", 2, kThree);
  network.RunFor(1s);
  for (const char* id : {"b", "c"}) {
    EXPECT_TRUE(network.node(id).ready());
    EXPECT_EQ(network.replica(id).Remaining(kKey, kLimit, network.now), 70u) << id;
  }
}

TEST(Node, ALargeStateGoesOverAStream) {
  FakeNetwork network = Three();
  StartAll(network);
  network.RunFor(1s);
  for (uint64_t i = 0; i < 10'000; ++i) {
    network.replica("a").Take({i, i}, kLimit, i % 50 + 1, network.now);
  }
  network.RunFor(12s);
  network.Start("c", 2, kThree);
  network.RunFor(500ms);
  EXPECT_TRUE(network.node("c").ready());
  for (uint64_t i = 0; i < 10'000; ++i) {
    ASSERT_EQ(network.replica("c").Remaining({i, i}, kLimit, network.now), 100 - i % 50 - 1);
  }
  EXPECT_GT(network.node("c").Status(network.now).copies.bytes_in, 100'000u);
}

TEST(Node, AStreamThatBreaksIsAskedForAgainAndDoesNotHoldUpForEver) {
  FakeNetwork network = Three();
  StartAll(network);
  network.RunFor(1s);
  for (uint64_t i = 0; i < 1000; ++i) network.replica("a").Take({i, i}, kLimit, 7, network.now);
  network.RunFor(12s);
  network.faults.streams_fail = true;
  network.Start("c", 2, kThree);
  network.RunFor(1900ms);
  EXPECT_FALSE(network.node("c").ready());
  network.RunFor(200ms);
  EXPECT_TRUE(network.node("c").ready());
  EXPECT_GT(network.node("c").Status(network.now).copies.failed, 1u);
  network.faults.streams_fail = false;
  network.RunFor(1s);
  EXPECT_EQ(network.replica("c").Remaining({1, 1}, kLimit, network.now), 93u) << "late, but it has";
}

TEST(Node, TheDeadAreFoundOutAndTheReturnedAreAskedWhatTheyDidMeanwhile) {
  FakeNetwork network = Three();
  StartAll(network);
  network.RunFor(1s);
  network.cut["c"] = true;
  network.RunFor(5s);
  EXPECT_FALSE(Sees(network, "a", "c"));
  EXPECT_FALSE(Sees(network, "c", "a"));
  EXPECT_TRUE(Sees(network, "a", "b"));
  network.replica("a").Admit(kKey, kLimit, 20, network.now);
  network.replica("c").Admit(kKey, kLimit, 30, network.now);
  network.RunFor(30s);
  network.cut["c"] = false;
  network.RunFor(15s);
  ExpectAllSeeAll(network);
  for (const std::string& id : kThree) {
    EXPECT_EQ(network.replica(id).Remaining(kKey, kLimit, network.now), 50u) << id;
  }
}

TEST(Node, OneThatLeavesWhileItIsAskedLeavesNobodyBusy) {
  FakeNetwork network = Three();
  StartAll(network);
  network.RunFor(1s);
  network.cut["c"] = true;
  network.RunFor(10s);
  network.cut["c"] = false;
  const auto asked = [&] { return network.node("a").Status(network.now).copies.asked; };
  const uint64_t before = asked();
  while (asked() == before) network.RunFor(1ms);
  network.deaf["c"] = true;  // so it does not answer,
  network.node("c").Leave(network.now);
  network.Stop("c");
  network.RunFor(10s);  // which ends
  EXPECT_FALSE(Sees(network, "a", "c"));
}

TEST(Node, OneThatWasDeadToOthersWithoutKnowingIsToldWhatItMissed) {
  FakeNetwork network = Three();
  StartAll(network);
  network.RunFor(1s);
  network.deaf["a"] = true;  // what a sends arrives; so c never takes it for dead
  network.RunFor(4s);
  EXPECT_FALSE(Sees(network, "a", "c"));
  network.replica("a").Admit(kKey, kLimit, 60, network.now);
  network.RunFor(200ms);
  EXPECT_TRUE(Sees(network, "c", "a"));
  EXPECT_EQ(network.replica("c").Remaining(kKey, kLimit, network.now), 100u);
  network.deaf["a"] = false;
  network.RunFor(5s);
  for (const std::string& id : kThree) {
    EXPECT_EQ(network.replica(id).Remaining(kKey, kLimit, network.now), 40u) << id;
  }
}

TEST(Node, OneThatLeavesIsGoneAtOnceAndMayReturn) {
  FakeNetwork network = Three();
  StartAll(network);
  network.RunFor(1s);
  network.node("c").Leave(network.now);
  network.RunFor(2ms);
  network.Stop("c");
  EXPECT_FALSE(Sees(network, "a", "c"));
  network.RunFor(1s);
  network.Start("c", 2, kThree);
  network.RunFor(100ms);
  ExpectAllSeeAll(network);
}

TEST(Node, AnIdleClusterSendsOnePingASecondForEachPair) {
  FakeNetwork network = Three();
  StartAll(network);
  network.RunFor(5s);
  const size_t before = network.datagrams;
  network.RunFor(100s);
  EXPECT_LE(network.datagrams - before, 3u * 2 * 110);
}

TEST(Node, LossDoublingAndReorderingLoseNothingAndKillNobody) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    FakeNetwork network =
        Three(seed, {.lose = 0.1, .duplicate = 0.2, .least_delay = 1ms, .most_delay = 30ms});
    StartAll(network);
    network.RunFor(10s);
    ExpectAllSeeAll(network);
    for (int i = 0; i < 60; ++i) {
      network.replica(kThree[static_cast<size_t>(i) % 3]).Admit(kKey, kLimit, 1, network.now);
      network.RunFor(100ms);
      ExpectAllSeeAll(network);
    }
    network.RunFor(40s);
    for (const std::string& id : kThree) {
      EXPECT_EQ(network.replica(id).Remaining(kKey, kLimit, network.now), 40u) << id << seed;
      const NodeStatus status = network.node(id).Status(network.now);
      EXPECT_GT(Rejected(status, Rejection::kRepeated), 0u);
      EXPECT_EQ(Rejected(status, Rejection::kUnreadable), 0u);
      EXPECT_EQ(Rejected(status, Rejection::kImpostor), 0u);
    }
  }
}

TEST(Node, NoDatagramIsLargerThanTheNetworkTakes) {
  FakeNetwork network = Three();
  StartAll(network);
  network.RunFor(1s);
  for (uint64_t i = 0; i < 5000; ++i) network.replica("a").Take({i, i}, kLimit, 99, network.now);
  network.RunFor(12s);
  EXPECT_LE(network.most_bytes, kMostDatagramBytes);
  EXPECT_GT(network.most_bytes, kMostDatagramBytes - 100);
  EXPECT_EQ(network.node("a").Status(network.now).too_large, 0u);
  EXPECT_EQ(network.replica("b").Remaining({7, 7}, kLimit, network.now), 1u);
}

}  // namespace
}  // namespace weir::cluster::node_test
