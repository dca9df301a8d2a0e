// Limits that requests carry: exact, kept under one key whatever the numbers, bounded in number.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <map>

#include "weir/limiter.h"

namespace weir::adhoc_test {
namespace {

constexpr Instant kStart = FromNanos(1'800'000'000'000'000'000);
using std::chrono::seconds;

std::unique_ptr<Limiter> Make(LimiterOptions options = {}) {
  std::string errors;
  auto rules =
      ParseRules("namespaces: {a: {resources: {r: {limits: [{limit: 1, per: 1s}]}}}}", &errors);
  EXPECT_EQ(errors, "");
  return std::make_unique<Limiter>(std::move(rules), options, kStart);
}

Decision Ask(Limiter& limiter, const AdhocRequest& request, Instant now) {
  Decision decision;
  limiter.DecideAdhoc(request, now, decision);
  return decision;
}

TEST(Adhoc, WrongNumbersAreErrorsAndNotRefusals) {
  auto limiter = Make();
  for (const AdhocRequest& bad : {AdhocRequest{"k", 0, seconds(1), 1},
                                  {"k", 1, seconds(0), 1},
                                  {"k", 1, seconds(-1), 1},
                                  {"k", 1, seconds(1), 0},
                                  {"k", UINT64_MAX, seconds(1), 1},
                                  {"k", 1, seconds(1), UINT64_MAX},
                                  {"k", 1, seconds(3600), uint64_t{1} << 53}}) {
    const Decision decision = Ask(*limiter, bad, kStart);
    EXPECT_EQ(decision.error, Code::kBadRequest) << bad.limit << " " << bad.burst;
    EXPECT_NE(decision.message, "");
  }
  const std::string long_key(1025, 'k');
  EXPECT_EQ(Ask(*limiter, {long_key, 1, seconds(1), 1}, kStart).error, Code::kBadRequest);
}

TEST(Adhoc, CanBeSwitchedOff) {
  auto limiter = Make({.adhoc = false});
  EXPECT_EQ(Ask(*limiter, {"k", 1, seconds(1), 1}, kStart).error, Code::kBadRequest);
}

// Sets of numbers that were used least recently make room for others; whoever was limited under them
// still is when they come back.
TEST(Adhoc, ManyDifferentLimitsPushOutTheOldestAndKeepTheirStates) {
  auto limiter = Make({.memory_bytes = uint64_t{64} << 20});
  Instant now = kStart;
  const AdhocRequest old{"old", 7, seconds(3600), 7, 7};
  const AdhocRequest used{"used", 11, seconds(3600), 11, 11};
  ASSERT_TRUE(Ask(*limiter, old, now).allowed);
  ASSERT_TRUE(Ask(*limiter, used, now).allowed);
  for (uint64_t i = 1; i <= 300'000; ++i) {
    now += std::chrono::microseconds(20);
    const std::string key = "k" + std::to_string(i % 1000);
    ASSERT_EQ(Ask(*limiter, {key, 1000 + i, seconds(1), 1}, now).error, Code::kOk) << i;
    if (i % 100 == 0) {
      ASSERT_FALSE(Ask(*limiter, {"used", 11, seconds(3600), 11, 1}, now).allowed);
    }
    if (i % 5000 == 0) limiter->Tick(now);
  }
  // 7 of 7 were used 6 seconds ago, and one comes back every 514.
  EXPECT_FALSE(Ask(*limiter, {"old", 7, seconds(3600), 7, 1}, now).allowed);
  EXPECT_EQ(Ask(*limiter, {"old", 7, seconds(3600), 7, 0}, now).remaining, 0u);
  EXPECT_TRUE(Ask(*limiter, {"old", 7, seconds(3600), 7, 1}, now + seconds(515)).allowed);
}

// redis-cell's arithmetic in exact fractions: an instant is nanoseconds times `unit`, which every
// T = period/count divides.
class Model {
 public:
  struct Answer {
    bool allowed;
    uint64_t remaining;
  };
  Answer Throttle(const std::string& key, uint64_t limit, int64_t period, uint64_t burst,
                  uint64_t quantity, int64_t now) {
    __int128& tat = tats_[key];
    const __int128 at = __int128{now} * kUnit;
    const __int128 t = __int128{period} * kUnit / static_cast<int64_t>(limit);
    const __int128 next = std::max(at, tat) + t * static_cast<int64_t>(quantity);
    const bool allowed = at >= next - t * static_cast<int64_t>(burst);
    if (allowed) tat = next;
    const __int128 left = t * static_cast<int64_t>(burst) - (std::max(at, tat) - at);
    return {allowed, left < 0 ? 0 : static_cast<uint64_t>(left / t)};
  }

 private:
  static constexpr int64_t kUnit = 2520;  // 1..10 all divide it
  std::map<std::string, __int128> tats_;
};

RC_GTEST_PROP(AdhocProperty, EqualsRedisCellEvenWhenTheNumbersUnderAKeyChange, ()) {
  auto limiter = Make();
  Model model;
  int64_t now = ToNanos(kStart);
  for (int i = 0; i < 100; ++i) {
    now += *rc::gen::inRange<int64_t>(0, 2'000'000'000);
    const std::string key = *rc::gen::element<std::string>("a", "b");
    const uint64_t limit = *rc::gen::inRange<uint64_t>(1, 11);
    const int64_t period = *rc::gen::inRange<int64_t>(1, 5) * 1'000'000'000;
    const uint64_t burst = *rc::gen::inRange<uint64_t>(1, 20);
    const uint64_t quantity = *rc::gen::inRange<uint64_t>(0, 6);
    const Decision decision =
        Ask(*limiter, {key, limit, Duration(period), burst, quantity}, FromNanos(now));
    const Model::Answer answer = model.Throttle(key, limit, period, burst, quantity, now);
    RC_ASSERT(decision.error == Code::kOk);
    if (quantity > 0) RC_ASSERT(decision.allowed == answer.allowed);
    RC_ASSERT(decision.remaining == answer.remaining);
  }
}

}  // namespace
}  // namespace weir::adhoc_test
