// A name belongs to one process at a time: a second one is told so and ends, and whoever really starts
// again has its name.
#include <gtest/gtest.h>

#include "tests/cluster/fake_network.h"

namespace weir::cluster::names_test {
namespace {

constexpr ReplicatedBucket kLimit{.capacity = 100, .limit = 1, .per = std::chrono::hours(1)};
constexpr Key kKey{1, 2};

const std::vector<std::string> kTwo = {"a", "b"};
const std::vector<std::string> kThree = {"a", "b", "c"};
const std::vector<std::string> kFour = {"a", "b", "c", "d"};

class Names : public ::testing::Test {
 protected:
  void StartAll(const std::vector<std::string>& ids, const NodeOptions& options = {}) {
    ids_ = ids;
    for (const std::string& id : ids) network_.Start(id, 10, ids, options);
    network_.RunFor(1s);
    ExpectWhole();
  }
  // All that run see each other, as those at the addresses of their names.
  void ExpectWhole() {
    for (const std::string& who : ids_) {
      for (const std::string& whom : ids_) {
        if (who != whom) {
          EXPECT_TRUE(network_.runs(who) && Sees(network_, who, whom)) << who << " " << whom;
        }
      }
    }
  }
  uint32_t LifeOf(const std::string& id, const std::string& seen_by) {
    return Find(network_.node(seen_by).Status(network_.now), id)->incarnation;
  }
  // What is taken at one is known at the other.
  void ExpectCounted(const std::string& at, const std::string& told) {
    network_.replica(at).Take(kKey, kLimit, 40, network_.now);  // more than its share: told at once
    network_.RunFor(3s);
    EXPECT_EQ(network_.replica(told).Remaining(kKey, kLimit, network_.now), 60u) << at << told;
    network_.replica(at).Refund({kKey, 0}, 40, network_.now);
    network_.RunFor(12s);
  }
  void Apart(const std::vector<std::string>& these, const std::vector<std::string>& those,
             bool apart) {
    for (const std::string& one : these) {
      for (const std::string& other : those) {
        network_.apart[{one, other}] = network_.apart[{other, one}] = apart;
      }
    }
  }

