// What strangers send is counted, is not answered, and changes nothing.
#include <gtest/gtest.h>

#include "tests/cluster/fake_network.h"

namespace weir::cluster::hostile_test {
namespace {

const std::vector<std::string> kTwo = {"a", "b"};

class Hostile : public ::testing::Test {
 protected:
  void SetUp() override {
    network_.record = true;
    for (const std::string& id : kTwo) network_.Start(id, 5, kTwo);
    network_.RunFor(2500ms);
    ASSERT_TRUE(Sees(network_, "a", "b"));
  }
  // Gives it to `a`; true if nothing was answered and nothing but the count of rejections changed.
  bool IsIgnored(const std::string& datagram, Rejection reason) {
    const NodeStatus before = network_.node("a").Status(network_.now);
    const size_t sent = network_.datagrams;
    network_.node("a").Receive(datagram, "from elsewhere", network_.now);
    const NodeStatus after = network_.node("a").Status(network_.now);
    const PeerStatus &one = before.peers[0], &other = after.peers[0];
    return network_.datagrams == sent && Rejected(after, reason) == Rejected(before, reason) + 1 &&
           one.incarnation == other.incarnation && one.alive == other.alive &&
           one.last_heard == other.last_heard && one.address == other.address &&
           after.peers.size() == before.peers.size();
  }
  Origin Life(const std::string& id) { return {NodeNumber(id), 5}; }
  std::string Ping(const std::string& id) {
    std::string plain;
    AppendPing(1, id, plain);
    return plain;
  }
  // What `id` would send to a.
  std::string FromNode(const std::string& id, const std::string& plain,
                       const ClusterKey& key = SomeKey(), uint32_t incarnation = 5) {
    return Sealer(key, {NodeNumber(id), incarnation}, ++sequence_).SealFor(Life("a"), plain);
  }

