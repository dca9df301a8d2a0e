#include "mail/delivery.h"

#include <gtest/gtest.h>

#include "replication/counter_replica.h"
#include "tests/replication/cluster.h"

namespace weir::delivery_test {
namespace {

TEST(Delivery, WhatIsAcknowledgedInAnyOrderIsNotLost) {
  Delivery delivery;
  for (int i = 0; i < 1000; ++i) delivery.Send(kStart);
  for (uint32_t number = 1000; number > 0; number -= 2) {
    ASSERT_TRUE(delivery.Acknowledged(number).has_value());
    ASSERT_FALSE(delivery.Acknowledged(number).has_value()) << "twice";
  }
  std::vector<uint32_t> lost;
  while (const auto sent = delivery.Lost(kStart + 10s, 1s)) lost.push_back(sent->number);
  ASSERT_EQ(lost.size(), 500u);
  for (uint32_t i = 0; i < 500; ++i) EXPECT_EQ(lost[i], 2 * i + 1);
}

TEST(Delivery, AllThatCameIsAcknowledgedInEnvelopesThatEverybodyReads) {
  Delivery delivery;
  for (uint32_t number = 1; number <= 1000; ++number) delivery.Heard({1, 1}, number, kStart);
  std::vector<uint32_t> acknowledged;
  while (delivery.MustAcknowledge()) {
    EnvelopeWriter writer(EnvelopeHead{});
    delivery.WriteAcknowledgements(writer);
    const std::string bytes = writer.Take();
    EnvelopeReader reader(bytes);
    const Acknowledgements read = Delivery::ReadAcknowledgements(reader);
    ASSERT_TRUE(reader.done());
    acknowledged.insert(acknowledged.end(), read.numbers.begin(), read.numbers.end());
  }
  ASSERT_EQ(acknowledged.size(), 1000u);
  EXPECT_TRUE(std::is_sorted(acknowledged.begin(), acknowledged.end()));
}

// More envelopes than one acknowledges.
TEST(Delivery, ABacklogIsSentOnceHoweverLargeItIs) {
  Cluster<CounterReplica> cluster(2, [](Origin self) {
    return std::make_unique<CounterReplica>(self, CounterOptions{.interval = 100ms});
  });
  cluster.faults.delay = 1ms;
  const ReplicatedBucket limit{10, 1, 1s};
  for (uint64_t key = 0; key < 10'000; ++key) cluster[0].Take({key, key}, limit, 1, cluster.now);
  cluster.RunFor(250ms);
  const size_t once = cluster.told;
  EXPECT_GT(once, 200u);
  cluster.RunFor(3s);
  EXPECT_EQ(cluster.told, once) << "sent again, though nothing was lost";
  EXPECT_EQ(cluster[0].owed(), 0u);
}

}  // namespace
}  // namespace weir::delivery_test
