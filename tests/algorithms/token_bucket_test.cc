#include "algorithms/token_bucket.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

#include "base/random.h"
#include "tests/algorithms/testing.h"

namespace weir::token_bucket_test {
namespace {

TEST(TokenBucketTest, TwoTokensAreBackFifteenSecondsAfterTenPerMinuteWereUsed) {
  const TokenBucket bucket(10, 1min, 10);
  TokenBucket::State state;
  EXPECT_EQ(bucket.Room(state, At(0s)), 10u);
  bucket.Take(state, 10, At(0s));
  EXPECT_EQ(bucket.Room(state, At(0s)), 0u);
  EXPECT_EQ(bucket.Room(state, At(15s)), 2u);
  EXPECT_EQ(bucket.When(state, 2, At(0s)), At(12s));
  EXPECT_EQ(bucket.Room(state, At(12s - kNano)), 1u);
  EXPECT_EQ(bucket.Reset(state, At(0s)), At(60s));
}

TEST(TokenBucketTest, CostAboveBurstIsNeverAdmitted) {
  const TokenBucket bucket(10, 1s, 20);
  EXPECT_EQ(bucket.When({}, 20, k2026), k2026);
  EXPECT_EQ(bucket.When({}, 21, k2026), kEndOfTime);
  EXPECT_EQ(bucket.When({}, UINT64_MAX, k2026), kEndOfTime);
}

TEST(TokenBucketTest, LimitZeroBlocksForEver) {
  const TokenBucket bucket(0, 1s, 0);
  EXPECT_EQ(bucket.Room({}, k2026), 0u);
  EXPECT_EQ(bucket.When({}, 1, k2026), kEndOfTime);
  EXPECT_EQ(bucket.When({}, 0, k2026), k2026);
}

TEST(TokenBucketTest, RefusalLeavesStateUntouched) {
  const TokenBucket bucket(3, 1s, 3);
  TokenBucket::State state;
  bucket.Take(state, 3, k2026);
  const TokenBucket::State before = state;
  EXPECT_FALSE(Ask(bucket, state, 1, k2026 + 333'333'333ns));
  EXPECT_EQ(state, before);
  EXPECT_TRUE(Ask(bucket, state, 1, k2026 + 333'333'334ns));
}

// Erratum 18: Listing 4.1 forgets the fraction of a token with every request that it admits.
int AdmittedByListing(int capacity, Duration per_token, const std::vector<Instant>& requests) {
  int64_t tokens = capacity;
  Instant last = requests.front();
  int admitted = 0;
  for (const Instant now : requests) {
    const int64_t n = std::min<int64_t>(tokens + (now - last) / per_token, capacity);
    if (n == 0) continue;
    tokens = n - 1;
    last = now;
    ++admitted;
  }
  return admitted;
}

TEST(TokenBucketTest, AdmitsTheHundredAndTenThatAreDueWhereTheListingAdmitsSixtyFive) {
  std::vector<Instant> requests;  // 121 of them, evenly over ten seconds
  for (int i = 0; i <= 120; ++i) requests.push_back(k2026 + Duration(10s) * i / 120);
  const TokenBucket bucket(1, 100ms, 10);
  TokenBucket::State state;
  int admitted = 0;
  for (const Instant now : requests) admitted += Ask(bucket, state, 1, now);
  EXPECT_EQ(admitted, 110);
  EXPECT_EQ(AdmittedByListing(10, 100ms, requests), 65);
}

TEST(TokenBucketTest, RefillsBeforeNineteenSeventyAndFarFromNow) {
  const TokenBucket bucket(10, 1min, 10);
  for (const Instant now : {Utc(1700, 1, 1), k1958, At(-7s), k2026, k2094}) {
    TokenBucket::State state;
    bucket.Take(state, 10, now);
    EXPECT_EQ(bucket.Room(state, now + 15s), 2u);
    EXPECT_EQ(bucket.When(state, 2, now), now + 12s);
  }
}

TEST(TokenBucketTest, ExtremeNumbersAreExact) {
  TokenBucket::State state;
  const TokenBucket fast(kMostTokens, 1ns, kMostTokens);
  fast.Take(state, kMostTokens, k2094);
  EXPECT_EQ(fast.Room(state, k2094), 0u);
  EXPECT_EQ(fast.When(state, 1, k2094), k2094 + kNano);

  state = {};
  const TokenBucket slow(1, kTenYears, 10);
  slow.Take(state, 10, k1958);
  EXPECT_EQ(slow.When(state, 1, k1958), k1958 + kTenYears);
  EXPECT_EQ(slow.When(state, 10, k1958), k1958 + 10 * kTenYears);

  state = {};
  const TokenBucket odd(kMostTokens - 1, kTenYears, kMostTokens);  // 1 token: 35.04 ns
  odd.Take(state, kMostTokens, k2026);
  const Instant when = odd.When(state, 1, k2026);
  EXPECT_EQ(when, k2026 + 36ns);
  EXPECT_EQ(odd.Room(state, when - kNano), 0u);
}

TEST(TokenBucketTest, HugeChargesSaturateAndStayAskable) {
  const TokenBucket bucket(1, kTenYears, 10);
  TokenBucket::State state;
  for (int i = 0; i < 100; ++i) bucket.Charge(state, UINT64_MAX, k2026);
  EXPECT_EQ(bucket.Room(state, k2026), std::nullopt);
  EXPECT_EQ(bucket.When(state, 1, k2026), FromNanos(INT64_MAX - 1));
  EXPECT_EQ(bucket.Use(state, k2026), UINT64_MAX);
}

TEST(TokenBucketTest, OverdrawnBucketRefusesEvenNothingUntilItIsPositive) {
  const TokenBucket bucket(10, 10s, 10);
  TokenBucket::State state;
  bucket.Take(state, 10, k2026);
  bucket.Charge(state, 5, k2026);
  EXPECT_EQ(bucket.Room(state, k2026), std::nullopt);
  EXPECT_EQ(bucket.When(state, 0, k2026), k2026 + 5s);
  EXPECT_EQ(bucket.When(state, 1, k2026), k2026 + 6s);
  EXPECT_EQ(bucket.Use(state, k2026), 15u);
}

TEST(TokenBucketTest, EarlierInstantFreesNothing) {
  const TokenBucket bucket(10, 10s, 10);
  TokenBucket::State state;
  bucket.Take(state, 5, k2026);
  EXPECT_EQ(bucket.Room(state, k2026 - 2s), 3u);
  EXPECT_EQ(bucket.Room(state, k2026 - 68 * 365 * 24h), std::nullopt);
}

TEST(TokenBucketTest, ConvertedDebtIsRoundedAgainstTheSubject) {
  const TokenBucket old(10, 10s, 10), raised(30, 10s, 30), odd(7, 3s, 10);
  TokenBucket::State state;
  old.Take(state, 10, k2026);
  const auto next = raised.Convert(state, old, k2026);
  EXPECT_EQ(raised.Use(next, k2026), 10u);
  EXPECT_EQ(raised.Room(next, k2026), 20u);
  // 10 tokens less a nanosecond's refill: not a tick of the other bucket.
  const auto converted = odd.Convert(state, old, k2026 + kNano);
  EXPECT_EQ(odd.Use(converted, k2026 + kNano), 10u);
  EXPECT_EQ(odd.Room(converted, k2026 + kNano), 0u);
  EXPECT_EQ(odd.Convert({}, old, k2026), TokenBucket::State{});
}

TEST(TokenBucketTest, NumbersThatAreAllZeroCanBeBuiltToBeRefused) {
  EXPECT_EQ(TokenBucket(0, Duration::zero(), 0).limit, 0u);
}

// For every window T: admitted <= burst + limit * T / per.
RC_GTEST_PROP(TokenBucketProperty, NoWindowHoldsMoreThanBurstAndRefill, ()) {
  const auto limit = *rc::gen::inRange<uint64_t>(1, 50), burst = *rc::gen::inRange<uint64_t>(1, 50);
  const auto per = *rc::gen::inRange<int64_t>(1, 1000);
  const TokenBucket bucket(limit, Duration(per), burst);
  TokenBucket::State state;
  std::vector<std::pair<int64_t, uint64_t>> admitted;
  int64_t now = 0;
  for (const int64_t step :
       *rc::gen::container<std::vector<int64_t>>(rc::gen::inRange<int64_t>(0, per + 1))) {
    now += step;
    const uint64_t n = bucket.Room(state, FromNanos(now)).value();
    bucket.Take(state, n, FromNanos(now));
    admitted.push_back({now, n});
  }
  for (size_t i = 0; i < admitted.size(); ++i) {
    uint64_t sum = 0;
    for (size_t j = i; j < admitted.size(); ++j) {
      sum += admitted[j].second;
      const auto length = static_cast<uint64_t>(admitted[j].first - admitted[i].first);
      RC_ASSERT(sum * static_cast<uint64_t>(per) <=
                burst * static_cast<uint64_t>(per) + limit * length);
    }
  }
}

RC_GTEST_PROP(TokenBucketProperty, ManySmallRefillsEqualALargeOne, ()) {
  const TokenBucket bucket(*rc::gen::inRange<uint64_t>(1, kMostTokens),
                           Duration(*rc::gen::inRange<int64_t>(1, kTenYears.count())), kMostTokens);
  TokenBucket::State often, once;
  bucket.Take(often, kMostTokens, k2026);
  bucket.Take(once, kMostTokens, k2026);
  Instant now = k2026;
  uint64_t taken = 0;
  for (const int64_t step :
       *rc::gen::container<std::vector<int64_t>>(rc::gen::inRange<int64_t>(0, 1'000'000'000))) {
    now += Duration(step);
    const uint64_t room = bucket.Room(often, now).value();
    if (taken > kMostTokens - room) return;
    bucket.Take(often, room, now);
    taken += room;
  }
  RC_ASSERT(bucket.Room(once, now) == bucket.Room(often, now).value() + taken);
}

// The short way must say what the long way says, overdrawn buckets and odd rates included.
TEST(TokenBucketTest, DecideSaysWhatRoomTakeWhenAndResetSay) {
  Random random(17);
  for (int round = 0; round < 2000; ++round) {
    const uint64_t limit = random.Below(20) == 0 ? 0 : 1 + random.Below(2000);
    const TokenBucket bucket(limit, Duration(1 + random.Below(5'000'000'000)),
                             limit == 0 ? 0 : 1 + random.Below(50));
    TokenBucket::State state;
    Instant now = FromNanos(1'800'000'000'000'000'000);
    for (int i = 0; i < 50; ++i) {
      now += Duration(random.Below(100'000'000));
      if (random.Below(10) == 0) bucket.Charge(state, random.Below(60), now);
      const uint64_t most = random.Below(12), least = random.Below(most + 1);
      const TokenBucket::Step step = bucket.Decide(state, most, least, now);

      const std::optional<uint64_t> room = bucket.Room(state, now);
      const uint64_t n = std::min(most, room.value_or(0));
      const bool allowed = room && n >= least;
      TokenBucket::State next = state;
      if (allowed) bucket.Take(next, n, now);
      ASSERT_EQ(step.allowed, allowed);
      ASSERT_EQ(step.granted, allowed ? n : 0);
      ASSERT_EQ(step.remaining, bucket.Room(next, now).value_or(0));
      ASSERT_EQ(step.reset_after, Wait(now, bucket.Reset(next, now)));
      ASSERT_EQ(step.retry_after,
                allowed ? Duration::zero() : Wait(now, bucket.When(state, least, now)));
      ASSERT_EQ(step.next, next);
      state = next;
    }
  }
}

}  // namespace
}  // namespace weir::token_bucket_test
