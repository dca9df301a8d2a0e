// A node that comes back without its memory, and what its earlier life had sent.
#include <gtest/gtest.h>

#include "replication/counter_replica.h"
#include "replication/debt_replica.h"
#include "replication/queue_replica.h"
#include "tests/replication/cluster.h"

namespace weir::earlier_life_test {
namespace {

using Make = std::function<std::unique_ptr<Replica>(Origin self)>;

struct Kind {
  const char* name;
  Make make;
};

class EarlierLife : public ::testing::TestWithParam<Kind> {};

TEST_P(EarlierLife, WhatItToldLateReachesTheNext) {
  const ReplicatedBucket bucket{100, 1, 1h};
  const std::vector<uint32_t> both = {0, 1};
  const Key other{7, 7};
  const auto there = GetParam().make({0, 1}), before = GetParam().make({1, 1});
  there->SetPeers(both);
  before->SetPeers(both);
  before->Take(kSomeKey, bucket, 40, kStart);
  const std::vector<Envelope> late = before->Farewell(kStart);
  ASSERT_FALSE(late.empty());

  const auto next = GetParam().make({1, 2});
  next->SetPeers(both);
  next->Take(other, bucket, 1, kStart);
  bool good = false;
  for (const Envelope& told : next->Farewell(kStart)) there->Receive(told.bytes, kStart, good);
  for (const Envelope& told : late) there->Receive(told.bytes, kStart, good);

  Instant now = kStart;
  for (; now < kStart + 5s; now += 10ms) {
    for (auto [from, to] :
         {std::pair(there.get(), next.get()), std::pair(next.get(), there.get())}) {
      if (from->NextTick() > now) continue;
      for (const Envelope& told : from->Tick(now)) {
        for (const Envelope& answer : to->Receive(told.bytes, now, good)) {
          from->Receive(answer.bytes, now, good);
        }
      }
    }
  }
  const auto tokens = [&](Replica& replica) {
    return Ticks(bucket).Tokens(replica.Level(kSomeKey, bucket, now));
  };
  EXPECT_EQ(tokens(*there), 60u);
  EXPECT_EQ(tokens(*next), 60u);
}

template <typename Kept, typename Options>
Make With(const Options& options) {
  return [options](Origin self) { return std::make_unique<Kept>(self, options); };
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, EarlierLife,
    ::testing::Values(Kind{"counter", With<CounterReplica>(CounterOptions{})},
                      Kind{"whole", With<CounterReplica>(CounterOptions{.whole_buckets = true})},
                      Kind{"queue", With<QueueReplica>(QueueOptions{})},
                      Kind{"debt",
                           [](Origin self) {
                             return std::make_unique<DebtReplica>(self, DebtOptions{}, kStart);
                           }}),
    [](const auto& kind) { return kind.param.name; });

}  // namespace
}  // namespace weir::earlier_life_test
