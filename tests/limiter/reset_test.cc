// reset_after is what it says, for every algorithm: after that time without requests the limit is as
// if unused, and a nanosecond before it is not.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "tests/limiter/testing.h"

namespace weir::reset_test {
namespace {

using rc::gen::element;
using rc::gen::inRange;
using weir::testing::kStart;

std::string AnyAlgorithm() {
  return *element<std::string>(
      "limits: [{limit: 10, per: 1m, burst: 25}]", "limits: [{limit: 7, per: 1s}]",
      "limits: [{limit: 10, per: 1m, algorithm: fixed_window}]",
      "limits: [{limit: 10, per: 1m, algorithm: fixed_window, anchor: first_request}]",
      "limits: [{limit: 10, per: 1m, algorithm: sliding_log}]",
      "limits: [{limit: 10, per: 1m, algorithm: sliding_window}]",
      "limits: [{limit: 10, per: 1m, algorithm: sliding_window, slices: 1}]",
      "limits: [{limit: 10, per: 1m, algorithm: sliding_window, slices: 7, edge: drop}]",
      "limits: [{limit: 10, per: 1m, algorithm: sliding_window, slices: 7, edge: strict}]");
}

Decision Look(Limiter& limiter, Instant now) { return limiter.Peek({"n", "r", "ann", 1}, now); }

bool IsUnused(const Decision& decision) {
  const LimitStatus& limit = decision.limits().front();
  return limit.remaining == limit.capacity && limit.reset_after == Duration::zero();
}

TEST(ResetAfter, IsWhenTheLimitIsAsIfUnused) {
  EXPECT_TRUE(rc::check([] {
    const auto limiter =
        weir::testing::Open("namespaces: {n: {resources: {r: {" + AnyAlgorithm() + "}}}}\n");
    Instant now = kStart + Duration(*inRange<int64_t>(0, 60'000'000'000));
    for (int i = *inRange(1, 12); i > 0; --i) {
      now += Duration(*element<int64_t>(0, 1, 1'000'000'000, 5'999'999'999, 31'000'000'000));
      limiter->Decide({"n", "r", "ann", static_cast<uint64_t>(*inRange(1, 12))}, now);
    }
    const Decision decision = Look(*limiter, now);
    if (IsUnused(decision)) return;
    const Duration reset = decision.limits().front().reset_after;
    RC_ASSERT(reset > Duration::zero());
    RC_ASSERT(!IsUnused(Look(*limiter, now + reset - Duration(1))));
    RC_ASSERT(IsUnused(Look(*limiter, now + reset)));
  }));
}

}  // namespace
}  // namespace weir::reset_test
