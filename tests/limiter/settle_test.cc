// Settling: what was really charged is what is told, and a ticket that is lost harms nobody else.
#include <gtest/gtest.h>

#include "tests/limiter/testing.h"

namespace weir::settle_test {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using testing::kStart;

constexpr std::string_view kRules = R"(
namespaces:
  llm:
    resources:
      chat: {limits: [{name: tokens, limit: 100000, per: 1h}]}
      both:
        limits:
          - {name: bucket, limit: 10, per: 1m}
          - {name: window, algorithm: fixed_window, limit: 100, per: 1m}
      tried:
        limits:
          - {name: bucket, limit: 100, per: 1d}
          - {name: new, limit: 100, per: 100s, shadow: true}
)";

Request Estimate(std::string_view resource, uint64_t cost) {
  return {"llm", resource, "ann", cost, std::nullopt, true};
}

TEST(Settle, ALostTicketKeepsNobodyFromGettingBackWhatIsHis) {
  const auto limiter = testing::Open(kRules);
  limiter->Decide(Estimate("chat", 10), kStart);  // lost
  uint64_t charged = 0;
  for (int i = 0; i < 20; ++i) {
    const Ticket ticket = limiter->Decide(Estimate("chat", 4000), kStart).ticket;
    const Result<Settled> settled = limiter->Settle(ticket, 100, kStart);
    ASSERT_TRUE(settled);
    EXPECT_EQ(settled->charged, 100u);
    charged += settled->charged;
  }
  EXPECT_EQ(limiter->Peek({"llm", "chat", "ann"}, kStart).remaining, 100'000u - 10 - charged);
}

TEST(Settle, ManyAtOnceGetBackWhatIsTheirsInAnyOrder) {
  for (const bool forwards : {true, false}) {
    const auto limiter = testing::Open(kRules);
    std::vector<Ticket> tickets;
    for (int i = 0; i < 20; ++i) {
      tickets.push_back(limiter->Decide(Estimate("chat", 4000), kStart).ticket);
    }
    if (!forwards) std::reverse(tickets.begin(), tickets.end());
    for (const Ticket& ticket : tickets) {
      EXPECT_EQ(limiter->Settle(ticket, 100, kStart)->charged, 100u);
    }
    EXPECT_EQ(limiter->Peek({"llm", "chat", "ann"}, kStart).remaining, 100'000u - 2000);
  }
}

TEST(Settle, ChargedIsWhatWasNotGivenBack) {
  const auto limiter = testing::Open(kRules);
  const auto settle = [&](std::string_view resource, uint64_t estimate, uint64_t cost,
                          Duration after) {
    static Instant now = kStart;
    now += minutes(10);
    const Ticket ticket = limiter->Decide(Estimate(resource, estimate), now).ticket;
    return limiter->Settle(ticket, cost, now + after)->charged;
  };
  EXPECT_EQ(settle("both", 10, 3, seconds(0)), 3u);
  EXPECT_EQ(settle("both", 4, 9, seconds(30)), 9u) << "more is charged whole";
  EXPECT_EQ(settle("both", 5, 5, seconds(50)), 5u);
  EXPECT_EQ(settle("both", 10, 0, seconds(30)), 5u) << "half of it had been refilled";
  EXPECT_EQ(settle("both", 10, 0, seconds(33)), 6u) << "parts of tokens are rounded up";
  EXPECT_EQ(settle("both", 10, 0, minutes(2)), 10u) << "all of it, and the window is over";
}

TEST(Settle, ALimitInShadowDoesNotCount) {
  const auto limiter = testing::Open(kRules);
  const Ticket ticket = limiter->Decide(Estimate("tried", 50), kStart).ticket;
  // `new` has refilled by then, and `bucket` as good as not.
  EXPECT_EQ(limiter->Settle(ticket, 0, kStart + seconds(60))->charged, 1u);
}

TEST(Settle, AShadowLimitAloneDoesNotCutTheGrant) {
  const auto limiter = testing::Open(R"(
namespaces:
  n: {resources: {r: {limits: [{name: q, limit: 5, per: 1h, shadow: true}]}}}
  m:
    enforcement: shadow
    resources:
      r: {limits: [{name: q, algorithm: sliding_log, limit: 5, per: 1h}]}
      t: {tiers: {tiers: [{limit: 5, window: 1s, active: 60s}]}}
)");
  for (const auto& [ns, resource] : {std::pair{"n", "r"}, {"m", "r"}, {"m", "t"}}) {
    for (const bool settle : {false, true}) {
      const std::string subject = settle ? "s" : "u";
      for (int i = 0; i < 3; ++i) {
        const Decision d = limiter->Decide({ns, resource, subject, 8, 2, settle}, kStart);
        EXPECT_TRUE(d.allowed);
        EXPECT_EQ(d.granted, 8u) << ns << "/" << resource << " " << i;
      }
      EXPECT_EQ(limiter->Peek({ns, resource, subject, 8, 2}, kStart).granted, 8u);
    }
  }
}

TEST(Limits, ThoseThatAreTooManyAreNotTakenForUnlimited) {
  constexpr std::string_view kMany = R"(
namespaces:
  n:
    resources:
      first: {limits: [{name: q, limit: 5, per: 1h}]}
      second: {limits: [{name: q, limit: 5, per: 1h}]}
      tried: {limits: [{name: q, limit: 5, per: 1h, shadow: true}]}
      box: {copies: {per_subject: 1}}
    descriptors: [{key: a, rate_limit: {unit: second, requests_per_unit: 5}}]
)";
  LimiterOptions options;
  options.max_limits = 1;
  const auto limiter = testing::Open(kMany, options);
  const auto asked = [&](std::string_view resource) {
    return limiter->Decide({"n", resource, "u"}, kStart);
  };
  EXPECT_EQ((asked("first").error == Code::kOverloaded) +
                (asked("second").error == Code::kOverloaded) +
                (asked("tried").error == Code::kOverloaded),
            1)
      << "one has the slot, and what is in shadow refuses nobody";
  testing::Holder holder(*limiter);
  EXPECT_EQ(holder.Reserve({"n", "box", "u"}).error().code, Code::kOverloaded);
  const DescriptorEntry entry{"a", "b"};
  const Descriptor descriptor{.entries = {&entry, 1}};
  DescriptorDecision decision;
  limiter->DecideDescriptors({"n", {&descriptor, 1}, 1}, kStart, decision);
  EXPECT_EQ(decision.error, Code::kOverloaded);
  Decision carried;
  limiter->DecideAdhoc({.key = "k", .limit = 5, .per = std::chrono::hours(1), .burst = 5}, kStart,
                       carried);
  EXPECT_EQ(carried.error, Code::kOverloaded);
  EXPECT_FALSE(carried.allowed);
  limiter->ReservePool(holder.session(), {.key = "k", .workers = 1}, kStart,
                       [](const Result<Reservation>& answer) {
                         ASSERT_FALSE(answer);
                         EXPECT_EQ(answer.error().code, Code::kOverloaded);
                       });
  for (int i = 0; i < 3; ++i) limiter->Install(testing::Rules(kMany), kStart);
  EXPECT_EQ(
      (asked("first").error == Code::kOverloaded) + (asked("second").error == Code::kOverloaded),
      1);
}

}  // namespace
}  // namespace weir::settle_test
