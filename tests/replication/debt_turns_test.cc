// Whoever decides waits for one turn of debt, however many keys there are to tell, to move or to forget.
// Counted in keys, not in time.
#include <gtest/gtest.h>

#include "replication/debt_replica.h"
#include "tests/replication/cluster.h"

namespace weir::debt_turns_test {
namespace {

constexpr uint64_t kKeys = 20'000;
constexpr uint64_t kMostKeys = 1100;       // of one turn
constexpr size_t kMostEnvelopes = 100;     // that tell of so many, to two peers
const ReplicatedBucket kLimit{10, 1, 1h};  // so that nothing is forgotten

Key KeyOf(uint64_t i) { return {(i + 1) * 0x9e3779b97f4a7c15, (i + 1) * 0xd1342543de82ef95}; }

class DebtTurns : public testing::Test {
 protected:
  void TakeOfAll(DebtReplica& of, const ReplicatedBucket& limit = kLimit) {
    for (uint64_t i = 0; i < kKeys; ++i) of.Take(KeyOf(i), limit, 1, now);
  }
  // One turn of the node is no larger than any; what it sends.
  std::vector<Envelope> TakeTurn() {
    const uint64_t told = node.told();
    const size_t keys = node.keys();
    std::vector<Envelope> out = node.Tick(now);
    EXPECT_LE(node.told() - told, kMostKeys);
    EXPECT_LE(keys - node.keys(), kMostKeys);
    EXPECT_LE(out.size(), kMostEnvelopes);
    sent += out.size();
    for (const Envelope& envelope : out) small += envelope.bytes.size() < kMostEnvelopeBytes / 2;
    turns += 1;
    return out;
  }
  // Until nothing is to be done at this instant.
  void Finish() {
    turns = sent = small = 0;
    while (node.NextTick() <= now) {
      ASSERT_LT(turns, 1000u);
      TakeTurn();
    }
  }
  uint64_t Homes(uint32_t home) const {
    uint64_t count = 0;
    for (uint64_t i = 0; i < kKeys; ++i) count += node.HomeOf(KeyOf(i)) == home;
    return count;
  }

