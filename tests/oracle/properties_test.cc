// What RELIABILITY.md promises of one node, checked on the algorithms themselves: no oracle here.
#include <gtest/gtest.h>

#include <deque>

#include "lab/oracle/implementation.h"
#include "lab/oracle/random_limit.h"
#include "lab/oracle/token_bucket_oracle.h"
#include "lab/oracle/traffic.h"

namespace weir::oracle::properties_test {
namespace {

constexpr int kRuns = 2000;

struct Hit {
  int128 at;
  uint64_t n;
};

// A run of requests without settlements or steps back: what was admitted, and what was refused.
struct Trace {
  std::vector<Hit> admitted;
  std::vector<Hit> refused;
  std::vector<size_t> before;  // for each refusal, how many had been admitted
};

template <typename Algorithm>
Trace RandomTrace(const Algorithm& a, int64_t span_ns, Random* random) {
  Trace trace;
  typename Algorithm::State state;
  Instant now = FromNanos(static_cast<int64_t>(random->Below(1'000'000'000'000)));
  for (int i = 0; i < 100; ++i) {
    if (random->Below(2) == 0) {
      now += Duration(
          static_cast<int64_t>(AnyMagnitude(1, static_cast<uint64_t>(span_ns) + 1, random)));
    }
    const uint64_t room = a.Room(state, now).value();
    const uint64_t cost = random->Below(2) == 0 ? AnyMagnitude(1, room + 1, random) : room + 1;
    if (cost <= room) {
      a.Take(state, cost, now);
      trace.admitted.push_back({ToNanos(now), cost});
    } else {
      trace.refused.push_back({ToNanos(now), cost});
      trace.before.push_back(trace.admitted.size());
      const Instant then = a.When(state, std::min(cost, a.Capacity()), now);
      if (random->Below(2) == 0 && ToNanos(then) < INT64_MAX / 2) now = then;
    }
  }
  return trace;
}

// The most that any closed window of this length holds.
uint128 WorstBurst(const std::vector<Hit>& hits, int64_t length_ns) {
  uint128 worst = 0;
  for (size_t first = 0; first < hits.size(); ++first) {
    uint128 sum = 0;
    for (size_t i = first; i < hits.size() && hits[i].at - hits[first].at <= length_ns; ++i) {
      sum += hits[i].n;
    }
    worst = std::max(worst, sum);
  }
  return worst;
}

TEST(PropertiesTest, BucketAdmitsAtMostBurstPlusRateTimesTimeInEveryWindow) {
  Random random(1);
  for (int run = 0; run < kRuns; ++run) {
    const Limit limit = RandomLimit("token_bucket", &random);
    const auto& a = std::get<TokenBucket>(limit);
    const int128 per = a.per.count();
    const std::vector<Hit> hits = RandomTrace(a, a.per.count(), &random).admitted;
    for (size_t first = 0; first < hits.size(); ++first) {
      int128 sum = 0;
      for (size_t i = first; i < hits.size(); ++i) {
        sum += hits[i].n;
        ASSERT_LE(sum * per, a.burst * per + a.limit * (hits[i].at - hits[first].at))
            << Describe(limit);
      }
    }
  }
}

TEST(PropertiesTest, BucketRefusesOnlyWhatWouldBreakAWindow) {
  Random random(2);
  for (int run = 0; run < kRuns; ++run) {
    const Limit limit = RandomLimit("token_bucket", &random);
    const auto& a = std::get<TokenBucket>(limit);
    const int128 per = a.per.count();
    const Trace trace = RandomTrace(a, a.per.count(), &random);
    for (size_t i = 0; i < trace.refused.size(); ++i) {
      bool breaks = trace.refused[i].n > a.burst;
      int128 sum = trace.refused[i].n;
      for (size_t j = trace.before[i]; j-- > 0 && !breaks;) {
        sum += trace.admitted[j].n;
        const int128 time = trace.refused[i].at - trace.admitted[j].at;
        breaks = sum * per > a.burst * per + a.limit * time;
      }
      ASSERT_TRUE(breaks) << Describe(limit);
    }
  }
}

TEST(PropertiesTest, ManySmallRefillsEqualOneLarge) {
  Random random(3);
  for (int run = 0; run < kRuns; ++run) {
    const Limit limit = RandomLimit("token_bucket", &random);
    const auto& a = std::get<TokenBucket>(limit);
    TokenBucket::State touched;
    TokenBucket::State untouched;
    const Instant start = FromNanos(1'700'000'000'000'000'000);
    a.Take(touched, a.burst, start);
    a.Take(untouched, a.burst, start);
    Instant now = start;
    for (int i = 0; i < 100; ++i) {
      now += Duration(
          static_cast<int64_t>(AnyMagnitude(1, static_cast<uint64_t>(a.per.count()), &random)));
      a.Take(touched, 0, now);
      ASSERT_TRUE(a.Debt(touched, now) == a.Debt(untouched, now)) << Describe(limit);
      ASSERT_EQ(a.Room(touched, now), a.Room(untouched, now)) << Describe(limit);
    }
  }
}

// One token at a time, each at the first nanosecond: none is lost on the way. (A burst of 1 would
// lose what flows over between the token and the nanosecond.)
TEST(PropertiesTest, BucketLosesNoFractionOverManyWaits) {
  for (const TokenBucket& a : {TokenBucket(7, std::chrono::seconds(3), 5),
                               TokenBucket(1'000'003, std::chrono::seconds(7), 2),
                               TokenBucket(999'983, Duration(1'000'000'007), 3)}) {
    TokenBucket::State state;
    Instant now = FromNanos(0);
    a.Take(state, a.burst, now);
    for (int128 n = 1; n <= 200'000; ++n) {
      now = a.When(state, 1, now);
      a.Take(state, 1, now);
      ASSERT_EQ(ToNanos(now), static_cast<int64_t>(CeilDiv(n * a.per.count(), a.limit)));
    }
  }
}

TEST(PropertiesTest, LogHoldsAtMostTheLimitInEveryWindow) {
  Random random(4);
  for (int run = 0; run < kRuns; ++run) {
    const Limit limit = RandomLimit("sliding_log", &random);
    const auto& a = std::get<SlidingLog>(limit);
    const Trace trace = RandomTrace(a, a.per.count(), &random);
    ASSERT_LE(static_cast<uint64_t>(WorstBurst(trace.admitted, a.per.count())), a.limit);
  }
}

TEST(PropertiesTest, FixedWindowHoldsAtMostTwiceTheLimitInEveryWindow) {
  Random random(5);
  for (int run = 0; run < kRuns; ++run) {
    const Limit limit = RandomLimit("fixed_window", &random);
    const auto& a = std::get<FixedWindow>(limit);
    if (a.anchor == FixedWindow::Anchor::kCalendar) continue;
    const Trace trace = RandomTrace(a, a.per.count(), &random);
    // One of at most `per`, less the nanosecond that belongs to the next.
    ASSERT_LE(static_cast<uint64_t>(WorstBurst(trace.admitted, a.per.count() - 1)), 2 * a.limit);
  }
}

TEST(PropertiesTest, SlidingWindowHoldsWhatItsEdgePromisesInEveryWindow) {
  Random random(6);
  for (int run = 0; run < kRuns; ++run) {
    const Limit limit = RandomLimit("sliding_window", &random);
    const auto& a = std::get<SlidingWindow>(limit);
    if (a.limit == 0) continue;
    const uint64_t promised = a.edge == SlidingWindow::Edge::kStrict     ? a.limit
                              : a.edge == SlidingWindow::Edge::kWeighted ? 2 * a.limit - 1
                                                                         : 2 * a.limit;
    const Trace trace = RandomTrace(a, a.per.count(), &random);
    ASSERT_LE(static_cast<uint64_t>(WorstBurst(trace.admitted, a.per.count())), promised)
        << Describe(limit);
  }
}

TEST(PropertiesTest, RemainingIsWithinTheCapacityAndRetryAfterIsTrue) {
  for (const std::string_view algorithm : Algorithms()) {
    Random random(7);
    for (int run = 0; run < kRuns; ++run) {
      const Limit limit = RandomLimit(algorithm, &random);
      const uint64_t capacity = std::visit([](const auto& a) { return a.Capacity(); }, limit);
      Traffic traffic(limit, &random);
      Session session(MakeImplementation(limit));
      Answer last;
      for (int i = 0; i < 100; ++i) {
        last = session.Ask(traffic.Next(session, last));
        ASSERT_LE(last.remaining, capacity) << Describe(limit);
        ASSERT_TRUE(last.retry_true) << Describe(limit);
      }
    }
  }
}

template <typename Algorithm>
void ExpectRefusalsLeaveNoTrace(std::string_view name) {
  Random random(8);
  for (int run = 0; run < kRuns / 4; ++run) {
    Limit limit = RandomLimit(name, &random);
    auto& a = std::get<Algorithm>(limit);
    if constexpr (requires { a.keep_rejected; }) a.keep_rejected = false;
    typename Algorithm::State state;
    Instant now = FromNanos(1'700'000'000'000'000'000);
    for (int i = 0; i < 50; ++i) {
      now += Duration(static_cast<int64_t>(AnyMagnitude(1, 1'000'000'000, &random)));
      const uint64_t room = a.Room(state, now).value();
      const uint64_t cost = AnyMagnitude(1, room + 2, &random);
      if (cost <= room) {
        a.Take(state, cost, now);
        continue;
      }
      const typename Algorithm::State before = state;
      if constexpr (requires { a.Reject(state, cost, now); }) a.Reject(state, cost, now);
      a.When(state, cost, now);
      a.Reset(state, now);
      ASSERT_TRUE(state == before) << Describe(limit);
    }
  }
}

TEST(PropertiesTest, RefusalLeavesTheStateUntouched) {
  ExpectRefusalsLeaveNoTrace<TokenBucket>("token_bucket");
  ExpectRefusalsLeaveNoTrace<FixedWindow>("fixed_window");
  ExpectRefusalsLeaveNoTrace<SlidingLog>("sliding_log");
  ExpectRefusalsLeaveNoTrace<SlidingWindow>("sliding_window");
  ExpectRefusalsLeaveNoTrace<BurstTiers>("burst_tiers");
}

// Tens of thousands of entries that come and go, against a plain queue; copies are equal and apart.
TEST(PropertiesTest, BigLogsGrowAndShrinkWithoutLoss) {
  const SlidingLog a{50'000, Duration(30'000), false};
  SlidingLog::State state;
  std::deque<Hit> hits;
  uint64_t count = 0;
  Random random(12);
  Instant now = FromNanos(0);
  for (int i = 0; i < 400'000; ++i) {
    // Dense for a while, then sparse, so that the log fills and empties.
    now += Duration(i / 50'000 % 2 == 0 ? 1 : 1 + static_cast<int64_t>(random.Below(200)));
    for (; !hits.empty() && ToNanos(now) - hits.front().at > a.per.count(); hits.pop_front()) {
      count -= hits.front().n;
    }
    ASSERT_EQ(a.Room(state, now), a.limit - count);
    const uint64_t n = std::min(a.limit - count, 1 + random.Below(3));
    a.Take(state, n, now);
    if (n != 0) hits.push_back({ToNanos(now), n});
    count += n;
    if (i % 10'000 != 0) continue;
    SlidingLog::State copy = state;
    ASSERT_TRUE(copy == state);
    a.Charge(copy, 1, now);
    ASSERT_FALSE(copy == state);
    ASSERT_EQ(a.Use(copy, now), count + 1);
    ASSERT_EQ(a.Use(state, now), count);
  }
}

template <typename Algorithm>
void ExpectUseIsCarried(std::string_view name) {
  Random random(10);
  for (int run = 0; run < kRuns; ++run) {
    const Limit limit = RandomLimit(name, &random);
    const auto& a = std::get<Algorithm>(limit);
    const Instant now = FromNanos(1'700'000'000'000'000'000);
    const uint64_t use = random.Below(a.Capacity() + 1);
    const typename Algorithm::State state = a.Start(use, now);
    ASSERT_EQ(a.Use(state, now), use) << Describe(limit);
    ASSERT_EQ(a.Room(state, now), a.Capacity() - use) << Describe(limit);
  }
}

TEST(PropertiesTest, WhatIsStartedWithIsInUse) {
  ExpectUseIsCarried<TokenBucket>("token_bucket");
  ExpectUseIsCarried<FixedWindow>("fixed_window");
  ExpectUseIsCarried<SlidingLog>("sliding_log");
  ExpectUseIsCarried<SlidingWindow>("sliding_window");
}

// The least number of the new bucket's ticks that is not less than the debt.
TEST(PropertiesTest, ChangedBucketKeepsItsDebtRoundedUpToATick) {
  Random random(11);
  const auto any = [&random](int bits) { return AnyMagnitude(1, uint64_t{1} << bits, &random); };
  const auto bucket = [&] {
    return TokenBucket(any(30), Duration(static_cast<int64_t>(any(40))), any(30));
  };
  const Instant start = FromNanos(1'700'000'000'000'000'000);
  for (int run = 0; run < kRuns; ++run) {
    const TokenBucket was = bucket();
    const TokenBucket is = bucket();
    TokenBucket::State state;
    was.Take(state, random.Below(was.burst + 1), start);
    const Instant now = start + Duration(static_cast<int64_t>(any(35)));
    const uint128 before = was.Debt(state, now) * is.ticks_per_token;
    const uint128 after = is.Debt(is.Convert(state, was, now), now);
    ASSERT_TRUE(after * was.ticks_per_token >= before);
    ASSERT_TRUE(after == 0 || (after - 1) * was.ticks_per_token < before);
  }
}

// More open tickets than RefundMarks tells apart: it gives back less than it might, never more.
TEST(PropertiesTest, MergedMarksErrAgainstTheRefund) {
  Random random(9);
  for (int run = 0; run < 4; ++run) {
    const TokenBucket a(1000, std::chrono::seconds(1), 1'000'000);
    TokenBucketImplementation merged(a);
    TokenBucketOracle exact(a.limit, a.per.count(), a.burst);
    std::vector<std::pair<uint64_t, uint64_t>> open;
    Instant now = FromNanos(0);
    for (uint64_t i = 1; i <= 4000; ++i) {
      now += Duration(static_cast<int64_t>(random.Below(5'000'000)));
      merged.Observe(now);
      exact.Observe(now);
      if (open.size() < RefundMarks::kMost + 150 || random.Below(2) == 0) {
        const uint64_t n = 1 + random.Below(8);
        merged.Take(n, now, i);
        exact.Take(n, now, i);
        open.emplace_back(i, n);
      } else {
        const size_t chosen = random.Below(open.size());
        const auto [ticket, n] = open[chosen];
        merged.Refund(ticket, n, now);
        exact.Refund(ticket, n, now);
        merged.Close(ticket);
        exact.Close(ticket);
        open.erase(open.begin() + static_cast<std::ptrdiff_t>(chosen));
      }
      ASSERT_GE(merged.Use(now), exact.Use(now));
    }
  }
}

}  // namespace
}  // namespace weir::oracle::properties_test
