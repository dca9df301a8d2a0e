// Waiting within a budget, with a clock that never waits.
#include "clients/cpp/src/backoff.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/clients_cpp/fakes.h"

namespace weir::client::backoff_test {
namespace {

Value Refuse(const Question& /*question*/) { return RefusedFor(1s); }

double AnyChance() { return *rc::gen::inRange(0, 1 << 20) / static_cast<double>(1 << 20); }

RC_GTEST_PROP(Backoff, JitterIsWithinAQuarter, ()) {
  const double value = *rc::gen::inRange(1, 1 << 30);
  const double jittered = Jitter(value, AnyChance());
  RC_ASSERT(jittered >= value - value / 4);
  RC_ASSERT(jittered < value + value / 4);
}

RC_GTEST_PROP(Backoff, APauseIsPositiveAndWithinWhatIsLeft, (int refusals, int64_t left)) {
  const auto pause = Pause(std::abs(refusals % 1000), Duration(left), AnyChance());
  RC_ASSERT(pause.has_value() == (left > 0));
  if (pause) RC_ASSERT(*pause > Duration::zero() && *pause <= Duration(left));
}

RC_GTEST_PROP(Backoff, TheBudgetIsSpentExactlyWhateverTheChance, ()) {
  const Duration budget(*rc::gen::inRange<int64_t>(0, int64_t{3600} << 30));
  Bench bench(Refuse);
  bench.clock->chance = AnyChance();
  const Decision decision = bench.Ask({.max_wait = budget});
  RC_ASSERT(decision.waited == budget);
  RC_ASSERT(static_cast<size_t>(decision.attempts) == bench.clock->sleeps.size() + 1);
}

TEST(Backoff, ARefusalIsAnAnswerAndIsNotAskedAgainByDefault) {
  Bench bench(Refuse);
  const Decision decision = bench.Ask();
  EXPECT_FALSE(decision.allowed);
  EXPECT_EQ(decision.retry_after, 1s);
  EXPECT_EQ(bench.wire->questions.size(), 1u);
  EXPECT_TRUE(bench.clock->sleeps.empty());
  EXPECT_EQ(CodeOf([&] { decision.ThrowIfRefused(); }), "refused");
}

TEST(Backoff, SleepsDoubleAndTheLastOneIsWhatIsLeft) {
  Bench bench(Refuse);
  const Decision decision = bench.Ask({.max_wait = 10s});
  EXPECT_EQ(bench.clock->sleeps, (std::vector<Duration>{1s, 2s, 4s, 3s}));
  EXPECT_EQ(decision.waited, 10s);
  EXPECT_EQ(decision.attempts, 5);
  EXPECT_EQ(bench.client.counters().retries, 4u);
  EXPECT_EQ(bench.client.counters().refused, 1u);
}

TEST(Backoff, AGrantEndsTheWaitingAndTellsTheTimeItTook) {
  FakeClock* clock = nullptr;
  Bench bench([&](const Question&) { return clock->now >= 1003s ? Allowed() : RefusedFor(1s); });
  clock = bench.clock.get();
  const Decision decision = bench.Ask({.max_wait = 60s});
  EXPECT_TRUE(decision.allowed);
  EXPECT_EQ(decision.waited, 3s);
  EXPECT_EQ(decision.attempts, 3);
}

TEST(Backoff, WhatCanNeverBeGrantedIsNotAskedAgain) {
  Bench bench([](const Question&) { return RefusedFor(-1ms); });
  EXPECT_FALSE(bench.Ask({.max_wait = 60s}).retry_after.has_value());
  EXPECT_EQ(bench.wire->questions.size(), 1u);
}

TEST(Backoff, TimeThatCallsTakeCounts) {
  FakeClock* clock = nullptr;
  Bench bench([&](const Question&) {
    clock->now += 400ms;
    return RefusedFor(1s);
  });
  clock = bench.clock.get();
  EXPECT_EQ(bench.Ask({.max_wait = 2s}).waited, 2400ms);
  EXPECT_EQ(bench.clock->sleeps, (std::vector<Duration>{1s, 200ms}));
}

// Figure 7 of the paper on Charon.
TEST(Backoff, TwoResourcesShareOneBudget) {
  CopyServer server({{"seats", 2}, {"calls", 0}});
  FakeClock* clock = nullptr;
  Bench bench([&](const Question& question) {
    const bool early = question.words[0] == "WEIR.RESERVE" && clock->now < 1001s;
    return early ? NotGranted() : server(question);
  });
  clock = bench.clock.get();
  {
    const Hold hold = bench.client.Reserve("shop", "seats", "ann", {.copies = 2, .max_wait = 4s});
    EXPECT_EQ(hold.waited(), 1s);
    const Decision decision =
        bench.client.Request("shop", "calls", "ann", {.max_wait = 4s - hold.waited()});
    EXPECT_FALSE(decision.allowed);
    EXPECT_EQ(hold.waited() + decision.waited, 4s);
  }
  EXPECT_EQ(server.free["seats"], 2);
}

}  // namespace
}  // namespace weir::client::backoff_test
