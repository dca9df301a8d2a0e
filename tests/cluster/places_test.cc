// A node is found wherever it runs: where the list has it, or else where members have met it.
#include <gtest/gtest.h>

#include "tests/cluster/fake_network.h"

namespace weir::cluster::places_test {
namespace {

constexpr ReplicatedBucket kLimit{.capacity = 100, .limit = 1, .per = std::chrono::hours(1)};
constexpr Key kKey{1, 2};

const std::vector<std::string> kTwo = {"a", "b"};
const std::vector<std::string> kThree = {"a", "b", "c"};

NodeOptions Open() {
  NodeOptions options;
  options.membership.open = true;
  return options;
}

class Places : public ::testing::Test {
 protected:
  void StartAll(const std::vector<std::string>& ids, const NodeOptions& options = {}) {
    for (const std::string& id : ids) network_.Start(id, 10, ids, options);
    network_.RunFor(1s);
  }
  // `id`, which is no more where the list has it, is at `address` from now on.
  void Move(const std::string& id, const std::string& address, const NodeOptions& options = {}) {
    network_.Stop(id);
    network_.StartAt(address, id, 20, kThree, options);
    network_.RunFor(6s);
    ASSERT_TRUE(network_.runs(address));
  }
  std::string AddressOf(const std::string& id, const std::string& seen_by) {
    const NodeStatus status = network_.node(seen_by).Status(network_.now);
    const PeerStatus* peer = Find(status, id);
    return peer == nullptr ? "" : peer->alive ? peer->address : "dead at " + peer->address;
  }
  // What is taken at one is known at the other, and the other way round.
  void ExpectCounted(const std::string& one, const std::string& other) {
    network_.replica(one).Take(kKey, kLimit, 40, network_.now);
    network_.RunFor(6s);
    EXPECT_EQ(network_.replica(other).Remaining(kKey, kLimit, network_.now), 60u) << one << other;
    network_.replica(other).Take(kKey, kLimit, 40, network_.now);
    network_.RunFor(6s);
    EXPECT_EQ(network_.replica(one).Remaining(kKey, kLimit, network_.now), 20u) << one << other;
  }

