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
    AppendPing(1, {id, 5}, plain);
    return plain;
  }
  // What `id` would send to a.
  std::string FromNode(const std::string& id, const std::string& plain,
                       const ClusterKey& key = SomeKey(), uint32_t incarnation = 5) {
    return Sealer(key, {NodeNumber(id), incarnation}, NextOf(id)).SealFor(Life("a"), plain);
  }
  // A number that `id` might use next.
  uint64_t NextOf(const std::string& id) {
    uint64_t last = 0;
    for (const std::string& datagram : network_.recorded) {
      const SealedHead head = *ReadSealedHead(datagram);
      if (head.sender == Life(id)) last = std::max(last, head.sequence);
    }
    return last + ++forged_;
  }

  FakeNetwork network_;
  uint64_t forged_ = 0;
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
  AppendGreeting(1, {"b", 5}, greeting);
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

TEST_F(Hostile, WhoWasNeverHeardMustSayWhoHeIs) {
  network_.cut["b"] = true;
  network_.Start("a", 6, kTwo);
  std::string plain;
  AppendBare(Message::Kind::kWho, plain);
  const std::string who = Sealer(SomeKey(), Life("b"), 1).SealFor({NodeNumber("a"), 6}, plain);
  network_.node("a").Receive(who, "b", network_.now);
  EXPECT_FALSE(Sees(network_, "a", "b"));
  AppendPing(1, {"b", 5}, plain);
  const std::string ping = Sealer(SomeKey(), Life("b"), 2).SealFor({NodeNumber("a"), 6}, plain);
  network_.node("a").Receive(ping, "b", network_.now);
  EXPECT_TRUE(Sees(network_, "a", "b"));
}

TEST_F(Hostile, NoGreetingIsAnsweredWithMoreBytesThanItHas) {
  const std::string longest(kMostIdBytes, 'n');
  network_.Start(longest, 5, {longest});
  network_.RunFor(1s);
  for (const std::string& id : {longest, std::string("b")}) {
    std::string greeting;
    AppendGreeting(1, {id, 77}, greeting);
    greeting = Sealer(SomeKey(), {NodeNumber(id), 77}, 1).SealForAnybody(greeting);
    const std::string to = id == "b" ? "a" : longest;
    const size_t before = network_.recorded.size();
    network_.node(to).Receive(greeting, "elsewhere", network_.now);
    ASSERT_GT(network_.recorded.size(), before);
    EXPECT_LE(network_.recorded[before].size(), greeting.size());
  }
}

TEST_F(Hostile, AnotherLifeOfANodeThatLivesChangesNothing) {
  std::string plain;
  AppendBare(Message::Kind::kAskMe, plain);
  EXPECT_TRUE(IsIgnored(FromNode("b", plain, SomeKey(), 4), Rejection::kOldLife));
  for (const uint32_t life : {4u, 9u, UINT32_MAX}) {
    network_.node("a").Receive(FromNode("b", Ping("b"), SomeKey(), life), "nowhere", network_.now);
    network_.RunFor(5s);
    const NodeStatus status = network_.node("a").Status(network_.now);
    EXPECT_EQ(status.peers[0].incarnation, 5u) << "the one that lives was asked, and answered";
    EXPECT_TRUE(status.peers[0].alive);
    EXPECT_EQ(status.peers[0].address, "b");
  }
}

// Whoever has the key can write what he likes, but cuts nobody off with it.
TEST_F(Hostile, ASequenceFarAheadIsNotBelieved) {
  const uint64_t last = NextOf("b");
  for (const uint64_t far : {last + ReplayWindow::kMostAhead + 9999, kSequences - 2}) {
    const std::string forged = Sealer(SomeKey(), Life("b"), far).SealFor(Life("a"), Ping("b"));
    network_.node("a").Receive(forged, "b", network_.now);
    EXPECT_EQ(Rejected(network_.node("a").Status(network_.now), Rejection::kTooNew), 1u);
    network_.RunFor(20s);
    EXPECT_TRUE(Sees(network_, "a", "b"));
    const NodeStatus status = network_.node("a").Status(network_.now);
    EXPECT_LT(status.peers[0].last_heard, 2s);
    SetUp();
  }
}

