#include "algorithms/log.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>

#include "tests/algorithms/testing.h"

namespace weir::log_test {
namespace {

Log Sample() {
  Log log;
  log.Add(At(10ns), 2);
  log.Add(At(12ns), 3);
  log.Add(At(19ns), 4);
  return log;
}

TEST(LogTest, CountsFromAnInstantOn) {
  const Log log = Sample();
  EXPECT_EQ(log.CountFrom(At(0ns)), 9u);
  EXPECT_EQ(log.CountFrom(At(10ns)), 9u);
  EXPECT_EQ(log.CountFrom(At(11ns)), 7u);
  EXPECT_EQ(log.CountFrom(At(12ns)), 7u);
  EXPECT_EQ(log.CountFrom(At(19ns)), 4u);
  EXPECT_EQ(log.CountFrom(At(20ns)), 0u);
  EXPECT_EQ(Log().CountFrom(At(0ns)), 0u);
}

TEST(LogTest, FindsTheNthHit) {
  const Log log = Sample();
  EXPECT_EQ(log.NthFrom(At(0ns), 1), At(10ns));
  EXPECT_EQ(log.NthFrom(At(0ns), 2), At(10ns));
  EXPECT_EQ(log.NthFrom(At(0ns), 3), At(12ns));
  EXPECT_EQ(log.NthFrom(At(0ns), 9), At(19ns));
  EXPECT_EQ(log.NthFrom(At(11ns), 1), At(12ns));
  EXPECT_EQ(log.NthFrom(At(11ns), 4), At(19ns));
}

TEST(LogTest, HitsAtOneInstantShareAnEntryAndAreNotMergedIntoOneHit) {
  Log log;
  for (int i = 0; i < 1000; ++i) log.Add(k2026, 1);
  EXPECT_EQ(log.entries(), 1u);
  EXPECT_EQ(log.CountFrom(k2026), 1000u);
}

TEST(LogTest, HitOfAnEarlierInstantIsRecordedAtTheNewest) {
  Log log;
  log.Add(k2026, 1);
  EXPECT_EQ(log.Add(k2026 - 1s, 2), k2026);
  EXPECT_EQ(log.entries(), 1u);
  EXPECT_EQ(log.CountFrom(k2026), 3u);
}

TEST(LogTest, NothingAddedLeavesNothing) {
  Log log;
  EXPECT_EQ(log.Add(k2026, 0), k2026);
  EXPECT_TRUE(log.empty());
  EXPECT_EQ(log.bytes(), 0u);
}

TEST(LogTest, RingIsReusedOnceItIsLargeEnough) {
  Log log;
  Instant now = k2026;
  for (int i = 0; i < 100; ++i) log.Add(now += 1s, 1);
  const size_t bytes = log.bytes();
  for (int i = 0; i < 10'000; ++i) {
    now += 1s;
    log.DropBefore(now - 99s);
    log.Add(now, 1);
    ASSERT_EQ(log.CountFrom(now - 1h), 100u);
  }
  EXPECT_EQ(log.bytes(), bytes);
}

TEST(LogTest, LargeRingIsGivenBackWhenItIsNearlyEmpty) {
  Log log;
  Instant now = k2026;
  for (int i = 0; i < 100'000; ++i) log.Add(now += 1ns, 1);
  EXPECT_GE(log.bytes(), 1'600'000u);
  for (int i = 0; i < 20; ++i) {
    log.Add(now += 1s, 1);
    log.DropBefore(now);
  }
  EXPECT_LE(log.bytes(), 16'384u);
  EXPECT_EQ(log.CountFrom(k2026), 1u);
}

TEST(LogTest, RefundedEntriesTakeNoMemory) {
  Log log;
  Instant now = k2026;
  for (int i = 0; i < 10'000; ++i) {
    const Instant at = log.Add(now += 1ns, 1);
    EXPECT_EQ(log.Remove(at, 1), 1u);
  }
  EXPECT_TRUE(log.empty());
  EXPECT_LE(log.bytes(), 64u);
}

TEST(LogTest, TotalsMayWrapAround) {
  Log log;
  for (int i = 0; i < 10; ++i) {
    log.DropBefore(At(std::chrono::nanoseconds(i)));
    log.Add(At(std::chrono::nanoseconds(i)), UINT64_MAX - 5);
    EXPECT_EQ(log.CountFrom(At(std::chrono::nanoseconds(i))), UINT64_MAX - 5);
  }
  log.Add(At(20ns), 100);  // as many as fit
  EXPECT_EQ(log.CountFrom(At(0ns)), UINT64_MAX);
  EXPECT_EQ(log.NthFrom(At(0ns), UINT64_MAX), At(20ns));
}

TEST(LogTest, MovedFromLogIsEmpty) {
  Log log = Sample();
  const Log other = std::move(log);
  EXPECT_EQ(other, Sample());
  EXPECT_TRUE(log.empty());  // NOLINT
  log.Add(At(1ns), 1);
  EXPECT_EQ(log.CountFrom(At(0ns)), 1u);
}

TEST(LogTest, EqualLogsHoldTheSameHitsWhateverCameBefore) {
  Log log;
  log.Add(At(1ns), 100);
  log.Add(At(10ns), 2);
  log.DropBefore(At(2ns));
  log.Add(At(12ns), 3);
  log.Add(At(19ns), 5);
  EXPECT_NE(log, Sample());
  log.Remove(At(19ns), 1);
  EXPECT_EQ(log, Sample());
}

// Against a map, which is slow and plain.
RC_GTEST_PROP(LogProperty, EqualsAMap, ()) {
  Log log;
  std::map<int64_t, uint64_t> map;
  int64_t now = 0;
  const auto any = [](int64_t from, int64_t to) { return *rc::gen::inRange(from, to); };
  for (int i = *rc::gen::inRange(0, 200); i > 0; --i) {
    const auto n = static_cast<uint64_t>(any(1, 6));
    switch (any(0, 7)) {
      case 0: {
        const int64_t from = any(now - 20, now + 2);
        log.DropBefore(FromNanos(from));
        map.erase(map.begin(), map.lower_bound(from));
        break;
      }
      case 1: {
        const int64_t at = any(now - 30, now + 1);
        const auto found = map.find(at);
        const uint64_t there = found == map.end() ? 0 : found->second;
        RC_ASSERT(log.Remove(FromNanos(at), n) == std::min(n, there));
        if (there > 0 && (found->second -= std::min(n, there)) == 0) map.erase(found);
        break;
      }
      case 2: {
        uint64_t sum = 0;
        for (const auto& [at, count] : map) sum += count;
        const auto most = static_cast<uint64_t>(any(0, 100));
        log.KeepNewest(most);
        while (sum > most) {
          const uint64_t gone = std::min(sum - most, map.begin()->second);
          sum -= gone;
          if ((map.begin()->second -= gone) == 0) map.erase(map.begin());
        }
        break;
      }
      default:
        now += any(0, 4);
        if (!map.empty()) now = std::max(now, map.rbegin()->first);
        RC_ASSERT(log.Add(FromNanos(now), n) == FromNanos(now));
        map[now] += n;
    }
    RC_ASSERT(log.entries() == map.size());
    const int64_t from = any(now - 40, now + 2);
    uint64_t count = 0;
    for (auto it = map.lower_bound(from); it != map.end(); ++it) {
      for (uint64_t k = 1; k <= it->second; ++k) {
        RC_ASSERT(log.NthFrom(FromNanos(from), ++count) == FromNanos(it->first));
      }
    }
    RC_ASSERT(log.CountFrom(FromNanos(from)) == count);
    RC_ASSERT(Log(log) == log);
  }
}

}  // namespace
}  // namespace weir::log_test
