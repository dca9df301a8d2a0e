// The memory that is allowed holds, whoever comes.
#include <gtest/gtest.h>

#include "tests/store/testing.h"

namespace weir::memory_cap_test {
namespace {

using std::chrono::hours;
using std::chrono::seconds;
using testing::kStart;

// Newcomers, each with a request or so, against a cap that holds a small part of them.
void Flood(uint64_t newcomers, uint64_t cap) {
  MemoryStore store(cap, kStart);
  const LimitSlot* slot = store.limits().Add(TokenBucket(40, hours(1), 40), false, kStart);
  constexpr uint64_t kAbusers = 100;
  for (uint64_t i = 0; i < kAbusers; ++i) {
    ASSERT_TRUE(testing::Take(store, slot, i, 40, kStart).allowed);
  }
  Instant now = kStart;
  for (uint64_t i = 0; i < newcomers; ++i) {
    now += Duration(100);
    ASSERT_TRUE(testing::Take(store, slot, 1'000'000 + i, 1, now).allowed);
    if (i % (newcomers / 200) == 0) {
      ASSERT_LE(store.bytes(), cap);
      for (uint64_t a = 0; a < kAbusers; ++a) {
        ASSERT_FALSE(testing::Take(store, slot, a, 1, now).allowed) << "after " << i;
      }
    }
  }
  EXPECT_GT(store.forgotten(), newcomers / 2);
  EXPECT_GT(store.keys(), cap / 40);  // what fits is kept
}

TEST(MemoryCap, HoldsAgainstAFloodAndNeverResetsAnAbuser) { Flood(2'000'000, testing::Mib(8)); }

TEST(MemoryCapLong, HoldsAgainstAHundredMillionKeys) { Flood(100'000'000, testing::Mib(64)); }

// A debt is forgotten only while the table is full of others at least as great.
TEST(MemoryCap, ForgetsTheLeastUsedFirst) {
  MemoryStore store(testing::Mib(8), kStart);
  const LimitSlot* small = store.limits().Add(TokenBucket(10, hours(1), 10), false, kStart);
  const LimitSlot* large =
      store.limits().Add(TokenBucket(1'000'000, hours(24), 1'000'000), false, kStart);
  // Half of 10 is more than 1000 of a million, however many tokens and whatever time that is.
  for (uint64_t i = 0; i < 1000; ++i)
    ASSERT_TRUE(testing::Take(store, small, i, 5, kStart).allowed);
  for (uint64_t i = 0; i < 1'000'000; ++i) testing::Take(store, large, 10'000 + i, 1000, kStart);
  EXPECT_GT(store.forgotten(), 0u);
  for (uint64_t i = 0; i < 1000; ++i) EXPECT_EQ(testing::Remaining(store, small, i, kStart), 5u);
}

TEST(MemoryCap, CountsWhatIsOnTheHeap) {
  MemoryStore store(testing::Mib(8), kStart);
  const LimitSlot* slot = store.limits().Add(
      SlidingWindow{1000, hours(1), 60, SlidingWindow::Edge::kWeighted}, false, kStart);
  for (uint64_t i = 0; i < 100'000; ++i) {
    testing::Take(store, slot, i, 1, kStart);
    ASSERT_LE(store.bytes(), testing::Mib(8) + 65536);
  }
  EXPECT_GT(store.forgotten(), 0u);
  EXPECT_GT(store.keys(), 8'000u);
}

TEST(MemoryCap, CountsALogThatGrows) {
  MemoryStore store(testing::Mib(8), kStart);
  const LimitSlot* slot = store.limits().Add(SlidingLog{10'000, hours(1), false}, false, kStart);
  Instant now = kStart;
  for (uint64_t i = 0; i < 2'000'000; ++i) {
    testing::Take(store, slot, i % 1000, 1, now += Duration(1));
    if (i % 1000 == 0) {
      ASSERT_LE(store.bytes(), testing::Mib(8) + 65536);
    }
  }
  EXPECT_GT(store.forgotten(), 0u);
}

TEST(MemoryCap, TurnsNewcomersAwayWhereTheLimitSaysSo) {
  MemoryStore store(testing::Mib(8), kStart);
  const LimitSlot* slot = store.limits().Add(TokenBucket(40, hours(1), 40), true, kStart);
  uint64_t overloaded = 0;
  for (uint64_t i = 0; i < 1'000'000; ++i) {
    const Admitted admitted = testing::Take(store, slot, i, 1, kStart);
    ASSERT_TRUE(admitted.error == Code::kOk || admitted.error == Code::kOverloaded);
    overloaded += admitted.error == Code::kOverloaded;
  }
  EXPECT_GT(overloaded, 500'000u);
  EXPECT_EQ(store.overloaded(), overloaded);
  EXPECT_EQ(store.forgotten(), 0u);
  EXPECT_EQ(testing::Remaining(store, slot, 0, kStart), 39u);
  // When the others have expired, there is room again.
  EXPECT_EQ(testing::Take(store, slot, 5'000'000, 1, kStart + hours(2)).error, Code::kOk);
}

TEST(MemoryCap, IsGivenBackWhenKeysExpire) {
  MemoryStore store(testing::Mib(64), kStart);
  const LimitSlot* slot = store.limits().Add(TokenBucket(40, seconds(1), 40), false, kStart);
  for (uint64_t i = 0; i < 500'000; ++i) testing::Take(store, slot, i, 40, kStart);
  const uint64_t full = store.bytes();
  for (size_t i = 0; i <= KeyTable::kShards / 8; ++i) store.Tick(kStart + seconds(2));
  EXPECT_EQ(store.keys(), 0u);
  EXPECT_LT(store.bytes(), full / 5);
}

TEST(MemoryCap, ATokenBucketTakesAtMost32Bytes) {
  MemoryStore store(testing::Mib(256), kStart);
  const LimitSlot* slot = store.limits().Add(TokenBucket(40, hours(1), 40), false, kStart);
  // At every size, not just where the table happens to be full.
  uint64_t keys = 0;
  for (const uint64_t size : {300'000u, 400'000u, 500'000u, 700'000u, 1'000'000u}) {
    while (keys < size) testing::Take(store, slot, keys++, 1, kStart);
    EXPECT_LE(store.bytes(), 32 * size) << size;
  }
}

}  // namespace
}  // namespace weir::memory_cap_test
