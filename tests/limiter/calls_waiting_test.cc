// While a question waits: rules change, askers go, stores fail, deadlines come.
#include <gtest/gtest.h>

#include "lab/stores/faulty.h"
#include "store/memory_store.h"
#include "tests/limiter/calls.h"
#include "tests/store/held_back.h"

namespace weir::calls_waiting_test {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HeldBack;
using testing::kStart;
using testing::NotedCall;
using testing::NotedDescriptors;
using testing::NotedSettle;

constexpr std::string_view kRules = R"(
namespaces:
  n:
    resources:
      a:
        limits:
          - {name: here, limit: 10, per: 1h}
          - {name: there, limit: 10, per: 1h, coordination: shared, on_failure: allow}
      denies: {limits: [{name: there, limit: 10, per: 1h, coordination: shared, on_failure: deny}]}
      local: {limits: [{name: there, limit: 10, per: 1h, coordination: shared, on_failure: local}]}
    descriptors:
      - {key: user, rate_limit: {unit: hour, requests_per_unit: 10}, weir: {coordination: shared}}
)";

struct CallsWaiting : ::testing::Test {
  HeldBack* store = nullptr;
  Limiter limiter{testing::SharedRules(kRules), testing::OverStore(&store, false), kStart};
  testing::Thread thread{limiter};
  NotedCall call{&thread.executor};

  When Ask(std::string_view resource, uint64_t cost = 1, bool settle = false) {
    call.ask = DecideCall::Ask::kRequest;
    call.request = {"n", resource, "ann", cost};
    call.request.settle = settle;
    return limiter.Decide(call, thread.clock.Now());
  }
  void Answer() { store->Answer(Turn(thread.clock)); }
  void AnswerAway() { store->AnswerAway(Turn(thread.clock)); }
  uint64_t Failures(std::string_view cause) {
    for (const FailureCount& one : limiter.Stats().failures) {
      if (one.cause == cause) return one.count;
    }
    return UINT64_MAX;
  }
  uint64_t LeftOf(std::string_view resource, std::string_view limit) {
    NotedCall look(&thread.executor);
    look.ask = DecideCall::Ask::kPeek;
    look.request = {"n", resource, "ann"};
    EXPECT_EQ(limiter.Decide(look, thread.clock.Now()), When::kLater);
    Answer();
    for (const LimitStatus& one : look.decision.limits()) {
      if (one.name == limit) return one.remaining;
    }
    return UINT64_MAX;
  }
  void ExpectNothingAwaited() {
    EXPECT_EQ(limiter.Stats().awaited, 0u);
    EXPECT_EQ(store->held(), 0u);
    EXPECT_TRUE(thread.executor.timers().empty());
  }
};

// Twice as much, and other limits before all of them.
std::shared_ptr<const Rulebook> OtherRules() {
  std::string rules(kRules);
  rules.insert(rules.find("      a:"), "      0: {limits: [{name: new, limit: 1, per: 1s}]}\n");
  rules.insert(rules.find("      - {key: user"),
               "      - {key: new, rate_limit: {unit: second, requests_per_unit: 1}}\n");
  for (size_t at = 0; (at = rules.find("limit: 10, per: 1h", at)) != std::string::npos;) {
    rules.replace(at, 9, "limit: 20");
  }
  return testing::SharedRules(rules);
}

// ---- Rules that change ----

TEST_F(CallsWaiting, AQuestionIsAnsweredUnderTheRulesThatItWasAskedUnder) {
  ASSERT_EQ(Ask("a", 3), When::kLater);
  limiter.Install(OtherRules(), kStart);
  limiter.Decide({"n", "a", "bob"}, kStart);  // this thread sees the new rules, and drops the old
  Answer();
  ASSERT_EQ(call.answers, 1);
  EXPECT_TRUE(call.decision.allowed);
  ASSERT_EQ(call.decision.limits().size(), 2u);
  EXPECT_EQ(call.decision.limits()[0].name, "here");
  EXPECT_EQ(call.decision.limits()[0].limit, 10u);
  EXPECT_EQ(LeftOf("a", "here"), 17u) << "what was used stays used";
  EXPECT_EQ(LeftOf("a", "there"), 17u);
  EXPECT_EQ(limiter.AllCounts().resources[1].total.admitted, 2u);
}

