// What an operator should mend is told in words that say what to do, once, and while it lasts.
#include <gtest/gtest.h>

#include <set>

#include "tests/cluster/fake_network.h"

namespace weir::cluster::node_problems_test {
namespace {

const std::vector<std::string> kTwo = {"a", "b"};
const std::vector<std::string> kThree = {"a", "b", "c"};
const std::vector<std::string> kFour = {"a", "b", "c", "d"};

class ProblemsOfANode : public ::testing::Test {
 protected:
  FakeNetwork network_;
};

TEST_F(ProblemsOfANode, AWrongKeyIsToldByBothAndADeadPeerToo) {
  for (const std::string& id : kTwo) network_.Start(id, 10, kTwo);
  network_.RunFor(1s);
  network_.Start("b", 11, kTwo, {}, SomeKey("another secret, just as long as the first"));
  network_.RunFor(8s);
  for (const char* id : {"a", "b"}) {
    const NodeStatus status = network_.node(id).Status(network_.now);
    ASSERT_EQ(status.problems.size(), 1u) << id;
    EXPECT_EQ(status.problems[0].code, "wrong_cluster_key");
    EXPECT_NE(status.problems[0].message.find("--cluster-key-file"), std::string::npos);
    EXPECT_GT(status.problems[0].since, kStart);
  }
  const size_t told = network_.warnings["a"].size();
  network_.RunFor(40s);
  EXPECT_EQ(network_.warnings["a"].size(), told) << "once a minute";
  network_.node("b").SetKeys(SomeKey());
  network_.RunFor(5s);
  EXPECT_TRUE(Sees(network_, "a", "b"));
  network_.RunFor(15s);
  EXPECT_TRUE(network_.node("a").Status(network_.now).problems.empty());

  network_.Stop("b");
  network_.RunFor(6s);
  const NodeStatus status = network_.node("a").Status(network_.now);
  ASSERT_EQ(status.problems.size(), 1u);
  EXPECT_EQ(status.problems[0].code, "peer_dead");
}

// Who has another key is known by its address only.
TEST_F(ProblemsOfANode, AWrongKeyOfANodeThatWasNeverMetIsToldInAnOpenClusterToo) {
  NodeOptions open;
  open.membership.open = true;
  network_.Start("a", 1, {"b", "c"}, open);
  network_.Start("b", 1, {"a", "c"}, open, SomeKey("another secret, just as long as the first"));
  network_.Start("c", 1, {"a", "b"}, open);
  network_.RunFor(10s);
  EXPECT_TRUE(Sees(network_, "a", "c"));
  for (const auto& [who, whom] : std::map<std::string, std::vector<std::string>>{
           {"a", {"b"}}, {"c", {"b"}}, {"b", {"a", "c"}}}) {
    const std::vector<Problem> problems = network_.node(who).Status(network_.now).problems;
    ASSERT_EQ(problems.size(), whom.size()) << who;
    for (size_t i = 0; i < whom.size(); ++i) {
      EXPECT_EQ(problems[i].code, "wrong_cluster_key");
      EXPECT_EQ(problems[i].about, whom[i]);
      EXPECT_NE(problems[i].message.find("compare --cluster-key-file"), std::string::npos);
    }
    EXPECT_EQ(network_.warnings[who].size(), whom.size()) << "once a minute";
  }
  network_.node("b").SetKeys(SomeKey());
  network_.RunFor(5s);
  for (const std::string& id : kThree) {
    EXPECT_TRUE(network_.node(id).Status(network_.now).problems.empty()) << id << ": it is over";
  }
}

TEST_F(ProblemsOfANode, AnAddressOfTheNameWhereNobodyAnswersIsTold) {
  NodeOptions open;
  open.membership.open = true;
  network_.Start("a", 1, {"b", "c"}, open);
  network_.Start("b", 1, {"a", "c"}, open);
  network_.RunFor(4s);
  EXPECT_TRUE(network_.node("a").Status(network_.now).problems.empty())
      << "it may be about to start";
  network_.RunFor(2s);
  std::vector<Problem> problems = network_.node("a").Status(network_.now).problems;
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].code, "peer_dead");
  EXPECT_NE(problems[0].message.find("nobody answers at c"), std::string::npos);
  network_.Start("c", 1, {"a", "b"}, open);
  network_.RunFor(4s);
  EXPECT_TRUE(network_.node("a").Status(network_.now).problems.empty());
  network_.Stop("c");
  network_.RunFor(10s);
  problems = network_.node("a").Status(network_.now).problems;
  ASSERT_EQ(problems.size(), 1u) << "once, by its name";
  EXPECT_EQ(problems[0].about, "c");
}

