// Life without a server: what is granted, how long it takes, and the way back.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "clients/cpp/src/safe_buckets.h"
#include "tests/clients_cpp/fakes.h"

namespace weir::client::degraded_test {
namespace {

Value Away(const Question& /*question*/) { BeAway(); }

TEST(Degraded, GrantsTheMinimumAtOnce) {
  Bench bench(Away);
  const Decision decision = bench.Ask({.cost = 10, .min_cost = 3, .max_wait = 60s});
  EXPECT_TRUE(decision.allowed);
  EXPECT_EQ(decision.granted, 3u);
  EXPECT_EQ(decision.source, Source::kDegraded);
  EXPECT_EQ(bench.Ask({.cost = 4}).granted, 4u);
  EXPECT_TRUE(bench.clock->sleeps.empty());
  EXPECT_TRUE(bench.client.degraded());
  EXPECT_EQ(bench.client.counters().degraded_grants, 2u);
  EXPECT_EQ(bench.client.counters().degraded_entered, 1u);
}

TEST(Degraded, NobodyWaitsForAnAddressThatIsAway) {
  Bench bench(Away, {.probe_after = 1s});
  for (int i = 0; i < 5; ++i) bench.Ask();
  EXPECT_EQ(bench.wire->questions.size(), 1u);
}

TEST(Degraded, ProbesEverLessOftenAndReturnsByItself) {
  bool back = false;
  Bench bench(
      [&](const Question&) {
        if (!back) BeAway();
        return Allowed();
      },
      {.probe_after = 1s, .probe_after_most = 4s});
  std::vector<Duration> asked;
  for (int i = 0; i < 200; ++i) {
    const size_t before = bench.wire->questions.size();
    bench.Ask();
    if (bench.wire->questions.size() > before) asked.push_back(bench.clock->now - 1000s);
    bench.clock->now += 100ms;
  }
  EXPECT_EQ(asked, (std::vector<Duration>{0s, 1s, 3s, 7s, 11s, 15s, 19s}));
  back = true;
  bench.clock->now += 4s;
  EXPECT_EQ(bench.Ask().source, Source::kServer);
  EXPECT_FALSE(bench.client.degraded());
  EXPECT_EQ(bench.client.counters().recoveries, 1u);
  EXPECT_EQ(bench.client.counters().probes, 7u);
}

TEST(Degraded, OnlyOneQuestionProbes) {
  Bench* bench = nullptr;
  bool probing = false;
  Source inner = Source::kServer;
  Bench made(
      [&](const Question&) {
        if (!probing) BeAway();
        probing = false;
        inner = bench->Ask().source;
        return Allowed();
      },
      {.probe_after = 1s});
  bench = &made;
  made.Ask();
  made.clock->now += 2s;
  probing = true;
  EXPECT_EQ(made.Ask().source, Source::kServer);
  EXPECT_EQ(inner, Source::kDegraded);
  EXPECT_EQ(made.wire->questions.size(), 2u);
}

TEST(Degraded, TheSafeRateBoundsItByResource) {
  Bench bench(Away, {.safe_rate = SafeRate{.per_second = 2, .burst = 3}});
  for (const bool allowed : {true, true, true, false}) EXPECT_EQ(bench.Ask().allowed, allowed);
  const Decision refused = bench.Ask();
  EXPECT_EQ(refused.retry_after, 500ms);
  EXPECT_EQ(refused.source, Source::kDegraded);
  EXPECT_TRUE(bench.client.Request("shop", "other", "ann").allowed);
  bench.clock->now += 500ms;
  EXPECT_TRUE(bench.client.Peek("shop", "search", "ann").allowed);
  EXPECT_TRUE(bench.Ask().allowed);
  EXPECT_FALSE(bench.Ask().allowed);
  EXPECT_FALSE(bench.Ask({.cost = 4}).retry_after.has_value()) << "it never fits";
  EXPECT_EQ(bench.client.counters().degraded_refusals, 4u);
}

TEST(Degraded, WaitingGoesOnUnderTheSafeRate) {
  Bench bench(Away, {.safe_rate = SafeRate{.per_second = 1, .burst = 1}});
  EXPECT_TRUE(bench.Ask().allowed);
  const Decision decision = bench.Ask({.max_wait = 5s});
  EXPECT_TRUE(decision.allowed);
  EXPECT_EQ(decision.waited, 1s);
}

RC_GTEST_PROP(SafeRate, NoWindowAdmitsMoreThanBurstAndRate, ()) {
  const double rate = *rc::gen::inRange(1, 50), burst = *rc::gen::inRange(1, 50);
  SafeBuckets buckets({.per_second = rate, .burst = burst});
  std::vector<std::pair<Duration, uint64_t>> taken;
  Duration now{};
  for (int i = 0; i < 100; ++i) {
    now += std::chrono::milliseconds(*rc::gen::inRange(0, 300));
    const auto amount = static_cast<uint64_t>(*rc::gen::inRange(1, 5));
    if (buckets.Take({"n", "r"}, amount, now) != Duration::zero()) continue;
    taken.emplace_back(now, amount);
    double sum = 0;
    for (auto one = taken.rbegin(); one != taken.rend(); ++one) {
      sum += static_cast<double>(one->second);
      const double seconds = static_cast<double>((now - one->first).count()) / 1e9;
      RC_ASSERT(sum <= burst + rate * seconds + 1e-6);
    }
  }
}

TEST(SafeRate, RemembersABoundedNumberOfResources) {
  SafeBuckets buckets({.per_second = 0, .burst = 1, .resources = 2});
  EXPECT_EQ(buckets.Take({"n", "a"}, 1, 0s), Duration::zero());
  EXPECT_EQ(buckets.Take({"n", "b"}, 1, 0s), Duration::zero());
  EXPECT_FALSE(buckets.Take({"n", "a"}, 1, 0s).has_value());
  EXPECT_EQ(buckets.Take({"n", "c"}, 1, 0s), Duration::zero());
  EXPECT_FALSE(buckets.Take({"n", "a"}, 1, 0s).has_value()) << "used later than b";
  EXPECT_EQ(buckets.Take({"n", "b"}, 1, 0s), Duration::zero()) << "forgotten";
}

TEST(Degraded, AnErrorOfTheServerDegradesAndItIsNotAway) {
  for (const char* error : {"UNAVAILABLE the store is away", "OVERLOADED later"}) {
    Bench bench([&](const Question&) { return Value::Error(error); });
    EXPECT_EQ(bench.Ask().source, Source::kDegraded);
    EXPECT_FALSE(bench.client.degraded()) << "it answers, and others of its limits may be well";
    EXPECT_EQ(bench.client.counters().server_errors, 1u);
  }
}

TEST(Degraded, WhoDoesNotSpeakOurCommandsIsAway) {
  for (const Value& answer :
       {Value::Error("ERR unknown command 'WEIR.REQUEST'"), Value::Text("OK"), Value::List({})}) {
    Bench bench([&](const Question&) { return answer; });
    EXPECT_EQ(bench.Ask().source, Source::kDegraded);
    EXPECT_TRUE(bench.client.degraded());
  }
}

TEST(Degraded, EveryErrorOfTheCallerHasItsCodeAndMessageAndIsThrown) {
  const std::pair<const char*, const char*> errors[] = {{"BAD_REQUEST", "bad_request"},
                                                        {"UNKNOWN_NAMESPACE", "unknown_namespace"},
                                                        {"UNKNOWN_RESOURCE", "unknown_resource"},
                                                        {"WRONG_KIND", "wrong_kind"},
                                                        {"NOT_HELD", "not_held"},
                                                        {"UNKNOWN_TRANSFER", "unknown_transfer"},
                                                        {"UNKNOWN_TICKET", "unknown_ticket"},
                                                        {"UNAUTHENTICATED", "unauthenticated"},
                                                        {"NOAUTH", "unauthenticated"},
                                                        {"WRONGPASS", "unauthenticated"}};
  for (const auto& [word, code] : errors) {
    Bench bench([&](const Question&) { return Value::Error(std::string(word) + " as it is"); });
    EXPECT_EQ(CodeOf([&] { bench.Ask(); }), code);
    try {
      bench.Ask();
    } catch (const Error& error) {
      EXPECT_EQ(error.message(), "as it is");
      EXPECT_EQ(error.what(), std::string(code) + ": as it is");
    }
    EXPECT_FALSE(bench.client.degraded());
    EXPECT_EQ(bench.client.counters().client_errors, 2u);
  }
}

TEST(Degraded, FailingClosedThrows) {
  Bench bench(Away, {.fail_open = false});
  EXPECT_THROW(bench.Ask(), Unavailable);
  EXPECT_THROW(bench.client.Reserve("shop", "seats", "ann"), Unavailable);
  EXPECT_THROW(bench.client.Settle("t", 1), Unavailable);
  EXPECT_THROW(bench.client.Seize("t"), Unavailable);
  EXPECT_EQ(CodeOf([&] { bench.Ask(); }), "unavailable");
  EXPECT_EQ(bench.client.counters().degraded_grants, 0u);
}

TEST(Degraded, TheDeadlineHoldsForAllAddressesTogether) {
  FakeClock* clock = nullptr;
  Bench bench(
      [&](const Question& question) -> Value {
        clock->now += question.timeout;
        throw Failure(Code::kDeadlineExceeded, "no answer in time");
      },
      {.addresses = {"a:1", "b:1", "c:1"}, .timeout = 600ms});
  clock = bench.clock.get();
  EXPECT_EQ(bench.Ask().waited, 600ms);
  ASSERT_EQ(bench.wire->questions.size(), 3u);
  for (const Question& question : bench.wire->questions) EXPECT_EQ(question.timeout, 200ms);
}

TEST(Degraded, TicketsAndCopiesWorkToTheEnd) {
  Bench bench(Away);
  const Settled settled = bench.client.Settle(bench.Ask({.settle = true}), 7);
  EXPECT_EQ(settled.charged, 7u);
  EXPECT_EQ(settled.source, Source::kDegraded);
  std::string transfer;
  {
    Hold hold = bench.client.Reserve("shop", "seats", "ann", {.copies = 5, .min_copies = 3});
    EXPECT_EQ(hold.copies(), 3u);
    EXPECT_EQ(hold.source(), Source::kDegraded);
    transfer = hold.Transfer(1, 30s);
    EXPECT_EQ(hold.Release(1), 1u);
  }
  Bench other([](const Question&) -> Value { throw std::logic_error("no server knows it"); });
  const Hold seized = other.client.Seize(transfer);
  EXPECT_EQ(seized.resource(), "seats");
  EXPECT_EQ(seized.subject(), "ann");
  EXPECT_EQ(seized.copies(), 1u);
  EXPECT_EQ(CodeOf([&] { other.client.Seize("local:nonsense"); }), "unknown_transfer");
}

TEST(KillSwitch, RefusalsBecomeGrantsOfTheMinimumAndServersAreStillAsked) {
  Bench bench([](const Question& question) {
    return question.words[0] == "WEIR.RESERVE" ? NotGranted() : RefusedFor(1s);
  });
  EXPECT_FALSE(bench.Ask().allowed);
  bench.kill_switch.Set(true);
  const Decision decision = bench.Ask({.cost = 5, .min_cost = 2, .max_wait = 9s});
  EXPECT_TRUE(decision.allowed);
  EXPECT_EQ(decision.granted, 2u);
  EXPECT_EQ(decision.source, Source::kKillSwitch);
  EXPECT_EQ(decision.waited, 0s);
  {
    const Hold hold = bench.client.Reserve("shop", "seats", "ann", {.copies = 3});
    EXPECT_EQ(hold.copies(), 3u);
    EXPECT_EQ(hold.source(), Source::kKillSwitch);
  }
  EXPECT_EQ(bench.wire->questions.size(), 3u) << "nothing is released that was not granted";
  EXPECT_EQ(bench.client.counters().kill_switch_grants, 2u);
  bench.kill_switch.Set(false);
  EXPECT_FALSE(bench.Ask().allowed);
}

TEST(KillSwitch, OneForTheProcess) {
  Bench bench([](const Question&) { return RefusedFor(1s); },
              {.kill_switch = &KillSwitch::OfProcess()});
  KillSwitch::OfProcess().Set(true);
  EXPECT_TRUE(bench.Ask().allowed);
  KillSwitch::OfProcess().Set(false);
  EXPECT_FALSE(bench.Ask().allowed);
}

}  // namespace
}  // namespace weir::client::degraded_test