// Another thread may install rules at any moment: also while the store is being asked.
TEST_F(CallsWaiting, RulesThatChangeWhileTheStoreIsAskedAreForTheNextQuestion) {
  for (const bool waits : {true, false}) {
    store->on_ask = [&] {
      limiter.Install(waits ? OtherRules() : testing::SharedRules(kRules), kStart);
    };
    call.home = waits ? &thread.executor : nullptr;
    std::vector<std::unique_ptr<NotedCall>> more;
    std::vector<DecideCall*> calls = {&call};
    call.request = {"n", "a", "ann"};
    for (int i = 0; i < 40; ++i) {
      more.push_back(std::make_unique<NotedCall>(call.home));
      more.back()->request = {"n", i % 2 == 0 ? "local" : "denies", "ann"};
      calls.push_back(more.back().get());
    }
    EXPECT_EQ(limiter.Decide(calls, kStart), waits ? 41u : 0u);
    store->on_ask = nullptr;
    while (store->held() > 0) Answer();
    const uint64_t asked_under = waits ? 10 : 20;
    EXPECT_EQ(call.decision.limits()[0].limit, asked_under);
    EXPECT_EQ(more[0]->decision.limits()[0].limit, asked_under);
    EXPECT_EQ(more[38]->decision.limits()[0].limit, asked_under);
    if (waits) {
      EXPECT_EQ(more[39]->decision.limits()[0].limit, asked_under);
    } else {
      EXPECT_EQ(more[39]->decision.error, Code::kUnavailable);
    }
  }
}

TEST_F(CallsWaiting, SoAreThoseOfWhoCannotWait) {
  store->on_ask = [&] { limiter.Install(OtherRules(), kStart); };
  std::vector<Request> requests(40, Request{"n", "a", "ann", 0});
  std::vector<Decision> decisions(40);
  limiter.DecideBatch(requests, kStart, decisions);
  for (const Decision& decision : decisions) {
    EXPECT_TRUE(decision.degraded);
    EXPECT_EQ(decision.limits()[0].limit, 10u);
  }
}

TEST_F(CallsWaiting, DescriptorsTooAreAnsweredUnderTheRulesThatTheyWereAskedUnder) {
  NotedDescriptors descriptors(&thread.executor);
  const DescriptorEntry entry{"user", "ann"};
  const Descriptor one{.entries = {&entry, 1}, .limit = {}, .hits_addend = {}};
  descriptors.request = {"n", {&one, 1}};
  store->on_ask = [&] { limiter.Install(OtherRules(), kStart); };
  ASSERT_EQ(limiter.Decide(descriptors, kStart), When::kLater);
  limiter.Decide({"n", "a", "bob"}, kStart);
  store->on_ask = nullptr;
  while (store->held() > 0) Answer();
  EXPECT_EQ(descriptors.answers, 1);
  EXPECT_FALSE(descriptors.decision.over);
  EXPECT_EQ(descriptors.decision.statuses[0].remaining, 9u);
  for (const DescriptorCounts& counts : limiter.AllCounts().descriptors) {
    EXPECT_EQ(counts.ok, counts.rule == "user" ? 1u : 0u) << counts.rule;
  }
}

// ---- Deadlines and failures ----

TEST_F(CallsWaiting, ADegradedAnswerSaysSoAndItsCauseIsCounted) {
  ASSERT_EQ(Ask("a", 3), When::kLater);
  AnswerAway();
  EXPECT_TRUE(call.decision.allowed);
  EXPECT_TRUE(call.decision.degraded);
  EXPECT_EQ(call.decision.granted, 3u);
  ASSERT_EQ(Ask("denies"), When::kLater);
  AnswerAway();
  EXPECT_EQ(call.decision.error, Code::kUnavailable);
  EXPECT_NE(call.decision.message, "");
  EXPECT_FALSE(call.decision.degraded);
  ASSERT_EQ(Ask("local", 10), When::kLater);
  AnswerAway();
  EXPECT_TRUE(call.decision.allowed && call.decision.degraded);
  ASSERT_EQ(Ask("local", 1), When::kLater);
  AnswerAway();
  EXPECT_FALSE(call.decision.allowed) << "this node's own ten are used up";
  EXPECT_TRUE(call.decision.degraded);
  EXPECT_EQ(Failures("unavailable"), 4u);
  ExpectNothingAwaited();
  ASSERT_EQ(Ask("a"), When::kLater);
  Answer();
  EXPECT_FALSE(call.decision.degraded) << "and the next one does not";
}