TEST_F(ProblemsOfANode, NoiseFromStrangersOfAnOpenClusterIsNoProblemAndTheirGreetingsAFew) {
  NodeOptions open;
  open.membership.open = true;
  network_.Start("a", 1, {"b"}, open);
  network_.Start("b", 1, {"a"}, open);
  network_.RunFor(1s);
  Random random(1);
  for (int i = 0; i < 1000; ++i) {
    std::string noise(40 + random.Below(200), '\0');
    for (char& c : noise) c = static_cast<char>(random.Below(256));
    if (noise.size() == GreetingBytes() + kSealBytes) continue;
    network_.node("a").Receive(noise, "stranger " + std::to_string(i), network_.now);
  }
  EXPECT_TRUE(network_.node("a").Status(network_.now).problems.empty());
  const ClusterKey other = SomeKey("another secret, just as long as the first");
  for (uint64_t i = 0; i < 1000; ++i) {
    std::string greeting;
    AppendGreeting(i, {"n" + std::to_string(i), 5}, greeting);
    greeting = Sealer(other, {static_cast<uint32_t>(i + 1), 5}, 1).SealForAnybody(greeting);
    network_.node("a").Receive(greeting, "stranger " + std::to_string(i), network_.now);
  }
  EXPECT_EQ(network_.node("a").Status(network_.now).problems.size(), 8u);
  EXPECT_EQ(network_.warnings["a"].size(), 8u);
  network_.RunFor(16s);
  EXPECT_TRUE(network_.node("a").Status(network_.now).problems.empty());
}

TEST_F(ProblemsOfANode, WhatCannotBeLookedUpIsTold) {
  FakeNetwork::Machine machine(network_, "a");
  DebtReplica replica({NodeNumber("a"), 1}, {}, network_.now);
  Node node({.id = "a"}, SomeKey(), replica, machine, network_.now);
  EXPECT_FALSE(HasProblem(node.Status(network_.now), "no_peers"));
  EXPECT_TRUE(HasProblem(node.Status(network_.now + 6s), "no_peers"));
  node.SetMembers({{"b", "b"}}, network_.now + 6s);
  EXPECT_FALSE(HasProblem(node.Status(network_.now + 6s), "no_peers"));
}

TEST_F(ProblemsOfANode, SeveralStrangersAreToldOneAfterTheOther) {
  network_.Start("a", 1, {"a", "b"});
  for (const char* id : {"b", "c", "d"}) network_.Start(id, 1, kFour);
  std::set<std::string> told;
  for (int i = 0; i < 100; ++i) {
    network_.RunFor(200ms);
    for (const Problem& problem : network_.node("a").Status(network_.now).problems) {
      told.insert(problem.message);
    }
  }
  EXPECT_EQ(told.size(), 1u) << "each new one is logged";
}

TEST_F(ProblemsOfANode, AStrangerThatIsPutOnTheListIsNoProblemAnyMore) {
  network_.Start("a", 1, {"a", "b"});
  network_.Start("b", 1, kThree);
  network_.Start("c", 1, kThree);
  network_.RunFor(1s);
  EXPECT_TRUE(HasProblem(network_.node("a").Status(network_.now), "stranger"));
  network_.node("a").SetMembers({{"b", "b"}, {"c", "c"}}, network_.now);
  EXPECT_FALSE(HasProblem(network_.node("a").Status(network_.now), "stranger"));
  network_.RunFor(4s);
  EXPECT_TRUE(Sees(network_, "a", "c"));
  EXPECT_TRUE(network_.node("a").Status(network_.now).problems.empty());
}

TEST_F(ProblemsOfANode, NodesThatNameKeysByDifferentSecretsAreTold) {
  network_.Start("a", 1, kTwo, {.names = 5});
  network_.Start("b", 1, kTwo, {.names = 6});
  network_.RunFor(3s);
  EXPECT_TRUE(HasProblem(network_.node("a").Status(network_.now), "names_differ"));
  EXPECT_TRUE(HasProblem(network_.node("b").Status(network_.now), "names_differ"));
}

}  // namespace
}  // namespace weir::cluster::node_problems_test
