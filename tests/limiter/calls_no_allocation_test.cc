// What waiting costs in memory: nothing, once a call has waited for the first time.
#include <gtest/gtest.h>

#include <thread>

#include "lab/stores/faulty.h"
#include "store/memory_store.h"
#include "tests/limiter/calls.h"
#include "tests/rules/allocations.h"

namespace weir::calls_no_allocation_test {
namespace {

using std::chrono::milliseconds;
using testing::kStart;
using testing::NotedCall;
using testing::NotedDescriptors;
using testing::OverStore;

constexpr std::string_view kRules = R"(
namespaces:
  n:
    resources:
      here: {limits: [{name: a, limit: 1000, per: 1s}]}
      there: {limits: [{name: a, limit: 1000, per: 1s, coordination: shared}]}
      both:
        limits:
          - {name: a, algorithm: fixed_window, limit: 1000, per: 1s}
          - {name: b, limit: 1000, per: 1s, coordination: shared}
          - {name: c, algorithm: fixed_window, limit: 2, per: 1s, coordination: shared}
      bucket:
        limits:
          - {name: a, limit: 1000, per: 1s}
          - {name: b, limit: 1000, per: 1s, coordination: shared}
    descriptors:
      - {key: user, rate_limit: {unit: second, requests_per_unit: 1000}, weir: {coordination: shared}}
      - {key: path, rate_limit: {unit: second, requests_per_unit: 1000}}
)";

struct CallsNoAllocation : ::testing::Test {
  Limiter limiter{testing::SharedRules(kRules), OverStore<lab::Later>(nullptr, false), kStart};
  testing::Thread thread{limiter};

  size_t During(const std::function<void()>& work) {
    const size_t before = Allocations();
    work();
    return Allocations() - before;
  }
  void Ask(NotedCall& call, std::string_view resource, When expected) {
    call.request = {"n", resource, "a-subject-of-some-length"};
    const When when = limiter.Decide(call, thread.clock.Now());
    EXPECT_EQ(when, expected);
    if (when == When::kLater) thread.executor.RunAll();
    EXPECT_EQ(call.decision.error, Code::kOk);
  }
};

TEST_F(CallsNoAllocation, OneThatDoesNotWaitAllocatesNothing) {
  for (int i = 0; i < 100; ++i) {
    NotedCall call(&thread.executor);  // a new one, too
    if (i == 0) Ask(call, "here", When::kNow);
    EXPECT_EQ(During([&] { Ask(call, "here", When::kNow); }), 0u);
  }
}

TEST_F(CallsNoAllocation, OneThatWaitsAllocatesOnceInItsLife) {
  for (const std::string_view resource : {"there", "both"}) {
    {
      NotedCall first(&thread.executor);  // of the thread, the store and the keys
      for (int i = 0; i < 10; ++i) Ask(first, resource, When::kLater);
    }
    for (int i = 0; i < 20; ++i) {
      NotedCall call(&thread.executor);
      EXPECT_EQ(During([&] { Ask(call, resource, When::kLater); }), 1u) << resource;
      EXPECT_EQ(During([&] {
                  for (int j = 0; j < 10; ++j) {
                    thread.clock.Advance(milliseconds(100));
                    Ask(call, resource, When::kLater);
                  }
                }),
                0u)
          << resource;
    }
  }
}

// A bucket here that may have to give something back keeps count of it in a box, as for a ticket.
TEST_F(CallsNoAllocation, ABucketHereAllocatesOnceWhileItIsWaitedForElsewhere) {
  NotedCall call(&thread.executor);
  for (int i = 0; i < 10; ++i) Ask(call, "bucket", When::kLater);
  EXPECT_EQ(During([&] { Ask(call, "bucket", When::kLater); }), 1u);
}

TEST_F(CallsNoAllocation, ManyThatWaitAtOnceAllocateNothingMore) {
  std::vector<std::unique_ptr<NotedCall>> calls;
  std::vector<DecideCall*> all;
  for (int i = 0; i < 64; ++i) {
    calls.push_back(std::make_unique<NotedCall>(&thread.executor));
    all.push_back(calls.back().get());
  }
  const auto round = [&] {
    for (DecideCall* call : all) call->request = {"n", "both", "ann"};
    EXPECT_EQ(limiter.Decide(all, thread.clock.Now()), 64u);
    thread.executor.RunAll();
  };
  for (int i = 0; i < 3; ++i) round();
  EXPECT_EQ(During([&] {
              for (int i = 0; i < 20; ++i) round();
            }),
            0u);
  EXPECT_EQ(calls[0]->answers, 23);
}

TEST_F(CallsNoAllocation, NorDoDescriptorsAfterTheirFirstTime) {
  const std::vector<DescriptorEntry> entries = {{"user", "ann"}, {"path", "/a"}};
  std::vector<Descriptor> descriptors(2);
  for (size_t i = 0; i < 2; ++i) descriptors[i].entries = {&entries[i], 1};
  NotedDescriptors call(&thread.executor);
  const auto ask = [&] {
    call.request = {"n", descriptors};
    EXPECT_EQ(limiter.Decide(call, thread.clock.Now()), When::kLater);
    thread.executor.RunAll();
    EXPECT_FALSE(call.decision.over);
  };
  for (int i = 0; i < 3; ++i) ask();
  EXPECT_EQ(During(ask), 0u);
}

// Nor does whoever goes: neither the call, nor the store, nor a timer is left behind.
TEST_F(CallsNoAllocation, NorDoThoseWhoGo) {
  NotedCall call(&thread.executor);
  const auto ask = [&] {
    call.request = {"n", "both", "ann"};
    EXPECT_EQ(limiter.Decide(call, thread.clock.Now()), When::kLater);
    limiter.Abandon(call, thread.clock.Now());
  };
  for (int i = 0; i < 3; ++i) ask();
  EXPECT_EQ(During([&] {
              for (int i = 0; i < 100; ++i) ask();
            }),
            0u);
  EXPECT_EQ(call.answers, 0);
}

}  // namespace
}  // namespace weir::calls_no_allocation_test