TEST_F(CallsWaiting, TheDeadlineIsTheLimitersOrSooner) {
  for (const Duration patience : {kNever, Duration(milliseconds(5)), Duration(hours(1))}) {
    call.patience = patience;
    ASSERT_EQ(Ask("a"), When::kLater);
    const Duration awaited = std::min(patience, Duration(milliseconds(20)));
    thread.clock.Advance(awaited - Duration(1));
    thread.executor.RunAll();
    EXPECT_TRUE(call.waits());
    thread.clock.Advance(Duration(1));
    thread.executor.RunAll();
    EXPECT_FALSE(call.waits());
    EXPECT_TRUE(call.decision.degraded);
  }
  EXPECT_EQ(Failures("deadline"), 3u);
  ExpectNothingAwaited();
}

TEST_F(CallsWaiting, WhoIsGoneIsNotAnsweredAndTheCallIsUsedAgain) {
  ASSERT_EQ(Ask("a", 4, true), When::kLater);
  limiter.Abandon(call, kStart);
  limiter.Abandon(call, kStart);
  ExpectNothingAwaited();
  thread.clock.Advance(seconds(1));
  thread.executor.RunAll();
  EXPECT_EQ(call.answers, 0);
  EXPECT_EQ(LeftOf("a", "here"), 10u);
  EXPECT_EQ(limiter.Stats().open_tickets, 0u);
  ASSERT_EQ(Ask("a", 4), When::kLater);
  Answer();
  EXPECT_TRUE(call.decision.allowed);
  limiter.Abandon(call, thread.clock.Now());
  EXPECT_TRUE(call.decision.allowed);

  NotedDescriptors descriptors(&thread.executor);
  const DescriptorEntry entry{"user", "ann"};
  const Descriptor one{.entries = {&entry, 1}, .limit = {}, .hits_addend = {}};
  descriptors.request = {"n", {&one, 1}};
  ASSERT_EQ(limiter.Decide(descriptors, thread.clock.Now()), When::kLater);
  limiter.Abandon(descriptors, thread.clock.Now());
  ExpectNothingAwaited();
  EXPECT_EQ(descriptors.answers, 0);
}

TEST_F(CallsWaiting, WhoCannotWaitIsDecidedOnFailure) {
  EXPECT_TRUE(limiter.Decide({"n", "a", "ann"}, kStart).degraded);
  EXPECT_EQ(limiter.Decide({"n", "denies", "ann"}, kStart).error, Code::kUnavailable);
  EXPECT_TRUE(limiter.Peek({"n", "local", "ann"}, kStart).degraded);
  const DescriptorEntry entry{"user", "ann"};
  const Descriptor one{.entries = {&entry, 1}, .limit = {}, .hits_addend = {}};
  DescriptorDecision decision;
  limiter.DecideDescriptors({"n", {&one, 1}}, kStart, decision);
  EXPECT_TRUE(decision.degraded);
  EXPECT_EQ(Failures("cannot_wait"), 4u);
}

// A clock that begins before 1970 is taken to begin then, also by who is answered late.
TEST(CallsBefore1970, WhatIsLocalMeanwhileIsCounted) {
  const Instant start = FromNanos(0) - hours(100);
  HeldBack* store = nullptr;
  Limiter limiter(testing::SharedRules(kRules), testing::OverStore(&store, false), start);
  testing::Thread thread(limiter, start);
  NotedCall call(&thread.executor);
  for (int i = 0; i < 12; ++i) {
    call.request = {"n", "local", "ann"};
    ASSERT_EQ(limiter.Decide(call, thread.clock.Now()), When::kLater);
    thread.clock.Advance(milliseconds(20));
    thread.executor.RunAll();
    EXPECT_EQ(call.decision.allowed, i < 10) << i;
  }
}

// ---- Settling ----

struct CallsSettling : CallsWaiting {
  NotedSettle settle{&thread.executor};

  Ticket TakeTicket(uint64_t cost) {
    EXPECT_EQ(Ask("a", cost, true), When::kLater);
    Answer();
    EXPECT_TRUE(call.decision.ticket);
    return call.decision.ticket;
  }
  When Settle(const Ticket& ticket, uint64_t cost) {
    settle.request = {ticket, cost};
    return limiter.Settle(settle, thread.clock.Now());
  }
  void ExpectLeft(uint64_t left) {
    EXPECT_EQ(LeftOf("a", "here"), left);
    EXPECT_EQ(LeftOf("a", "there"), left);
  }
};

