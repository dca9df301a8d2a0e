// Changing a limit while it is in use: what was used stays used.
#include <gtest/gtest.h>

#include "tests/store/testing.h"

namespace weir::change_test {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::kStart;
using testing::Remaining;
using testing::Take;

struct Change : ::testing::Test {
  MemoryStore store{testing::Mib(16), kStart};

  const LimitSlot* Add(const Limit& limit, Instant now = kStart) {
    return store.limits().Add(limit, false, now);
  }
  const LimitSlot* Replace(const LimitSlot* old, const Limit& limit, Instant now) {
    const LimitSlot* next = Add(limit, now);
    store.limits().Replace(old, old->serial, next, now);
    return next;
  }
  void SweepAll(Instant now) {
    for (size_t i = 0; i < KeyTable::kShards / 8; ++i) store.Tick(now);
  }
};

TEST_F(Change, ARaisedLimitGivesRoomAtOnceALoweredOneTakesIt) {
  const LimitSlot* old = Add(TokenBucket(10, minutes(1), 10));
  Take(store, old, 1, 10, kStart);
  const LimitSlot* raised = Replace(old, TokenBucket(20, minutes(1), 20), kStart);
  EXPECT_EQ(Remaining(store, raised, 1, kStart), 10u);
  const LimitSlot* lowered = Replace(raised, TokenBucket(5, minutes(1), 5), kStart);
  EXPECT_EQ(Remaining(store, lowered, 1, kStart), 0u);
  // 10 are used of 5: the sixth comes back after a minute, at 5 a minute.
  EXPECT_FALSE(Take(store, lowered, 1, 1, kStart + minutes(1)).allowed);
  EXPECT_TRUE(Take(store, lowered, 1, 1, kStart + seconds(72)).allowed);
}

TEST_F(Change, TheOldRateHoldsUntilTheInstantOfTheChange) {
  const LimitSlot* old = Add(TokenBucket(60, minutes(1), 60));  // one a second
  Take(store, old, 1, 60, kStart);
  const Instant change = kStart + seconds(30);
  const LimitSlot* slow = Replace(old, TokenBucket(60, hours(1), 60), change);  // one a minute
  // Not touched until much later: 30 came back before the change and 5 in five minutes after it.
  EXPECT_EQ(Remaining(store, slow, 1, change + minutes(5)), 35u);
}

TEST_F(Change, SeveralChangesApplyInTurn) {
  const LimitSlot* a = Add(TokenBucket(60, minutes(1), 60));
  Take(store, a, 1, 60, kStart);
  const LimitSlot* b = Replace(a, TokenBucket(60, hours(1), 60), kStart + seconds(10));
  const LimitSlot* c =
      Replace(b, TokenBucket(120, minutes(1), 60), kStart + seconds(10) + minutes(3));
  // 10 under a, 3 under b, 4 under c.
  EXPECT_EQ(Remaining(store, c, 1, kStart + seconds(12) + minutes(3)), 17u);
}

TEST_F(Change, RoundsAgainstTheSubject) {
  const LimitSlot* old = Add(TokenBucket(3, seconds(1), 3));
  Take(store, old, 1, 3, kStart);
  const Instant change = kStart + Duration(1);  // a sliver has come back
  const LimitSlot* next = Replace(old, TokenBucket(7, seconds(1), 3), change);
  EXPECT_EQ(Remaining(store, next, 1, change), 0u);
}

TEST_F(Change, AnotherAlgorithmStartsFromTheSameUse) {
  const Limit limits[] = {
      TokenBucket(10, hours(1), 10),
      FixedWindow{10, hours(1), FixedWindow::Anchor::kFirstRequest, nullptr},
      SlidingLog{10, hours(1), false},
      SlidingWindow{10, hours(1), 6, SlidingWindow::Edge::kStrict},
  };
  uint64_t key = 0;
  for (const Limit& from : limits) {
    for (const Limit& to : limits) {
      const LimitSlot* old = Add(from);
      Take(store, old, ++key, 7, kStart);
      const LimitSlot* next = Replace(old, to, kStart);
      EXPECT_EQ(Remaining(store, next, key, kStart), 3u)
          << AlgorithmName(from) << " to " << AlgorithmName(to);
    }
  }
}

TEST_F(Change, TiersCannotExpressAUseAndStartUnused) {
  const LimitSlot* old = Add(TokenBucket(10, hours(1), 10));
  Take(store, old, 1, 7, kStart);
  const LimitSlot* tiers =
      Replace(old, BurstTiers{{{10, seconds(1), seconds(10), Duration(0), false}}}, kStart);
  EXPECT_EQ(Remaining(store, tiers, 1, kStart), 10u);
}

TEST_F(Change, ATicketSurvivesIt) {
  const LimitSlot* old = Add(TokenBucket(10, hours(1), 10));
  Receipt receipt;
  Charge charge(testing::KeyOf(1), old, 8, 8);
  charge.receipt = &receipt;
  store.AdmitNow({&charge, 1}, kStart);
  const LimitSlot* next = Replace(old, TokenBucket(20, hours(1), 20), kStart);
  EXPECT_EQ(Remaining(store, next, 1, kStart), 12u);
  store.SettleNow({&receipt, 1}, 3, kStart);
  EXPECT_EQ(Remaining(store, next, 1, kStart), 17u);
}

// A thread that has not heard of the change asks for the old limit: it gets the new one.
TEST_F(Change, WhoAsksForTheOldLimitGetsTheNew) {
  const LimitSlot* old = Add(TokenBucket(10, minutes(1), 10));
  Take(store, old, 1, 10, kStart);
  const LimitSlot* next = Replace(old, TokenBucket(100, minutes(1), 100), kStart + hours(1));
  const Instant later = kStart + hours(2);
  EXPECT_TRUE(Take(store, next, 1, 50, later).allowed);
  EXPECT_TRUE(Take(store, old, 1, 20, later).allowed);
  EXPECT_EQ(Remaining(store, next, 1, later), 30u);
}

TEST_F(Change, SlotsAreFreedOnceNoStateNamesThem) {
  const LimitSlot* slot = Add(TokenBucket(10, hours(1), 10));
  Take(store, slot, 1, 10, kStart);
  for (int i = 0; i < 100; ++i) {
    slot = Replace(slot, TokenBucket(10 + static_cast<uint64_t>(i % 2), hours(1), 20), kStart);
    SweepAll(kStart);
  }
  SweepAll(kStart);
  EXPECT_LE(store.limits().in_use(), 3u);
  EXPECT_EQ(Remaining(store, slot, 1, kStart), 10u);
}

}  // namespace
}  // namespace weir::change_test
