// Questions that may have to be waited for: what the tests of them share.
#pragma once

#include <gtest/gtest.h>

#include "base/manual_executor.h"
#include "base/random.h"
#include "limiter/call.h"
#include "rules/read/parse.h"
#include "tests/limiter/testing.h"

namespace weir::testing {

// A limiter over stores, and the thread that asks it.
template <typename Call>
class Noted final : public Call {
 public:
  using Call::Call;
  void Answered(const Turn&) override { ++answers; }
  int answers = 0;  // that came later
};
using NotedCall = Noted<DecideCall>;
using NotedDescriptors = Noted<DescriptorCall>;
using NotedSettle = Noted<SettleCall>;

// One thread that asks, by its own clock, and runs until it is answered.
class Thread {
 public:
  explicit Thread(Limiter& the_limiter, Instant start = kStart)
      : limiter(the_limiter), clock(start) {}

  void Await(auto& call, When when) {
    const int before = call.answers;
    if (when == When::kLater) {
      executor.RunAll();
      ASSERT_EQ(call.answers, before + 1);
    } else {
      ASSERT_EQ(call.answers, before);
    }
  }
  const Decision& Decide(NotedCall& call) {
    Await(call, limiter.Decide(call, clock.Now()));
    return call.decision;
  }
  const DescriptorDecision& Decide(NotedDescriptors& call) {
    Await(call, limiter.Decide(call, clock.Now()));
    return call.decision;
  }
  const Result<Settled>& Settle(NotedSettle& call) {
    Await(call, limiter.Settle(call, clock.Now()));
    return call.answer;
  }

  Limiter& limiter;
  ManualClock clock;
  ManualExecutor executor{clock};
};

// A store elsewhere, made of the limiter's own memory; where `keep` is told, it can be talked to.
template <typename S, typename... Arguments>
LimiterOptions OverStore(S** keep, bool all, Arguments... arguments) {
  LimiterOptions options;
  options.secret = {1, 2};
  options.remote_store = [keep, arguments...](MemoryStore& here) {
    auto store = std::make_unique<S>(here, arguments...);
    if (keep != nullptr) *keep = store.get();
    return store;
  };
  options.all_remote = all;
  return options;
}

// Rules of a server that has a store elsewhere (--redis).
inline std::shared_ptr<const Rulebook> SharedRules(std::string_view yaml) {
  ParseResult parsed = ParseRulesText(yaml, "rules.yaml", {.redis = true});
  EXPECT_TRUE(parsed.ok()) << ToString(parsed.errors);
  return parsed.rules;
}

}  // namespace weir::testing