  FakeNetwork network_;
  std::vector<std::string> ids_;
};

TEST_F(Names, ASecondNodeOfANameSaysSoAndEndsAndChangesNothing) {
  for (const auto& ids : {kTwo, kThree}) {
    network_ = FakeNetwork();
    StartAll(ids);
    for (const uint32_t life :
         {20u, 5u, 10u}) {  // later, with a clock that is behind, with the same number
      network_.warnings.clear();
      network_.StartAt("x", "a", life, ids, {.birthmark = 77});
      const Instant started = network_.now;
      while (network_.runs("x") && network_.now < started + 3s) network_.RunFor(1ms);
      EXPECT_LT(network_.now, started + 100ms) << life;
      EXPECT_NE(network_.ended["x"].find("another node is \"a\" at a"), std::string::npos)
          << network_.ended["x"];
      EXPECT_EQ(LifeOf("a", "b"), 10u);
      EXPECT_TRUE(HasProblem(network_.node("b").Status(network_.now), "name_taken"));
      EXPECT_LE(network_.warnings["b"].size(), 1u) << "once a minute";
      network_.RunFor(20s);
      ExpectWhole();
      EXPECT_FALSE(HasProblem(network_.node("b").Status(network_.now), "name_taken"))
          << "it is over";
      ExpectCounted("a", "b");
      ExpectCounted("b", "a");
    }
  }
}

TEST_F(Names, OneThatIsKilledAndStartsAgainAtItsAddressHasItsNameAtOnce) {
  for (const uint32_t life : {11u, 10u, 3u, UINT32_MAX, 7u}) {  // 10, 3, 7: the clock was set back
    const bool number_reused = life == 10;                      // the clock was set back by as much
    network_ = FakeNetwork();
    StartAll(kThree);
    network_.replica("a").Take(kKey, kLimit, 40, network_.now);
    network_.RunFor(500ms);
    network_.Stop("a");
    network_.RunFor(50ms);
    network_.Start("a", life, kThree, {.birthmark = 78});
    const Instant started = network_.now;
    while (!network_.node("a").ready()) network_.RunFor(1ms);
    EXPECT_LT(network_.now, started + 150ms) << life;
    if (!number_reused) {
      EXPECT_EQ(network_.replica("a").Remaining(kKey, kLimit, network_.now), 60u) << life;
    }
    network_.RunFor(1s);
    ExpectWhole();
    EXPECT_EQ(LifeOf("a", "b"), life);
    EXPECT_TRUE(network_.ended.empty());
    network_.replica("a").Take(kKey, kLimit, 30, network_.now);
    network_.replica("b").Take(kKey, kLimit, 20, network_.now);
    network_.RunFor(15s);
    for (const std::string& id : kThree) {
      if (number_reused) break;
      EXPECT_EQ(network_.replica(id).Remaining(kKey, kLimit, network_.now), 10u) << id << life;
    }
  }
}

TEST_F(Names, OneThatIsKilledAndStartsAgainElsewhereHasItsNameAfterTwoSeconds) {
  NodeOptions open;
  open.membership.open = true;
  for (const uint32_t life : {11u, 3u}) {
    network_ = FakeNetwork();
    ids_ = kThree;
    for (const std::string& id : kThree) network_.Start(id, 10, kThree, open);
    network_.RunFor(1s);
    network_.replica("a").Take(kKey, kLimit, 40, network_.now);
    network_.RunFor(500ms);
    network_.Stop("a");
    open.birthmark = 79;
    network_.StartAt("y", "a", life, kThree, open);
    open.birthmark = 1;
    const Instant started = network_.now;
    while (!network_.node("y").ready()) network_.RunFor(1ms);
    EXPECT_LE(network_.now, started + 2100ms) << "it waits no longer than for anything else";
    EXPECT_EQ(network_.replica("y").Remaining(kKey, kLimit, network_.now), 60u)
        << "and knows what was used";
    network_.RunFor(500ms);
    EXPECT_EQ(LifeOf("a", "b"), life);
    EXPECT_EQ(Find(network_.node("b").Status(network_.now), "a")->address, "y");
    EXPECT_TRUE(network_.ended.empty());
  }
}

TEST_F(Names, OneThatLeftInOrderMayStartElsewhereAtOnce) {
  NodeOptions open;
  open.membership.open = true;
  StartAll(kThree, open);
  network_.RunFor(2s);
  network_.node("a").Leave(network_.now);
  network_.RunFor(2ms);
  network_.Stop("a");
  network_.StartAt("y", "a", 11, kThree, open);
  const Instant started = network_.now;
  while (!network_.node("y").ready()) network_.RunFor(1ms);
  EXPECT_LT(network_.now, started + 500ms);
}

TEST_F(Names, AfterAPauseTheOneThatLostItsNameEnds) {
  StartAll(kThree);
  network_.Pause("a");
  network_.RunFor(500ms);
  network_.StartAt("x", "a", 20, kThree);
  network_.RunFor(3s);
  EXPECT_TRUE(network_.runs("x")) << network_.ended["x"];
  EXPECT_EQ(LifeOf("a", "b"), 20u);
  network_.RunFor(10s);
  network_.Resume("a");
  network_.RunFor(5s);
  EXPECT_FALSE(network_.runs("a"));
  EXPECT_NE(network_.ended["a"].find("at x"), std::string::npos) << network_.ended["a"];
  EXPECT_TRUE(network_.runs("x"));
  EXPECT_EQ(LifeOf("a", "b"), 20u);
  EXPECT_EQ(LifeOf("a", "c"), 20u);
  network_.replica("b").Take(kKey, kLimit, 40, network_.now);
  network_.RunFor(3s);
  EXPECT_EQ(network_.replica("x").Remaining(kKey, kLimit, network_.now), 60u)
      << "it is told, where it is";
}

TEST_F(Names, AfterACutOnATieTheLaterStartYields) {
  StartAll(kThree);
  Apart({"a", "b"}, {"c", "x"}, true);
  network_.RunFor(6s);
  network_.StartAt("x", "a", 20, kThree);
  network_.RunFor(5s);
  EXPECT_TRUE(Sees(network_, "c", "a"));
  EXPECT_EQ(LifeOf("a", "c"), 20u);
  Apart({"a", "b"}, {"c", "x"}, false);
  network_.RunFor(15s);
  EXPECT_FALSE(network_.runs("x"));
  EXPECT_TRUE(network_.runs("a")) << network_.ended["a"];
  ExpectWhole();
  EXPECT_EQ(LifeOf("a", "c"), 10u);
  ExpectCounted("a", "c");
  ExpectCounted("c", "a");
}

TEST_F(Names, AfterACutTheOneThatFewerMembersAcceptedYields) {
  StartAll(kFour);
  Apart({"a", "b"}, {"c", "d", "x"}, true);
  network_.RunFor(6s);
  network_.StartAt("x", "a", 20, kFour);
  network_.RunFor(5s);
  Apart({"a", "b"}, {"c", "d", "x"}, false);
  network_.RunFor(15s);
  EXPECT_TRUE(network_.runs("x")) << network_.ended["x"];
  EXPECT_FALSE(network_.runs("a"));
  for (const char* id : {"b", "c", "d"}) EXPECT_EQ(LifeOf("a", id), 20u) << id;
}

TEST_F(Names, OfTwoThatStartTogetherOneStays) {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    network_ = FakeNetwork(seed);
    network_.faults = {
        .lose = 0.1 * static_cast<double>(seed % 3), .least_delay = 1ms, .most_delay = 20ms};
    const uint32_t other = seed % 2 == 0 ? 10 : 11;  // with the same number of life, or not
    network_.Start("a", 10, kThree);
    network_.StartAt("x", "a", other, kThree, {.birthmark = 77});
    network_.RunFor(static_cast<int64_t>(seed % 5) * 100ms);
    network_.Start("b", 10, kThree);
    network_.Start("c", 10, kThree);
    network_.RunFor(20s);
    EXPECT_EQ(network_.ended.size(), 1u) << seed;
    EXPECT_TRUE(Sees(network_, "b", "a") && Sees(network_, "c", "a")) << seed;
  }
}

TEST_F(Names, NamesakesThatMeetAndKnowNobodyElseAgreeToo) {
  NodeOptions open;
  open.membership.open = true;
  network_.StartAt("x", "a", 10, {"y"}, open);
  network_.StartAt("y", "a", 11, {"x"}, open);
  network_.RunFor(5s);
  EXPECT_TRUE(network_.runs("x"));
  EXPECT_FALSE(network_.runs("y"));
}

TEST_F(Names, OneThatLostItsNameToOneThatIsGoneKeepsIt) {
  StartAll(kThree);
  network_.Pause("a");
  network_.StartAt("x", "a", 20, kThree);
  network_.RunFor(4s);
  EXPECT_EQ(LifeOf("a", "b"), 20u);
  network_.Resume("a");
  while (network_.node("a").Status(network_.now).names_disputed == 0) network_.RunFor(1ms);
  network_.Stop("x");  // the others, which are asked now, take it for alive still
  network_.RunFor(15s);
  EXPECT_TRUE(network_.runs("a")) << network_.ended["a"];
  ExpectWhole();
  EXPECT_EQ(LifeOf("a", "b"), 10u);
}

TEST_F(Names, OneThatCannotReachWhoHasItsNameYieldsToTheMembersInTime) {
  StartAll(kThree);
  Apart({"a"}, {"x"}, true);  // for good
  network_.Pause("a");
  network_.StartAt("x", "a", 20, kThree);
  network_.RunFor(4s);
  network_.Resume("a");
  network_.RunFor(15s);
  EXPECT_FALSE(network_.runs("a"));
  EXPECT_TRUE(network_.runs("x"));
}

TEST_F(Names, ThoseWhoseOwnNameIsDisputedHaveNoVote) {
  StartAll(kThree);
  network_.Pause("a");
  network_.Pause("b");
  network_.StartAt("x", "a", 20, kThree);
  network_.StartAt("y", "b", 20, kThree);
  network_.RunFor(5s);
  EXPECT_EQ(LifeOf("a", "c"), 20u);
  EXPECT_EQ(LifeOf("b", "c"), 20u);
  network_.Resume("a");
  network_.Resume("b");  // each would keep the other in office
  network_.RunFor(30s);
  EXPECT_FALSE(network_.runs("a"));
  EXPECT_FALSE(network_.runs("b"));
  EXPECT_TRUE(network_.runs("x"));
  EXPECT_TRUE(network_.runs("y"));
}

TEST_F(Names, WhatAnOldLifeOnceSaidDoesNotGiveItTheNameBack) {
  network_.record = true;
  StartAll(kTwo);
  const std::vector<std::string> recorded = network_.recorded;
  network_.Stop("b");
  network_.Start("b", 11, kTwo);
  network_.RunFor(2s);
  network_.Stop("b");
  network_.RunFor(10s);
  EXPECT_FALSE(Sees(network_, "a", "b"));
  for (const std::string& datagram : recorded) {
    network_.node("a").Receive(datagram, "b", network_.now);
  }
  network_.RunFor(5s);
  EXPECT_FALSE(Sees(network_, "a", "b"));
  EXPECT_EQ(LifeOf("b", "a"), 11u);
}

TEST_F(Names, ANodeIsNotReadyBeforeSomebodyHasAcceptedIt) {
  StartAll(kThree);
  network_.Pause("a");
  network_.StartAt("x", "a", 20, kThree);
  network_.RunFor(1900ms);
  EXPECT_FALSE(network_.node("x").ready());
  network_.Resume("a");
  network_.RunFor(200ms);
  EXPECT_FALSE(network_.runs("x")) << "the one that was asked for has answered in time";
}

// ---- Keys ----

TEST_F(Names, AKeyIsChangedOneNodeAfterTheOtherWhileAllGoesOn) {
  const std::string a = "the first secret, which is long enough",
                    b = "the second secret, which is as long";
  const auto ring = [](const std::string& text) { return *KeyRing::FromText(text); };
  for (const std::string& id : kThree) network_.Start(id, 10, kThree, {}, ring(a));
  ids_ = kThree;
  network_.RunFor(1s);
  uint64_t taken = 0;
  for (const std::string& file : {a + "\n" + b, b + "\n" + a, b}) {
    for (const std::string& id : kThree) {
      network_.node(id).SetKeys(ring(file));
      network_.replica(id).Take(kKey, kLimit, 5, network_.now);
      taken += 5;
      network_.RunFor(5s);
      ExpectWhole();
    }
    network_.Start("c", 11 + LifeOf("c", "a"), kThree, {}, ring(file));  // it copies meanwhile
    network_.RunFor(1s);
    EXPECT_EQ(network_.node("c").Status(network_.now).copies.received, 1u);
  }
  network_.RunFor(15s);
  for (const std::string& id : kThree) {
    EXPECT_EQ(network_.replica(id).Remaining(kKey, kLimit, network_.now), 100 - taken) << id;
    EXPECT_EQ(Rejected(network_.node(id).Status(network_.now), Rejection::kStranger), 0u);
  }
  EXPECT_TRUE(network_.warnings.empty());
}

TEST(KeyRing, HasOneOrTwoKeysAndWhatNamesAreMadeBy) {
  const std::string a(32, 'a'), b(32, 'b'), c(32, 'c');
  const ClusterKey first = *ClusterKey::FromText(a), second = *ClusterKey::FromText(b);
  EXPECT_EQ(KeyRing::FromText(a + "\n")->naming(), first);
  const KeyRing both =
      *KeyRing::FromText("# old and new\n" + b + "\n\n " + a + " \nnames: " + a + "\n");
  EXPECT_EQ(both.sealing(), second);
  EXPECT_EQ(both.keys().size(), 2u);
  EXPECT_EQ(both.naming(), first);
  EXPECT_EQ(both.naming().MarkOfNames(), first.MarkOfNames());
  EXPECT_NE(both.sealing().MarkOfNames(), first.MarkOfNames());
  for (const std::string& bad : {a + "\n" + b + "\n" + c, a + "\n" + b.substr(1), "names: " + a,
                                 a + "\nnames: " + a + "\nnames: " + b, std::string("\n#\n")}) {
    EXPECT_FALSE(KeyRing::FromText(bad)) << bad;
  }
}

}  // namespace
}  // namespace weir::cluster::names_test
