// Stamps that are stale, out of order, and from many threads: no token, and no lock-out.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <atomic>
#include <thread>

#include "base/random.h"
#include "limiter/steady_time.h"
#include "tests/limiter/testing.h"

namespace weir::stamps_test {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::kStart;

constexpr Duration kAge = hours(24) * 365 * 68;

TEST(SteadyTime, ALaterStampIsTakenAndAnEarlierOneIsDecidedAtTheLatest) {
  SteadyTime time(kStart);
  EXPECT_EQ(time.Of(kStart + seconds(10)), kStart + seconds(10));
  for (const Duration ago :
       {Duration(seconds(2)), Duration(seconds(9)), Duration(hours(1)), kAge}) {
    EXPECT_EQ(time.Of(kStart + seconds(10) - ago), kStart + seconds(10));
  }
  EXPECT_EQ(time.Of(kStart + seconds(10) + Duration(1)), kStart + seconds(10) + Duration(1))
      << "and none of them has moved the clock";
}

TEST(SteadyTime, AClockBefore1970StartsThere) {
  for (const Instant start : {Instant::min(), FromNanos(-1), Instant{} - kAge}) {
    SteadyTime time(start);
    const Instant first = time.Of(start);
    EXPECT_GE(first, Instant{});
    EXPECT_GT(time.Of(start + seconds(1)), first + milliseconds(999));
  }
  EXPECT_GT(SteadyTime(Instant::max()).Of(Instant::max()), kStart);
}

RC_GTEST_PROP(SteadyTime, NeverRunsAheadNorGoesBackByMoreThanAGrain,
              (const std::vector<int32_t>& stamps)) {
  SteadyTime time(kStart);
  Instant latest = kStart;
  for (const int32_t stamp : stamps) {
    const Instant told = kStart + Duration(int64_t{stamp} * 1000);
    const Instant shown = time.Of(told);
    latest = std::max(latest, told);
    RC_ASSERT(shown <= latest);
    RC_ASSERT(shown >= latest - SteadyTime::kGrain);
    RC_ASSERT(shown >= told);
  }
}

TEST(Stamps, ACallerThatGoesBackStandsStillUntilItHasCaughtUp) {
  for (const char* resource : {"a", "b", "c", "d"}) {
    for (const Duration back : {Duration(seconds(2)), Duration(hours(3)), kAge}) {
      const auto limiter = testing::Open(testing::kEveryAlgorithm);
      const Instant now = kStart + minutes(1);
      EXPECT_TRUE(limiter->Decide({"n", resource, "x", 10}, now).allowed);
      const Duration reset = limiter->Peek({"n", resource, "x"}, now).reset_after;
      for (const Duration passed : {Duration(0), back / 2, back}) {
        EXPECT_FALSE(limiter->Decide({"n", resource, "x"}, now - back + passed).allowed);
        EXPECT_EQ(limiter->Peek({"n", resource, "x"}, now - back + passed).reset_after, reset);
      }
      // From there on it is as if nothing had been.
      EXPECT_EQ(limiter->Peek({"n", resource, "x"}, now + reset).remaining, 10u) << resource;
    }
  }
}

TEST(Stamps, ALateStampOfOneBucketMovesNoOther) {
  const auto limiter = testing::Open(testing::kEveryAlgorithm);
  limiter->Decide({"n", "a", "x", 10}, kStart);
  Instant now = kStart;
  for (int i = 0; i < 10; ++i) {
    now += seconds(3);
    const Duration reset = limiter->Peek({"n", "a", "x"}, now).reset_after;
    EXPECT_EQ(reset, kStart + minutes(1) - now);
    limiter->Decide({"n", "a", "other"}, kStart);
    limiter->Tick(kStart);
    limiter->EndSession(limiter->OpenSession(kNever, kStart), kStart);
    EXPECT_EQ(limiter->Peek({"n", "a", "x"}, now).reset_after, reset);
  }
}

// What each resource of kFast may admit in T seconds.
constexpr std::string_view kFast = R"(
namespaces:
  n:
    resources:
      bucket: {limits: [{algorithm: token_bucket, limit: 50, per: 1s}]}
      fixed: {limits: [{algorithm: fixed_window, limit: 50, per: 1s}]}
      log: {limits: [{algorithm: sliding_log, limit: 50, per: 1s}]}
      strict: {limits: [{algorithm: sliding_window, limit: 50, per: 1s, edge: strict}]}
)";

TEST(StampThreads, StaleAndReorderedStampsGiveNoTokenAndLockNobodyOut) {
  const auto limiter = testing::Open(kFast);
  const std::vector<std::string> resources = {"bucket", "fixed", "log", "strict"};
  constexpr int64_t kStep = 20'000;  // ns, for each request
  constexpr int kThreads = 4, kRequests = 40'000;
  std::atomic<int64_t> passed{0};  // the real time
  std::array<std::atomic<uint64_t>, 4> admitted{};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      Random random(static_cast<uint64_t>(t) + 1);
      for (int i = 0; i < kRequests; ++i) {
        const Instant now = kStart + Duration(passed.fetch_add(kStep) + kStep);
        // Mostly true; some a little late, some captured long ago, some of another age.
        const uint64_t kind = random.Below(8);
        const Duration late = kind < 4    ? Duration(0)
                              : kind == 4 ? Duration(random.Below(2'000'000))
                              : kind == 5 ? Duration(random.Below(5'000'000'000))
                              : kind == 6 ? Duration(seconds(5))
                                          : kAge;
        const size_t r = random.Below(resources.size());
        admitted[r] += limiter->Decide({"n", resources[r], "x"}, now - late).allowed;
        if (i % 64 == 0) limiter->Tick(now - late);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const auto end = kStart + Duration(passed.load());
  const uint64_t whole = static_cast<uint64_t>(passed.load() / 1'000'000'000);
  EXPECT_LE(admitted[0], 50 + 50 * static_cast<uint64_t>(passed.load()) / 1'000'000'000);
  EXPECT_LE(admitted[1], 50 * (whole + 2));
  EXPECT_LE(admitted[2], 50 * (whole + 1));
  EXPECT_LE(admitted[3], 50 * (whole + 1));
  for (size_t r = 0; r < resources.size(); ++r) {
    EXPECT_GE(admitted[r], 50u) << resources[r];
    const Instant later = end + milliseconds(1100) + SteadyTime::kGrain;
    EXPECT_EQ(limiter->Peek({"n", resources[r], "x"}, later).remaining, 50u) << resources[r];
  }
}

}  // namespace
}  // namespace weir::stamps_test