TEST_F(CallsSettling, BothPartsAreSettledAndTheTicketIsGone) {
  for (const uint64_t cost : {2u, 9u}) {
    const Ticket ticket = TakeTicket(6);
    ASSERT_EQ(Settle(ticket, cost), When::kLater);
    EXPECT_EQ(limiter.Settle(ticket, 1, kStart).error().code, Code::kUnknownTicket)
        << "nobody settles twice, not meanwhile either";
    Answer();
    ASSERT_TRUE(settle.answer.ok());
    EXPECT_EQ(settle.answer->charged, cost);
    EXPECT_EQ(Settle(ticket, cost), When::kNow);
    EXPECT_FALSE(settle.answer.ok());
    ExpectLeft(10 - cost);
    EXPECT_EQ(limiter.Stats().open_tickets, 0u);
    ExpectNothingAwaited();
    thread.clock.Advance(hours(2));  // all as at the beginning
  }
}

TEST_F(CallsSettling, OneThatFailsIsLateOrAbandonedCanBeTriedAgain) {
  const Ticket ticket = TakeTicket(6);
  const auto expect_open = [&](int answers) {
    EXPECT_EQ(settle.answers, answers);
    EXPECT_EQ(limiter.Stats().open_tickets, 1u);
    ExpectNothingAwaited();
    ExpectLeft(4);
  };
  const auto expect_failed = [&](int answers) {
    ASSERT_FALSE(settle.answer.ok());
    EXPECT_EQ(settle.answer.error().code, Code::kUnavailable);
    expect_open(answers);
  };
  ASSERT_EQ(Settle(ticket, 1), When::kLater);
  AnswerAway();
  expect_failed(1);
  ASSERT_EQ(Settle(ticket, 1), When::kLater);
  thread.clock.Advance(milliseconds(20));
  thread.executor.RunAll();
  expect_failed(2);
  ASSERT_EQ(Settle(ticket, 1), When::kLater);
  for (int i = 0; i < 2; ++i) limiter.Abandon(settle, thread.clock.Now());
  expect_open(2);
  store->away = true;
  ASSERT_EQ(Settle(ticket, 1), When::kNow);
  expect_failed(2);
  EXPECT_EQ(limiter.Settle(ticket, 1, thread.clock.Now()).error().code, Code::kUnavailable);
  expect_open(2);
  store->away = false;
  ASSERT_EQ(Settle(ticket, 1), When::kLater);
  Answer();
  EXPECT_EQ(settle.answer->charged, 1u);
  ExpectLeft(9);
  EXPECT_EQ(limiter.Stats().open_tickets, 0u);
}

TEST_F(CallsSettling, ATicketThatExpiresKeepsItsEstimateInBothPlaces) {
  TakeTicket(6);
  thread.clock.Advance(std::chrono::minutes(10) + seconds(1));
  limiter.Tick(thread.clock.Now());
  EXPECT_EQ(store->closed, 1u);
  EXPECT_EQ(limiter.Stats().open_tickets, 0u);
  EXPECT_EQ(LeftOf("a", "there"), 5u);
}

// There is room for one ticket of each of sixteen parts: whoever comes back pushes another out.
TEST_F(CallsSettling, ATicketThatComesBackPushesOutAnotherWhoseReceiptsAreClosed) {
  LimiterOptions options = testing::OverStore(&store, false);
  options.max_tickets = 1;
  Limiter small(testing::SharedRules(kRules), options, kStart);
  const auto take = [&] {
    call.request = {"n", "a", "ann", 0};
    call.request.settle = true;
    EXPECT_EQ(small.Decide(call, kStart), When::kLater);
    Answer();
    return call.decision.ticket;
  };
  settle.request = {take(), 1};
  ASSERT_EQ(small.Settle(settle, kStart), When::kLater);
  Settlement* const waiting = store->TakeSettlement();
  for (int i = 0; i < 400; ++i) take();
  EXPECT_EQ(small.Stats().open_tickets, 16u);
  const size_t closed = store->closed;
  waiting->error = Code::kUnavailable;
  waiting->Done(Turn(thread.clock));
  EXPECT_EQ(small.Stats().open_tickets, 16u);
  EXPECT_EQ(store->closed, closed + 1);
}

TEST_F(CallsSettling, WhatWasAllowedWhileTheStoreWasAwayIsSettledHere) {
  ASSERT_EQ(Ask("a", 6, true), When::kLater);
  AnswerAway();
  ASSERT_TRUE(call.decision.ticket);
  ASSERT_EQ(Settle(call.decision.ticket, 2), When::kNow);
  EXPECT_EQ(settle.answer->charged, 2u);
  EXPECT_EQ(LeftOf("a", "here"), 8u);
  EXPECT_EQ(LeftOf("a", "there"), 10u);
}

}  // namespace
}  // namespace weir::calls_waiting_test
