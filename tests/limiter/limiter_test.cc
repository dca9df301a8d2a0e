// The limiter from top to bottom: errors, naming, settling, reloading, holds.
#include <gtest/gtest.h>

#include "tests/limiter/testing.h"

namespace weir::limiter_test {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::kStart;

TEST(Limiter, NamesWhatIsUnknown) {
  const auto limiter = testing::Open(testing::kEveryAlgorithm);
  EXPECT_EQ(limiter->Decide({"m", "a", "x"}, kStart).error, Code::kUnknownNamespace);
  EXPECT_EQ(limiter->Decide({"n", "z", "x"}, kStart).error, Code::kUnknownResource);
  EXPECT_EQ(testing::Holder(*limiter).Reserve({"n", "a", "x"}).error().code, Code::kWrongKind);
  EXPECT_EQ(limiter->Settle({1, 2}, 3, kStart).error().code, Code::kUnknownTicket);
  EXPECT_EQ(limiter->Release({3, 4}, {1, 2}, 0, kStart).error().code, Code::kNotHeld);
}

TEST(Limiter, RefusesARequestThatContradictsItself) {
  const auto limiter = testing::Open(testing::kEveryAlgorithm);
  EXPECT_EQ(limiter->Decide({"n", "a", "x", 1, 2}, kStart).error, Code::kBadRequest);
  const std::string long_subject(1025, 'x');
  EXPECT_EQ(limiter->Decide({"n", "a", long_subject}, kStart).error, Code::kBadRequest);
}

TEST(Limiter, AnyCostGetsARightAnswer) {
  for (const char* resource : {"a", "b", "c", "d", "e", "f"}) {
    const auto limiter = testing::Open(testing::kEveryAlgorithm);
    for (const uint64_t cost : {uint64_t{1} << 31, uint64_t{1} << 63, UINT64_MAX}) {
      const Decision never = limiter->Decide({"n", resource, "x", cost}, kStart);
      EXPECT_EQ(never.error, Code::kOk);
      EXPECT_FALSE(never.allowed) << resource << cost;
      EXPECT_EQ(never.retry_after, kNever) << resource << cost;
      const std::string subject = std::to_string(cost);
      const Decision part = limiter->Decide({"n", resource, subject, cost, 1}, kStart);
      EXPECT_TRUE(part.allowed) << resource << cost;
      EXPECT_LE(part.granted, 10u);
    }
    EXPECT_TRUE(limiter->Decide({"n", resource, "z", 0}, kStart).allowed);
    const Decision one = limiter->Decide({"n", resource, "z", 1}, kStart);
    EXPECT_TRUE(one.allowed) << resource;
    EXPECT_EQ(one.granted, 1u);
  }
}

TEST(Limiter, AClockThatStepsFreesNoToken) {
  constexpr Duration kStep = hours(24) * 365 * 68;
  for (const char* resource : {"a", "b", "c", "d", "e", "f"}) {
    for (const Duration step : {kStep, -kStep}) {
      const auto limiter = testing::Open(testing::kEveryAlgorithm);
      uint64_t before = 0, after = 0, later = 0;
      for (int i = 0; i < 20; ++i) before += limiter->Decide({"n", resource, "x"}, kStart).allowed;
      // A step forward is time that has passed. A step back is none: nothing is free.
      for (int i = 0; i < 20; ++i) {
        after += limiter->Decide({"n", resource, "x"}, kStart + step).allowed;
      }
      EXPECT_GT(before, 0u);
      EXPECT_EQ(after, step.count() > 0 ? before : 0u) << resource;
      // And back again, or on from there: time stands still until the clock has caught up, and
      // within the refill time from there is room again.
      const Instant back = step.count() > 0 ? kStart : kStart + step;
      EXPECT_FALSE(limiter->Decide({"n", resource, "x"}, back + minutes(2)).allowed) << resource;
      const Instant then = std::max(kStart, kStart + step);
      for (int i = 0; i < 20; ++i) {
        later += limiter->Decide({"n", resource, "x"}, then + minutes(2)).allowed;
      }
      EXPECT_EQ(later, before) << resource;
    }
  }
}

TEST(Limiter, NamesTheLimitThatRefusedOrHasTheLeastLeft) {
  const auto limiter = testing::Open(testing::kEveryAlgorithm);
  const Decision first = limiter->Decide({"n", "f", "x"}, kStart);
  EXPECT_EQ(first.limit, "second");
  EXPECT_EQ(first.remaining, 4u);
  ASSERT_EQ(first.limits().size(), 3u);
  EXPECT_EQ(first.limits()[1].name, "minute");
  EXPECT_EQ(first.limits()[1].limit, 50u);
  EXPECT_EQ(first.limits()[1].per, minutes(1));
  EXPECT_EQ(first.limits()[2].remaining, 999u);
  // Never comes before the longest wait.
  const Decision never = limiter->Decide({"n", "f", "x", 6}, kStart);
  EXPECT_EQ(never.limit, "second");
  EXPECT_EQ(never.retry_after, kNever);
}

TEST(Limiter, SettlesOnceByTicket) {
  const auto limiter = testing::Open(testing::kEveryAlgorithm);
  for (const char* resource : {"a", "b", "c", "d"}) {
    const Decision d = limiter->Decide({"n", resource, "x", 5, std::nullopt, true}, kStart);
    ASSERT_TRUE(d.ticket) << resource;
    const Result<Settled> settled = limiter->Settle(d.ticket, 2, kStart);
    ASSERT_TRUE(settled) << resource;
    EXPECT_EQ(settled->charged, 2u);
    EXPECT_EQ(settled->remaining, 8u) << resource;
    EXPECT_EQ(limiter->Settle(d.ticket, 2, kStart).error().code, Code::kUnknownTicket);
    // More than was estimated, and more than there is: an extended ban.
    const Decision e = limiter->Decide({"n", resource, "x", 1, std::nullopt, true}, kStart);
    EXPECT_EQ(limiter->Settle(e.ticket, 30, kStart)->remaining, 0u);
    EXPECT_FALSE(limiter->Decide({"n", resource, "x", 0}, kStart).allowed) << resource;
  }
  EXPECT_EQ(limiter->Stats().open_tickets, 0u);
}

TEST(Limiter, SettlesNoMoreThanArithmeticHolds) {
  const auto limiter = testing::Open(testing::kEveryAlgorithm);
  for (const char* resource : {"a", "b", "c", "d", "e", "f"}) {
    const Decision d = limiter->Decide({"n", resource, "x", 1, std::nullopt, true}, kStart);
    for (const uint64_t cost : {uint64_t{1} << 63, UINT64_MAX, (uint64_t{1} << 53) + 1}) {
      EXPECT_EQ(limiter->Settle(d.ticket, cost, kStart).error().code, Code::kBadRequest);
    }
    EXPECT_TRUE(limiter->Settle(d.ticket, uint64_t{1} << 53, kStart)) << resource;
    EXPECT_FALSE(limiter->Decide({"n", resource, "x"}, kStart).allowed) << resource;
  }
}

TEST(Limiter, ATicketExpiresAndKeepsItsEstimate) {
  LimiterOptions options;
  options.ticket_ttl = seconds(10);
  const auto limiter = testing::Open(testing::kEveryAlgorithm, options);
  const Decision d = limiter->Decide({"n", "b", "x", 5, std::nullopt, true}, kStart);
  EXPECT_EQ(limiter->Settle(d.ticket, 0, kStart + seconds(10)).error().code, Code::kUnknownTicket);
  EXPECT_EQ(limiter->Peek({"n", "b", "x"}, kStart + seconds(10)).remaining, 5u);
  limiter->Tick(kStart + seconds(11));
  EXPECT_EQ(limiter->Stats().open_tickets, 0u);
}

TEST(Limiter, TicketsAreBoundedInNumber) {
  LimiterOptions options;
  options.max_tickets = 160;
  const auto limiter = testing::Open(testing::kEveryAlgorithm, options);
  for (int i = 0; i < 10'000; ++i) {
    const std::string subject = "s" + std::to_string(i);
    EXPECT_TRUE(limiter->Decide({"n", "a", subject, 1, std::nullopt, true}, kStart).ticket);
  }
  EXPECT_LE(limiter->Stats().open_tickets, 176u);
}

TEST(Limiter, LongRefilledTicketsDoNotMakeBursts) {
  LimiterOptions options;
  options.ticket_ttl = hours(1);
  const auto limiter = testing::Open(testing::kEveryAlgorithm, options);
  std::vector<Ticket> tickets;
  Instant now = kStart;
  for (int i = 0; i < 10; ++i) {
    tickets.push_back(limiter->Decide({"n", "a", "x", 10, std::nullopt, true}, now).ticket);
    now += minutes(1);
  }
  for (const Ticket& ticket : tickets) EXPECT_TRUE(limiter->Settle(ticket, 0, now));
  uint64_t admitted = 0;
  for (int i = 0; i < 100; ++i) admitted += limiter->Decide({"n", "a", "x"}, now).allowed;
  EXPECT_EQ(admitted, 10u);
}

TEST(Limiter, UseSurvivesAReloadThatRemovesAndRestoresTheLimit) {
  const auto limiter = testing::Open(testing::kEveryAlgorithm);
  limiter->Decide({"n", "b", "x", 7}, kStart);
  limiter->Install(
      testing::Rules("namespaces: {n: {resources: {z: {limits: [{limit: 1, per: 1s}]}}}}"), kStart);
  EXPECT_EQ(limiter->Decide({"n", "b", "x"}, kStart).error, Code::kUnknownResource);
  limiter->Install(testing::Rules(testing::kEveryAlgorithm), kStart);
  EXPECT_EQ(limiter->Peek({"n", "b", "x"}, kStart).remaining, 3u);
}

TEST(Limiter, AnOverrideComesAndGoesAndUseIsKept) {
  constexpr std::string_view kPlain =
      "namespaces: {n: {resources: {r: {limits: [{name: q, algorithm: fixed_window, limit: 10, "
      "per: 1h}]}}}}";
  constexpr std::string_view kWithOverride =
      "namespaces: {n: {resources: {r: {limits: [{name: q, algorithm: fixed_window, limit: 10, "
      "per: 1h}], overrides: [{subject: big, limits: [{name: q, limit: 100}]}]}}}}";
  const auto limiter = testing::Open(kPlain);
  limiter->Decide({"n", "r", "big", 6}, kStart);
  limiter->Install(testing::Rules(kWithOverride), kStart);
  EXPECT_EQ(limiter->Peek({"n", "r", "big"}, kStart).remaining, 94u);
  limiter->Decide({"n", "r", "big", 2}, kStart);
  limiter->Install(testing::Rules(kPlain), kStart);
  EXPECT_EQ(limiter->Peek({"n", "r", "big"}, kStart).remaining, 2u);
}

TEST(Limiter, TellsWhoIsBusyAndWhoIsRefused) {
  const auto limiter = testing::Open(testing::kEveryAlgorithm);
  for (int i = 0; i < 50; ++i) limiter->Decide({"n", "a", "loud"}, kStart);
  for (int i = 0; i < 5; ++i) limiter->Decide({"n", "a", "quiet"}, kStart);
  const auto busiest = limiter->Busiest("n", "a");
  ASSERT_EQ(busiest.size(), 2u);
  EXPECT_EQ(busiest[0].subject, "loud");
  EXPECT_EQ(busiest[0].count, 50u);
  const auto refused = limiter->MostRefused("n", "a");
  ASSERT_EQ(refused.size(), 1u);
  EXPECT_EQ(refused[0].subject, "loud");
  EXPECT_EQ(refused[0].count, 40u);
}

TEST(Limiter, TheSketchStaysSmallAndFindsTheHeavy) {
  const auto limiter = testing::Open(testing::kEveryAlgorithm);
  for (int i = 0; i < 200'000; ++i) {
    const std::string subject = i % 10 == 0 ? "heavy" : "s" + std::to_string(i);
    limiter->Decide({"n", "a", subject}, kStart + Duration(i * 1000));
  }
  const auto busiest = limiter->Busiest("n", "a");
  EXPECT_LE(busiest.size(), 32u);
  EXPECT_EQ(busiest[0].subject, "heavy");
}

TEST(Limiter, HitsOfTheLastSecondAreToldWithoutAHardLimitToo) {
  std::string errors;
  Limiter limiter(ParseRules("namespaces: {a: {resources: {v: {tiers: {tiers: [{limit: 50, window: "
                             "10s, active: 60s}]}}}}}",
                             &errors),
                  {}, FromNanos(1'800'000'000'000'000'000));
  ASSERT_EQ(errors, "");
  const Instant start = FromNanos(1'800'000'000'000'000'000);
  for (int i = 0; i < 4; ++i) limiter.Decide({"a", "v", "ann"}, start);
  limiter.Decide({"a", "v", "ann"}, start + std::chrono::milliseconds(900));
  EXPECT_EQ(limiter.Peek({"a", "v", "ann"}, start + std::chrono::milliseconds(950))
                .tiers->hits_last_second,
            5u);
  EXPECT_EQ(limiter.Peek({"a", "v", "ann"}, start + std::chrono::milliseconds(1500))
                .tiers->hits_last_second,
            1u);
}

}  // namespace
}  // namespace weir::limiter_test