  FakeNetwork network_;
};

TEST_F(Places, OneThatStartsFindsAtOnceWhoIsNotWhereTheListHasIt) {
  for (const NodeOptions& options : {NodeOptions{}, Open()}) {
    network_ = FakeNetwork();
    StartAll(kThree, options);
    Move("a", "x", options);
    network_.Start("b", 11, kThree, options);
    network_.RunFor(300ms);
    EXPECT_EQ(AddressOf("a", "b"), "x");
    EXPECT_EQ(AddressOf("b", "x"), "b");
    ExpectCounted("b", "x");
  }
}

TEST_F(Places, TwoThatAreBothElsewhereAreIntroducedByAThird) {
  for (const NodeOptions& options : {NodeOptions{}, Open()}) {
    network_ = FakeNetwork();
    StartAll(kThree, options);
    Move("a", "x", options);
    Move("b", "y", options);
    EXPECT_EQ(AddressOf("a", "y"), "x");
    EXPECT_EQ(AddressOf("b", "x"), "y");
    ExpectCounted("x", "y");
    network_.Stop("c");
    network_.apart[{"x", "y"}] = network_.apart[{"y", "x"}] = true;
    network_.RunFor(10s);
    EXPECT_NE(AddressOf("a", "y"), "x") << "they are cut off";
    network_.apart.clear();
    network_.RunFor(5s);
    EXPECT_EQ(AddressOf("a", "y"), "x");
    EXPECT_EQ(AddressOf("b", "x"), "y");
  }
}

TEST_F(Places, TwoAloneThatHaveMetElsewhereMeetThereAgain) {
  StartAll(kTwo);
  network_.Pause("a");
  network_.StartAt("x", "a", 20, kTwo);
  network_.RunFor(4s);
  network_.Stop("a");
  EXPECT_EQ(AddressOf("a", "b"), "x");
  network_.cut["x"] = true;
  network_.RunFor(10s);
  EXPECT_EQ(AddressOf("a", "b"), "dead at a");
  network_.cut["x"] = false;
  network_.RunFor(4s);
  EXPECT_EQ(AddressOf("a", "b"), "x");
  EXPECT_TRUE(Sees(network_, "x", "b"));
}

TEST_F(Places, OneThatReturnsToWhereTheListHasItIsReachedThere) {
  for (const Duration gone : {Duration(100ms), Duration(10s)}) {
    network_ = FakeNetwork();
    StartAll(kThree);
    Move("a", "x");
    EXPECT_EQ(AddressOf("a", "b"), "x");
    network_.Stop("x");
    network_.RunFor(gone);
    network_.Start("a", 30, kThree);
    network_.RunFor(4s);
    for (const char* id : {"b", "c"}) EXPECT_EQ(AddressOf("a", id), "a");
    ExpectCounted("a", "b");
    network_.RunFor(20s);
    EXPECT_EQ(AddressOf("a", "b"), "a");
    EXPECT_TRUE(Sees(network_, "a", "b"));
  }
}

// Of a host with several addresses.
TEST_F(Places, OneThatSpeaksFromAnotherAddressIsReachedWhereTheListHasIt) {
  network_.speaks_as["a"] = "another of a";  // where nothing arrives
  network_.Start("a", 10, kThree);
  network_.Start("b", 10, kThree);
  network_.Start("c", 10, kThree);
  network_.RunFor(1s);
  EXPECT_EQ(AddressOf("a", "b"), "a");
  EXPECT_TRUE(network_.node("a").ready());
  ExpectCounted("a", "b");
  const size_t before = network_.datagrams;
  network_.RunFor(100s);
  EXPECT_EQ(AddressOf("a", "b"), "a");
  EXPECT_LE(network_.datagrams - before, 3u * 2 * 110 + 100) << "it is not searched all the time";
  network_.Start("a", 11, kThree);
  network_.RunFor(1s);
  EXPECT_EQ(AddressOf("a", "b"), "a");
  EXPECT_TRUE(network_.ended.empty());
}

// ---- Who is asked for a name ----

TEST_F(Places, ASecondNodeAsksWhereTheListHasItsName) {
  for (const uint32_t life : {20u, 3u}) {  // with a clock that was set back, too
    network_ = FakeNetwork();
    StartAll(kTwo);
    network_.RunFor(2s);
    network_.Stop("b");
    network_.RunFor(10s);  // there is nobody else to ask
    network_.StartAt("x", "a", life, kTwo);
    network_.RunFor(100ms);
    EXPECT_FALSE(network_.runs("x")) << life;
    EXPECT_TRUE(network_.runs("a")) << network_.ended["a"];
    EXPECT_NE(network_.ended["x"].find("another node is \"a\" at a"), std::string::npos);
  }
}

// Who answers first differs: datagrams take 1 to 30 ms.
class PlacesBySeed : public Places, public ::testing::WithParamInterface<uint64_t> {
 protected:
  PlacesBySeed() {
    network_ = FakeNetwork(GetParam());
    network_.faults = {.least_delay = 1ms, .most_delay = 30ms};
    network_.apart[{"x", "a"}] = network_.apart[{"a", "x"}] = true;  // so x must ask the others
  }
  const uint32_t life_ = GetParam() % 2 == 0 ? 20u : 3u;  // its clock was set back
  void ExpectThatTheSecondIsRefused() {
    EXPECT_FALSE(network_.runs("x"));
    EXPECT_TRUE(network_.runs("a")) << network_.ended["a"];
    EXPECT_EQ(AddressOf("a", "b"), "a");
  }
};

TEST_P(PlacesBySeed, OneThatHasJustStartedDoesNotGiveANameToWhoeverComesFirst) {
  StartAll(kTwo);
  network_.RunFor(2s);
  network_.cut["b"] = true;
  network_.RunFor(10s);
  network_.Start("b", 11, kTwo);
  network_.StartAt("x", "a", life_, kTwo);
  network_.cut["b"] = false;
  network_.RunFor(20s);
  ExpectThatTheSecondIsRefused();
}

TEST_P(PlacesBySeed, OneThatIsDeadToAllSinceACutIsAskedAllTheSame) {
  StartAll(kThree);
  network_.RunFor(2s);
  network_.cut["a"] = true;
  network_.RunFor(10s);
  network_.cut["a"] = false;
  network_.StartAt("x", "a", life_, kThree);
  network_.RunFor(20s);
  ExpectThatTheSecondIsRefused();
}

INSTANTIATE_TEST_SUITE_P(Seeds, PlacesBySeed, ::testing::Range<uint64_t>(1, 13));

}  // namespace
}  // namespace weir::cluster::places_test