  Instant now = kStart;
  DebtReplica node{Origin{0, 1}, {.answer_patience = 1s}, kStart};
  size_t turns = 0, sent = 0, small = 0;
};

TEST_F(DebtTurns, EverythingIsToldInFullEnvelopesButNotAtOnce) {
  node.SetPeers({1, 2});
  TakeOfAll(node);
  now += DebtOptions{}.patience;
  Finish();
  EXPECT_EQ(node.told(), kKeys);
  EXPECT_GT(turns, 2 * kKeys / kMostKeys);
  EXPECT_GT(sent, kKeys / 40);
  EXPECT_LE(small, 2u) << "the last for each peer";
  Finish();
  EXPECT_EQ(sent, 0u) << "it is told";
}

TEST_F(DebtTurns, WhoComesIsHandedHisKeysALittleAtATime) {
  node.SetPeers({1});
  TakeOfAll(node);
  now += DebtOptions{}.patience;
  Finish();
  const uint64_t before = node.told();
  node.SetPeers({1, 2});
  EXPECT_LE(node.NextTick(), now);
  Finish();
  EXPECT_EQ(node.told() - before, Homes(2));
}

TEST_F(DebtTurns, WhoGoesIsDoneWithoutALittleAtATime) {
  node.SetPeers({1, 2});
  TakeOfAll(node);
  now += DebtOptions{}.patience;
  Finish();
  const uint64_t before = node.told(), at_two = Homes(2);
  node.SetPeers({1});
  Finish();
  EXPECT_EQ(node.told() - before, at_two);
}

// As if it had been looked at between.
TEST_F(DebtTurns, WhoGoesAndComesBeforeAllWasLookedAtHasBeenAway) {
  DebtReplica other{Origin{1, 1}, {}, kStart};
  node.SetPeers({1, 2});
  other.SetPeers({0, 2});
  TakeOfAll(other);
  now += DebtOptions{}.patience;
  while (other.NextTick() <= now) {
    for (const Envelope& envelope : other.Tick(now)) {
      bool good = false;
      node.Receive(envelope.bytes, now, good);
    }
  }
  const uint64_t known = node.keys();  // rows of 1, among them such as its own home tells all
  ASSERT_GT(known, kKeys / 2);
  Finish();
  now += DebtOptions{}.patience;
  Finish();
  ASSERT_LT(node.told(), known) << "not what 1 tells all itself";
  node.SetPeers({2});
  node.SetPeers({1, 2});
  Finish();
  EXPECT_GE(node.told(), known) << "nobody but this node may tell it";
}

TEST_F(DebtTurns, ADeafHomeIsDoneWithoutALittleAtATime) {
  node.SetPeers({1, 2});
  TakeOfAll(node);
  now += DebtOptions{}.patience;
  Finish();
  const uint64_t before = node.told(), handed = Homes(1) + Homes(2);
  now += 1s;
  Finish();
  EXPECT_EQ(node.told() - before, handed);
}

TEST_F(DebtTurns, ALifeThatIsOverIsAdoptedALittleAtATime) {
  DebtReplica other{Origin{1, 1}, {}, kStart}, next{Origin{1, 2}, {}, kStart};
  node.SetPeers({1, 2});
  for (DebtReplica* peer : {&other, &next}) peer->SetPeers({0, 2});
  TakeOfAll(other);
  now += DebtOptions{}.patience;
  bool good = false;
  while (other.NextTick() <= now) {
    for (const Envelope& envelope : other.Tick(now)) node.Receive(envelope.bytes, now, good);
  }
  Finish();
  now += DebtOptions{}.patience;
  Finish();
  const uint64_t known = node.keys(), before = node.told();
  next.Take(KeyOf(0), kLimit, 5, now);
  for (const Envelope& envelope : next.Farewell(now)) {
    if (envelope.to == 0) node.Receive(envelope.bytes, now, good);
  }
  EXPECT_TRUE(good);
  EXPECT_LE(node.told(), before);
  Finish();
  EXPECT_GE(node.told(), known);
}

TEST_F(DebtTurns, WhatIsUrgentDoesNotWaitForWhatIsMoved) {
  node.SetPeers({1});
  TakeOfAll(node);
  now += DebtOptions{}.patience;
  Finish();
  node.SetPeers({1, 2});
  TakeTurn();
  const auto is_at_two = [&](uint64_t i) { return node.HomeOf(KeyOf(i)) == 2; };
  uint64_t i = 0;  // among the last that are looked at
  while (!is_at_two(i)) ++i;
  const uint64_t before = node.told();
  node.Take(KeyOf(i), kLimit, 3, now);
  TakeTurn();
  EXPECT_EQ(node.told(), before + 1) << "the rest is still gathered";
}

TEST_F(DebtTurns, KeysAreForgottenALittleAtATime) {
  node.SetPeers({1, 2});
  TakeOfAll(node, {.capacity = 10, .limit = 0, .per = 1s, .window = 7});
  now += DebtOptions{}.patience;
  Finish();
  for (int rounds = 0; node.keys() > 0; ++rounds) {
    ASSERT_LT(rounds, 100);
    now += 1s;
    Finish();
  }
}

TEST_F(DebtTurns, MemoryIsCountedALittleAtATime) {
  TakeOfAll(node);
  MemoryCount count;
  size_t parts = 0;
  for (; !count.done; ++parts) {
    Steps steps(1000);
    node.CountBytes(count, steps);
  }
  EXPECT_GE(parts, kKeys / 1000);
  EXPECT_EQ(count.bytes, node.bytes());
}

TEST_F(DebtTurns, WhoLeavesTellsAllAtOnce) {
  node.SetPeers({1, 2});
  TakeOfAll(node);
  node.Farewell(now);
  EXPECT_EQ(node.told(), kKeys);
}

}  // namespace
}  // namespace weir::debt_turns_test
