// Whoever waits for a replica's lock waits for one turn: what there is to do of many keys takes many, and
// each is as large as any. Counted in keys, not in time.
#include <gtest/gtest.h>

#include "replication/counter_replica.h"
#include "replication/queue_replica.h"
#include "tests/replication/cluster.h"

namespace weir::turns_test {
namespace {

constexpr uint64_t kKeys = 20'000;
constexpr size_t kMostKeys = 1100;      // of one turn
constexpr size_t kMostEnvelopes = 150;  // that tell of so many
const ReplicatedBucket kLimit{10, 1, 1s};

Key KeyOf(uint64_t i) { return {i, i * 0x9e3779b97f4a7c15}; }

template <typename SomeReplica>
std::unique_ptr<SomeReplica> Made(uint32_t node = 0) {
  if constexpr (std::is_same_v<SomeReplica, CounterReplica>) {
    return std::make_unique<CounterReplica>(Origin{node, 1}, CounterOptions{.interval = 100ms});
  } else {
    return std::make_unique<QueueReplica>(Origin{node, 1}, QueueOptions{.interval = 100ms});
  }
}

template <typename SomeReplica>
class Turns : public testing::Test {
 protected:
  void TakeOfAll() {
    for (uint64_t i = 0; i < kKeys; ++i) replica->Take(KeyOf(i), kLimit, 1, kStart);
  }
  // Until nothing is to be done at this instant.
  void Finish(Instant now) {
    for (int turns = 0; replica->NextTick() <= now; ++turns) {
      ASSERT_LT(turns, 1000);
      const std::vector<Envelope> out = replica->Tick(now);
      EXPECT_LE(out.size(), kMostEnvelopes);
      sent += out.size();
    }
  }

  std::unique_ptr<SomeReplica> replica = Made<SomeReplica>();
  size_t sent = 0;
};

using Kinds = testing::Types<CounterReplica, QueueReplica>;
TYPED_TEST_SUITE(Turns, Kinds);

TYPED_TEST(Turns, EverythingIsToldButNotAtOnce) {
  this->replica->SetPeers({1});
  this->TakeOfAll();
  this->Finish(kStart);
  this->Finish(kStart + 200ms);
  EXPECT_GT(this->sent, kKeys / 40);
  const size_t once = this->sent;
  this->Finish(kStart + 300ms);
  EXPECT_EQ(this->sent, once) << "it is under way";
}

TYPED_TEST(Turns, ANewcomerIsOwedWhatIsKnownALittleAtATime) {
  this->replica->SetPeers({});
  this->TakeOfAll();
  this->replica->SetPeers({1});
  EXPECT_LE(this->replica->owed(), kMostKeys);
  EXPECT_LE(this->replica->NextTick(), kStart);
  this->Finish(kStart);
  EXPECT_EQ(this->replica->owed(), kKeys);
}

TYPED_TEST(Turns, WhoGoesIsOwedNothingAtOnceAndOthersAsBefore) {
  this->replica->SetPeers({1, 2});
  this->TakeOfAll();
  EXPECT_EQ(this->replica->owed(), 2 * kKeys);
  this->replica->SetPeers({2});
  EXPECT_EQ(this->replica->owed(), kKeys);
  EXPECT_LE(this->replica->NextTick(), kStart) << "there is something to tidy up";
  this->replica->SetPeers({3, 2});  // before all is
  this->Finish(kStart);
  EXPECT_EQ(this->replica->owed(), 2 * kKeys);
  this->replica->SetPeers({});
  EXPECT_EQ(this->replica->owed(), 0u);
}

TYPED_TEST(Turns, WhatIsLostIsOwedAgainInTurns) {
  this->replica->SetPeers({1});
  this->TakeOfAll();
  this->Finish(kStart);
  this->Finish(kStart + 200ms);
  const size_t once = this->sent;
  this->Finish(kStart + 2s);
  EXPECT_GT(this->sent - once, kKeys / 50) << "all of it, in fuller envelopes";
}

TYPED_TEST(Turns, AllThatIsAcknowledgedAtOnceIsSettledInTurns) {
  const auto& node = this->replica;
  const auto other = Made<TypeParam>(1);
  node->SetPeers({1});
  other->SetPeers({0});
  this->TakeOfAll();
  std::vector<Envelope> told;
  for (Instant now = kStart; now <= kStart + 200ms; now += 100ms) {
    while (node->NextTick() <= now) {
      for (Envelope& envelope : node->Tick(now)) told.push_back(std::move(envelope));
    }
  }
  const Instant now = kStart + 300ms;
  bool good = false;
  for (const Envelope& envelope : told) other->Receive(envelope.bytes, now, good);
  EXPECT_EQ(node->owed(), kKeys);
  for (Instant then = now; then < now + 1s; then += 100ms) {
    for (const Envelope& envelope : other->Tick(then)) {
      const size_t before = node->owed();
      node->Receive(envelope.bytes, now, good);
      EXPECT_LE(before - node->owed(), kMostKeys);
    }
  }
  this->Finish(now);
  EXPECT_EQ(node->owed(), 0u);
}

TYPED_TEST(Turns, MemoryIsCountedALittleAtATime) {
  this->replica->SetPeers({1});
  this->TakeOfAll();
  MemoryCount count;
  size_t turns = 0;
  for (; !count.done; ++turns) {
    Steps steps(1000);
    this->replica->CountBytes(count, steps);
  }
  EXPECT_GE(turns, 2 * kKeys / 1000);
  EXPECT_EQ(count.bytes, this->replica->bytes());
}

TEST(QueueTurns, TheSweepLooksAtSomeKeysAtATime) {
  const auto queue = Made<QueueReplica>();
  for (uint64_t i = 0; i < kKeys; ++i) queue->Take(KeyOf(i), kLimit, 1, kStart);
  Instant now = kStart + 1h;
  for (int rounds = 0; queue->keys() > 0; ++rounds, now += 100ms) {
    ASSERT_LT(rounds, 1000);
    while (queue->NextTick() <= now) {
      const size_t before = queue->keys();
      queue->Tick(now);
      EXPECT_LE(before - queue->keys(), kMostKeys);
    }
  }
}

}  // namespace
}  // namespace weir::turns_test
