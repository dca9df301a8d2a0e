// The queue as a sliding log (thesis 000, section 4.1.1): an element counts until it is `per` old.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "algorithms/sliding_log.h"
#include "replication/queue_replica.h"
#include "tests/replication/cluster.h"
#include "tests/replication/everything.h"

namespace weir::log_queue_test {
namespace {

constexpr ReplicatedBucket kLog{.capacity = 10, .limit = 0, .per = 5s};

RC_GTEST_PROP(LogQueue, OneNodeAloneIsASlidingLog, ()) {
  QueueReplica node({1, 1}, {});
  const SlidingLog log{.limit = 10, .per = 5s};
  SlidingLog::State state;
  Instant now = kStart;
  for (int i = 0; i < 60; ++i) {
    now += Duration(*rc::gen::inRange<int64_t>(0, 1'000'000'000));
    if (*rc::gen::inRange(0, 10) == 0) now += 5s;  // exactly the edge, now and then
    const auto cost = *rc::gen::inRange<uint64_t>(1, 4);
    const bool want = log.Room(state, now).value_or(0) >= cost;
    if (want) log.Take(state, cost, now);
    RC_ASSERT(node.Admit(kSomeKey, kLog, cost, now) == want);
  }
}

TEST(LogQueue, OthersHearEveryHitAndForgetItInTime) {
  Cluster<QueueReplica> nodes(3, [](Origin self) {
    return std::make_unique<QueueReplica>(self, QueueOptions{.seed = self.node});
  });
  EXPECT_TRUE(nodes[0].Admit(kSomeKey, kLog, 4, nodes.now));
  nodes.RunFor(2s);
  EXPECT_TRUE(nodes[1].Admit(kSomeKey, kLog, 5, nodes.now));
  nodes.RunFor(2s);
  EXPECT_FALSE(nodes[2].Admit(kSomeKey, kLog, 2, nodes.now));
  EXPECT_EQ(nodes[2].Remaining(kSomeKey, kLog, nodes.now), 1u);
  nodes.RunFor(1s + 1ns);
  EXPECT_EQ(nodes[2].Remaining(kSomeKey, kLog, nodes.now), 5u);
  nodes.RunFor(20s);
  EXPECT_EQ(nodes[2].keys(), 0u);
}

TEST(LogQueue, TellsWhatChangedAndWhenItWas) {
  QueueReplica one({1, 1}, {}), other({2, 1}, {.report_changes = true});
  one.SetPeers({1, 2});
  other.SetPeers({1, 2});
  one.Tick(kStart);  // the first time comes later
  one.Take(kSomeKey, kLog, 3, kStart);
  bool good = false;
  for (const Envelope& envelope : Everything(one, 2, kStart + 1s)) {
    other.Receive(envelope.bytes, kStart + 1s, good);
    EXPECT_TRUE(good);
    other.Receive(envelope.bytes, kStart + 1s, good);  // twice is once
  }
  const std::vector<Change> changes = other.TakeChanges();
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].limit.window, ToNanos(kStart));
  EXPECT_EQ(static_cast<int64_t>(changes[0].ticks), -3);
}

}  // namespace
}  // namespace weir::log_queue_test
