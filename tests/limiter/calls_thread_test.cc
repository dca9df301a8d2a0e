// Several threads, each with an executor of its own, over one limiter that has to wait.
#include <gtest/gtest.h>

#include <thread>

#include "lab/stores/faulty.h"
#include "store/memory_store.h"
#include "tests/limiter/calls.h"

namespace weir::calls_thread_test {
namespace {

using std::chrono::milliseconds;
using testing::kStart;
using testing::NotedCall;
using testing::NotedSettle;
using testing::OverStore;

constexpr std::string_view kRules = R"(
namespaces:
  n:
    resources:
      both:
        limits:
          - {name: here, limit: 3000, per: 1000h, key: []}
          - {name: there, limit: 2000, per: 1000h, key: [], coordination: shared, on_failure: deny}
)";

// One for all threads, as in a server; any of them moves it on.
class SharedClock : public Clock {
 public:
  Instant Now() override { return FromNanos(now_); }
  void Advance(Duration by) { now_ += by.count(); }

 private:
  std::atomic<int64_t> now_{ToNanos(kStart)};
};

// Each request is asked, and answered, settled or abandoned; others come in between.
class Asker {
 public:
  Asker(Limiter& limiter, SharedClock& clock, Duration step, uint64_t seed)
      : limiter_(limiter), clock_(clock), step_(step), random_(seed) {}

  void Run(int requests) {
    for (int i = 0; i < 8; ++i) calls_.push_back(std::make_unique<NotedCall>(&executor_));
    for (int i = 0; i < requests; ++i) {
      std::vector<DecideCall*> all;
      for (auto& call : calls_) {
        call->request = {"n", "both", "ann"};
        call->request.settle = random_.Below(3) == 0;
        all.push_back(call.get());
      }
      limiter_.Decide(all, clock_.Now());
      const bool goes = random_.Below(3) == 0 && calls_[0]->waits();
      if (goes) limiter_.Abandon(*calls_[0], clock_.Now());
      for (auto& call : calls_) {
        while (call->waits()) Turn();
      }
      for (size_t j = goes ? 1 : 0; j < calls_.size(); ++j) Count(*calls_[j]);
    }
  }
  uint64_t admitted = 0;

 private:
  void Turn() {
    clock_.Advance(step_);
    executor_.RunSome();
  }
  void Count(NotedCall& call) {
    if (call.decision.error != Code::kOk || !call.decision.allowed) return;
    if (!call.decision.ticket) {
      ++admitted;
      return;
    }
    NotedSettle settle(&executor_);
    settle.request = {call.decision.ticket, random_.Below(2)};
    while (true) {
      const int before = settle.answers;
      if (limiter_.Settle(settle, clock_.Now()) == When::kLater) {
        while (settle.answers == before) Turn();
      }
      if (settle.answer) break;
      ASSERT_EQ(settle.answer.error().code, Code::kUnavailable);
    }
    admitted += settle.answer->charged;
  }

  Limiter& limiter_;
  SharedClock& clock_;
  const Duration step_;  // by which a turn moves it on
  Random random_;
  ManualExecutor executor_{clock_};
  std::vector<std::unique_ptr<NotedCall>> calls_;
};

uint64_t Crowd(Limiter& limiter, Duration step, int requests) {
  SharedClock clock;
  std::vector<std::unique_ptr<Asker>> askers;
  std::vector<std::thread> threads;
  for (uint64_t i = 0; i < 4; ++i) {
    askers.push_back(std::make_unique<Asker>(limiter, clock, step, i + 1));
    threads.emplace_back([asker = askers.back().get(), requests] { asker->Run(requests); });
  }
  uint64_t admitted = 0;
  for (size_t i = 0; i < 4; ++i) {
    threads[i].join();
    admitted += askers[i]->admitted;
  }
  return admitted;
}

uint64_t LeftOf(Limiter& limiter, size_t limit) {
  testing::Thread thread(limiter, kStart + std::chrono::minutes(1));
  NotedCall look(&thread.executor);
  look.ask = DecideCall::Ask::kPeek;
  look.request = {"n", "both", "ann"};
  look.patience = Duration::zero();
  thread.Await(look, limiter.Decide(look, thread.clock.Now()));
  return look.decision.limits()[limit].remaining;
}

TEST(CallsThread, TogetherGetJustTheLimitWhileTheyWait) {
  Limiter limiter(testing::SharedRules(kRules), OverStore<lab::Later>(nullptr, false), kStart);
  const uint64_t admitted = Crowd(limiter, Duration::zero(), 150);
  EXPECT_EQ(admitted, 2000u);
  EXPECT_EQ(LeftOf(limiter, 1), 0u);
  EXPECT_EQ(LeftOf(limiter, 0), 1000u);
  EXPECT_EQ(limiter.Stats().awaited, 0u);
  EXPECT_EQ(limiter.Stats().open_tickets, 0u);
}

// The store is late, lost, away; others change the rules all the while.
TEST(CallsThread, WhateverTheStoreDoesWhatIsHereIsExact) {
  lab::Faulty* store = nullptr;
  Limiter limiter(testing::SharedRules(kRules),
                  OverStore(&store, false, uint64_t{7}, Duration(milliseconds(1))), kStart);
  store->Set({.fails = 100, .fails_late = 100, .late = 300, .loses = 100, .loses_answer = 100});
  std::atomic<bool> done{false};
  std::thread reloads([&] {
    while (!done) {
      limiter.Install(testing::SharedRules(kRules), kStart);
      limiter.Tick(kStart);
      std::this_thread::yield();
    }
  });
  const uint64_t admitted = Crowd(limiter, std::chrono::microseconds(100), 60);
  done = true;
  reloads.join();
  store->Set({});
  EXPECT_GT(admitted, 100u);
  EXPECT_EQ(LeftOf(limiter, 0), 3000 - admitted);
  EXPECT_LE(LeftOf(limiter, 1) + admitted, 2000u) << "what was decided unheard is gone";
  EXPECT_EQ(limiter.Stats().awaited, 0u);
  EXPECT_EQ(limiter.Stats().open_tickets, 0u);
}

}  // namespace
}  // namespace weir::calls_thread_test