TEST_F(Hostile, ASequenceThatWasPushedAheadIsPutRightByAsking) {
  const uint64_t ahead = NextOf("b") + ReplayWindow::kMostAhead / 2;
  const std::string forged = Sealer(SomeKey(), Life("b"), ahead).SealFor(Life("a"), Ping("b"));
  network_.node("a").Receive(forged, "b", network_.now);
  network_.RunFor(3s);
  const NodeStatus before = network_.node("a").Status(network_.now);
  network_.RunFor(20s);
  const NodeStatus after = network_.node("a").Status(network_.now);
  EXPECT_TRUE(after.peers[0].alive);
  EXPECT_LT(after.peers[0].last_heard, 2s);
  EXPECT_GT(Rejected(after, Rejection::kTooOld), 0u);
  EXPECT_EQ(Rejected(after, Rejection::kTooOld), Rejected(before, Rejection::kTooOld));
}

TEST_F(Hostile, AnEarlierVersionIsToldSo) {
  std::string plain;
  AppendPing(1, {"b", 0}, plain);
  EXPECT_TRUE(IsIgnored(FromNode("b", plain), Rejection::kVersion));
  const NodeStatus status = network_.node("a").Status(network_.now);
  ASSERT_EQ(status.problems.size(), 1u);
  EXPECT_EQ(status.problems[0].code, "peer_version");
  EXPECT_NE(status.problems[0].message.find("the same version of Weir"), std::string::npos);
}

TEST_F(Hostile, WhoIsNotOnTheListIsAStranger) {
  EXPECT_TRUE(IsIgnored(FromNode("c", Ping("c")), Rejection::kStranger));
  std::string greeting;
  AppendGreeting(1, {"c", 5}, greeting);
  EXPECT_TRUE(
      IsIgnored(Sealer(SomeKey(), Life("c"), 1).SealForAnybody(greeting), Rejection::kStranger));
}

TEST_F(Hostile, NobodySpeaksForAnother) {
  EXPECT_TRUE(IsIgnored(FromNode("b", Ping("c")), Rejection::kImpostor)) << "another name";
  std::string plain;
  EnvelopeWriter envelope({EnvelopeKind::kDebt, Life("c"), 1});
  AppendEnvelope(envelope.Take(), plain);
  EXPECT_TRUE(IsIgnored(FromNode("b", plain), Rejection::kImpostor)) << "an envelope of another";
}

// Who bears this node's own name is greeted where it says it is; what is not there answers nothing.
TEST_F(Hostile, AMessageUnderThisNodesOwnNameProvesNothing) {
  for (const uint32_t life : {3u, 9u}) {
    std::string plain;
    AppendPing(1, {"a", life}, plain);
    network_.node("a").Receive(FromNode("a", plain, SomeKey(), life), "nowhere", network_.now);
    network_.RunFor(3s);
    EXPECT_TRUE(network_.runs("a"));
  }
  EXPECT_EQ(Rejected(network_.node("a").Status(network_.now), Rejection::kImpostor), 2u);
  EXPECT_TRUE(Sees(network_, "b", "a"));
}

TEST_F(Hostile, AGreetingIsAnsweredWithNoMoreThanItIs) {
  for (const size_t length : {size_t{1}, kMostIdBytes}) {
    FakeNetwork network;
    const std::string long_name(kMostIdBytes, 'x'), name(length, 'b');
    network.Start(long_name, 1, {name});
    network.RunFor(1ms);
    network.record = true;
    std::string plain;
    AppendGreeting(1, {name, 5}, plain);
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
        Sealer(SomeKey(), Life("b"), NextOf("b")).SealFor(Life("a"), plain);
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
    AppendGreeting(1, {"b", 5}, greeting);
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
