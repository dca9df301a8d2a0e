#include "algorithms/sliding_log.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

#include "tests/algorithms/testing.h"

namespace weir::sliding_log_test {
namespace {

TEST(SlidingLogTest, AdmittedWhenTheOldestHitIsStrictlyOlderThanPer) {
  const SlidingLog log{2, 10s};
  SlidingLog::State state;
  EXPECT_TRUE(Ask(log, state, 1, At(0s)));
  EXPECT_TRUE(Ask(log, state, 1, At(3s)));
  EXPECT_FALSE(Ask(log, state, 1, At(10s)));
  EXPECT_EQ(log.When(state, 1, At(3s)), At(10s + kNano));
  EXPECT_EQ(log.When(state, 2, At(3s)), At(13s + kNano));
  EXPECT_TRUE(Ask(log, state, 1, At(10s + kNano)));
  EXPECT_FALSE(Ask(log, state, 1, At(13s)));
}

TEST(SlidingLogTest, CostAboveLimitIsNeverAdmitted) {
  const SlidingLog log{2, 10s};
  EXPECT_EQ(log.When({}, 2, k2026), k2026);
  EXPECT_EQ(log.When({}, 3, k2026), kEndOfTime);
}

TEST(SlidingLogTest, RefusalLeavesStateUntouched) {
  const SlidingLog log{2, 10s};
  SlidingLog::State state;
  log.Take(state, 2, k2026);
  const SlidingLog::State before = state;
  EXPECT_FALSE(Ask(log, state, 1, k2026 + 5s));
  log.Reject(state, 1, k2026 + 5s);  // not kept unless asked for
  EXPECT_EQ(state, before);
}

// Erratum 18: Listing 4.3 admits one less than the capacity, and takes equal stamps for one hit.
TEST(SlidingLogTest, AdmitsTheWholeLimitAndEqualStampsCountEach) {
  const SlidingLog log{5, 10s};
  SlidingLog::State state;
  int admitted = 0;
  for (int i = 0; i < 20; ++i) admitted += Ask(log, state, 1, k2026);
  EXPECT_EQ(admitted, 5);
}

TEST(SlidingLogTest, RejectedRequestsExtendTheBan) {
  const SlidingLog log{2, 10s, true};
  SlidingLog::State state;
  EXPECT_TRUE(Ask(log, state, 2, At(0s)));
  EXPECT_FALSE(Ask(log, state, 1, At(5s)));
  log.Reject(state, 1, At(5s));
  EXPECT_FALSE(Ask(log, state, 2, At(11s)));
  EXPECT_EQ(log.When(state, 1, At(5s)), At(10s + kNano));
  EXPECT_EQ(log.When(state, 2, At(5s)), At(15s + kNano));  // counts the refusal itself
  EXPECT_EQ(log.Reset(state, At(5s)), At(15s + kNano));
}

TEST(SlidingLogTest, NeverFreeWhileItGoesOnAsking) {
  const SlidingLog log{3, 10s, true};
  SlidingLog::State state;
  EXPECT_TRUE(Ask(log, state, 3, At(0s)));
  Instant now = At(0s);
  for (int i = 0; i < 100; ++i) {
    now += 2s;
    ASSERT_FALSE(Ask(log, state, 1, now));
    log.Reject(state, 1, now);
  }
  EXPECT_EQ(log.When(state, 1, now), now - 4s + 10s + kNano);
}

TEST(SlidingLogTest, NewestLimitOfTheRejectedAreKept) {
  const SlidingLog log{3, 10s, true};
  SlidingLog::State state;
  for (int i = 0; i < 1000; ++i) log.Reject(state, 1, k2026 + i * 1ms);
  EXPECT_EQ(log.Use(state, k2026 + 1s), 3u);
  EXPECT_EQ(state.rejected.oldest(), k2026 + 997ms);
  log.Reject(state, 1000, k2026 + 1s);
  EXPECT_EQ(log.Use(state, k2026 + 1s), 3u);
  EXPECT_LE(state.bytes(), 64u);
}

TEST(SlidingLogTest, MemoryIsBoundedByTheLimit) {
  const SlidingLog log{100, 1s};
  SlidingLog::State state;
  for (int i = 0; i < 100'000; ++i) Ask(log, state, 1, k2026 + i * 1ms);
  EXPECT_LE(state.admitted.entries(), 100u);
  EXPECT_LE(state.bytes(), 128 * 16u);
}

TEST(SlidingLogTest, EarlierInstantIsTreatedAsTheNewestHits) {
  const SlidingLog log{2, 10s};
  SlidingLog::State state;
  log.Take(state, 1, k2026);
  EXPECT_EQ(log.Take(state, 1, k2026 - 5s), k2026);
  EXPECT_EQ(log.Room(state, k2026 - 1h), 0u);
  EXPECT_EQ(log.When(state, 1, k2026 - 1h), k2026 + 10s + kNano);
}

TEST(SlidingLogTest, EarlierInstantIsTreatedAsThatOfTheNewestRefusal) {
  const SlidingLog log{2, 10s, true};
  SlidingLog::State state;
  log.Reject(state, 1, k2026);
  EXPECT_EQ(log.Take(state, 1, k2026 - 5s), k2026);
}

TEST(SlidingLogTest, RefundsOnlyWhatStillCounts) {
  const SlidingLog log{10, 10s};
  SlidingLog::State state;
  const SlidingLog::Receipt first = log.Take(state, 4, k2026);
  const SlidingLog::Receipt second = log.Take(state, 6, k2026 + 1s);
  EXPECT_EQ(log.Refund(state, first, 3, k2026 + 10s), 3u);
  EXPECT_EQ(log.Room(state, k2026 + 10s), 3u);
  EXPECT_EQ(log.Refund(state, first, 3, k2026 + 10s), 1u);
  EXPECT_EQ(log.Refund(state, second, 6, k2026 + 11s + kNano), 0u);
}

TEST(SlidingLogTest, OverdrawnLogRefusesEvenNothing) {
  const SlidingLog log{2, 10s};
  SlidingLog::State state;
  log.Take(state, 2, k2026);
  log.Charge(state, 3, k2026 + 1s);
  EXPECT_EQ(log.Room(state, k2026 + 1s), std::nullopt);
  EXPECT_EQ(log.When(state, 0, k2026 + 1s), k2026 + 11s + kNano);
  log.Charge(state, UINT64_MAX, k2026 + 1s);
  EXPECT_EQ(log.Use(state, k2026 + 1s), UINT64_MAX);
}

TEST(SlidingLogTest, ExtremeNumbersAreExact) {
  for (const Instant now : {k1958, k2026, k2094}) {
    for (const Duration per : {Duration(1ns), kTenYears}) {
      const SlidingLog log{1'000'000, per};
      SlidingLog::State state;
      EXPECT_TRUE(Ask(log, state, 1'000'000, now));
      EXPECT_EQ(log.When(state, 1, now), now + per + kNano);
      EXPECT_FALSE(Admits(log, state, 1, now + per));
      EXPECT_TRUE(Admits(log, state, 1'000'000, now + per + kNano));
    }
  }
}

RC_GTEST_PROP(SlidingLogProperty, NoWindowHoldsMoreThanTheLimit, ()) {
  const SlidingLog log{*rc::gen::inRange<uint64_t>(1, 20),
                       Duration(*rc::gen::inRange<int64_t>(1, 50))};
  SlidingLog::State state;
  std::vector<std::pair<Instant, uint64_t>> admitted;
  Instant now = k2026;
  for (const int step : *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 10))) {
    now += Duration(step);
    const uint64_t n = *rc::gen::inRange<uint64_t>(0, log.Room(state, now).value() + 1);
    log.Take(state, n, now);
    admitted.push_back({now, n});
  }
  for (size_t i = 0; i < admitted.size(); ++i) {
    uint64_t sum = 0;
    for (size_t j = i; j < admitted.size(); ++j) {
      if (admitted[j].first - admitted[i].first <= log.per) sum += admitted[j].second;
    }
    RC_ASSERT(sum <= log.limit);
  }
}

}  // namespace
}  // namespace weir::sliding_log_test