  FakeNetwork network_;
  uint64_t sequence_ = uint64_t{1} << 47;
};

TEST_F(Hostile, NoiseIsMalformedOrUnreadable) {
  Random random(1);
  for (int i = 0; i < 1000; ++i) {
    std::string noise(random.Below(1400), '\0');
    for (char& c : noise) c = static_cast<char>(random.Below(256));
    const bool datagram_like = ReadSealedHead(noise).has_value();
    EXPECT_TRUE(IsIgnored(noise, datagram_like ? Rejection::kUnreadable : Rejection::kMalformed));
  }
}

TEST_F(Hostile, AnotherKeyIsUnreadable) {
  const ClusterKey other = SomeKey("another secret, just as long as the first");
  EXPECT_TRUE(IsIgnored(FromNode("b", Ping("b"), other), Rejection::kUnreadable));
  std::string greeting;
  AppendGreeting(1, "b", greeting);
  EXPECT_TRUE(
      IsIgnored(Sealer(other, Life("b"), 1).SealForAnybody(greeting), Rejection::kUnreadable));
}

TEST_F(Hostile, EverythingThatWasEverSentIsOfNoUseAgain) {
  const auto recorded = network_.recorded;
  ASSERT_GT(recorded.size(), 10u);
  const size_t sent = network_.datagrams;
  for (const std::string& datagram : recorded) {
    network_.node("a").Receive(datagram, "from elsewhere", network_.now);
  }
  EXPECT_EQ(network_.datagrams, sent) << "nothing was answered";
  EXPECT_EQ(network_.node("a").Status(network_.now).peers[0].address, "b");
}

TEST_F(Hostile, WhatWasSentToALifeIsOfNoUseToTheNext) {
  network_.cut["b"] = true;
  const auto recorded = network_.recorded;
  network_.Start("a", 6, kTwo);
  for (const std::string& datagram : recorded) {
    network_.node("a").Receive(datagram, "from elsewhere", network_.now);
  }
  EXPECT_FALSE(Sees(network_, "a", "b")) << "greetings prove nothing, and the rest is unreadable";
}

TEST_F(Hostile, AnOldLifeIsNotHeardAnyMore) {
  EXPECT_TRUE(IsIgnored(FromNode("b", Ping("b"), SomeKey(), 4), Rejection::kOldLife));
}

TEST_F(Hostile, WhoIsNotOnTheListIsAStranger) {
  EXPECT_TRUE(IsIgnored(FromNode("c", Ping("c")), Rejection::kStranger));
  std::string greeting;
  AppendGreeting(1, "c", greeting);
  EXPECT_TRUE(
      IsIgnored(Sealer(SomeKey(), Life("c"), 1).SealForAnybody(greeting), Rejection::kStranger));
}

TEST_F(Hostile, NobodySpeaksForAnother) {
  EXPECT_TRUE(IsIgnored(FromNode("b", Ping("c")), Rejection::kImpostor)) << "another name";
  std::string plain;
  EnvelopeWriter envelope({ReplicaKind::kDebt, Life("c"), 1});
  AppendEnvelope(envelope.Take(), plain);
  EXPECT_TRUE(IsIgnored(FromNode("b", plain), Rejection::kImpostor)) << "an envelope of another";
  EXPECT_TRUE(IsIgnored(FromNode("a", Ping("a"), SomeKey(), 9), Rejection::kImpostor))
      << "this node's own name";
}

TEST_F(Hostile, AGreetingIsAnsweredWithNoMoreThanItIs) {
  for (const size_t length : {size_t{1}, kMostIdBytes}) {
    FakeNetwork network;
    const std::string long_name(kMostIdBytes, 'x'), name(length, 'b');
    network.Start(long_name, 1, {name});
    network.RunFor(1ms);
    network.record = true;
    std::string plain;
    AppendGreeting(1, name, plain);
    const std::string greeting = Sealer(SomeKey(), {NodeNumber(name), 1}, 1).SealForAnybody(plain);
    network.node(long_name).Receive(greeting, "anywhere", network.now);
    ASSERT_EQ(network.recorded.size(), 1u);
    EXPECT_LE(network.recorded[0].size(), greeting.size());
  }
}

TEST_F(Hostile, AStreamThatBeginsWithNoiseOrARepetitionIsClosed) {
  EXPECT_EQ(network_.node("a").AnswerStream("noise", network_.now), nullptr);
  for (const std::string& datagram : network_.recorded) {
    EXPECT_EQ(network_.node("a").AnswerStream(datagram, network_.now), nullptr);
  }
  std::string plain;
  AppendAsk(0, plain);
  const std::string question = FromNode("b", plain);
  EXPECT_NE(network_.node("a").AnswerStream(question, network_.now), nullptr);
  EXPECT_EQ(network_.node("a").AnswerStream(question, network_.now), nullptr) << "once";
  EXPECT_EQ(network_.node("a").TakePiece("unasked", network_.now), Node::Piece::kBroken);
}

TEST_F(Hostile, MessagesThatAreBrokenInsideChangeNothing) {
  Random random(2);
  for (int i = 0; i < 2000; ++i) {
    std::string plain(1 + random.Below(40), '\0');
    for (char& c : plain) c = static_cast<char>(random.Below(12));
    if (ReadMessages(plain)) continue;
    const std::string datagram =
        Sealer(SomeKey(), Life("b"), (uint64_t{1} << 47) + 1 + i).SealFor(Life("a"), plain);
    EXPECT_TRUE(IsIgnored(datagram, Rejection::kMalformed));
  }
}

TEST(NodeWithoutAList, TakesNobodyForAStrangerUntilItHasOne) {
  FakeNetwork network;
  FakeNetwork::Machine machine(network, "a");
  DebtReplica replica(Origin{NodeNumber("a"), 1}, DebtOptions{}, kStart);
  NodeOptions options;
  options.id = "a";
  Node node(options, SomeKey(), replica, machine, kStart);
  Sealer sealer(SomeKey(), {NodeNumber("b"), 1}, 1);
  const auto strangers_after_greeting = [&] {
    std::string greeting;
    AppendGreeting(1, "b", greeting);
    node.Receive(sealer.SealForAnybody(greeting), "b", kStart);
    return Rejected(node.Status(kStart), Rejection::kStranger);
  };
  EXPECT_EQ(strangers_after_greeting(), 0u);
  node.SetMembers({}, kStart);
  EXPECT_EQ(strangers_after_greeting(), 1u);
  EXPECT_EQ(network.datagrams, 0u);
}

TEST(OpenCluster, NodesFindEachOtherByAddressAndLearnTheirNames) {
  FakeNetwork network;
  NodeOptions options;
  options.membership.open = true;
  for (const std::string id : {"a", "b", "c"}) network.Start(id, 1, {"a", "b"}, options);
  network.RunFor(3s);
  for (const std::string who : {"a", "b"}) {
    for (const std::string whom : {"a", "b", "c"}) {
      if (who != whom) {
        EXPECT_TRUE(Sees(network, who, whom)) << who << whom;
      }
    }
  }
}

}  // namespace
}  // namespace weir::cluster::hostile_test
