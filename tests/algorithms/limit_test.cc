#include "algorithms/limit.h"

#include <gtest/gtest.h>

#include "tests/algorithms/testing.h"

namespace weir::limit_test {
namespace {

using Anchor = FixedWindow::Anchor;
using Edge = SlidingWindow::Edge;

BurstTiers Tiers(std::vector<BurstTiers::Tier> tiers) { return {std::move(tiers)}; }

// The field at fault; empty if the numbers are good.
std::string Fault(const Limit& limit) {
  std::string field = "untouched";
  const std::string complaint = Check(limit, &field);
  EXPECT_EQ(complaint.empty(), field.empty());
  EXPECT_EQ(complaint.rfind(field, 0), 0u) << complaint;
  return field;
}

TEST(LimitTest, EveryAlgorithmHasItsName) {
  EXPECT_EQ(AlgorithmName(TokenBucket()), "token_bucket");
  EXPECT_EQ(AlgorithmName(FixedWindow()), "fixed_window");
  EXPECT_EQ(AlgorithmName(SlidingLog()), "sliding_log");
  EXPECT_EQ(AlgorithmName(SlidingWindow()), "sliding_window");
  EXPECT_EQ(AlgorithmName(BurstTiers()), "burst_tiers");
  EXPECT_EQ(AlgorithmName(Copies()), "copies");
}

TEST(LimitTest, NumbersAreThoseThatAreShown) {
  EXPECT_EQ(Numbers(TokenBucket(10, 1s, 20)).most, 10u);
  EXPECT_EQ(Numbers(TokenBucket(10, 1s, 20)).per, 1s);
  EXPECT_EQ(Numbers(SlidingLog{7, 2s}).per, 2s);
  EXPECT_EQ(Numbers(Copies{5}).most, 5u);
  EXPECT_EQ(Numbers(Copies{5}).per, 0s);
  EXPECT_EQ(Numbers(Tiers({{5, 1s, 1s}, {6, 1s, 1s}})).most, 11u);
  EXPECT_EQ(Numbers(Tiers({{5, 1s, 1s}})).per, 0s);
}

TEST(LimitTest, GoodNumbersPass) {
  EXPECT_EQ(Fault(TokenBucket(10, 1s, 20)), "");
  EXPECT_EQ(Fault(TokenBucket(0, 1s, 0)), "");
  EXPECT_EQ(Fault(TokenBucket(kMostTokens, 1ns, kMostTokens)), "");
  EXPECT_EQ(Fault(TokenBucket(1, kTenYears, 9)), "");
  EXPECT_EQ(Fault(FixedWindow{0, 1ns}), "");
  EXPECT_EQ(Fault(SlidingLog{1'000'000, kTenYears}), "");
  EXPECT_EQ(Fault(SlidingWindow{kMostTokens, 10'000ns, 10'000, Edge::kDrop}), "");
  EXPECT_EQ(Fault(Tiers({})), "");
  EXPECT_EQ(Fault(Tiers({{0, 1ns, 1ns, 0ns}, {1'000'000, 1s, 1s, Duration::max()}})), "");
  EXPECT_EQ(Fault(Copies{kMostTokens}), "");
}

TEST(LimitTest, BadNumbersAreRefusedByField) {
  EXPECT_EQ(Fault(TokenBucket(kMostTokens + 1, 1s, 1)), "limit");
  EXPECT_EQ(Fault(TokenBucket(1, 1s, kMostTokens + 1)), "burst");
  EXPECT_EQ(Fault(TokenBucket(1, 0s, 1)), "per");
  EXPECT_EQ(Fault(TokenBucket(0, 0s, 0)), "per");
  EXPECT_EQ(Fault(TokenBucket(1, -1s, 1)), "per");
  EXPECT_EQ(Fault(TokenBucket(1, kTenYears + kNano, 1)), "per");
  EXPECT_EQ(Fault(TokenBucket(0, 1s, 1)), "burst");
  EXPECT_EQ(Fault(TokenBucket(1, 1s, 0)), "burst");
  EXPECT_EQ(Fault(TokenBucket(1, kTenYears, 10)), "burst");
  EXPECT_EQ(Fault(TokenBucket(1, 24h, 36'525)), "");
  EXPECT_EQ(Fault(TokenBucket(1, 24h, 36'526)), "burst");
  EXPECT_EQ(Fault(FixedWindow{kMostTokens + 1, 1s}), "limit");
  EXPECT_EQ(Fault(FixedWindow{1, 0s}), "per");
  EXPECT_EQ(Fault(FixedWindow{1, 1s, Anchor::kCalendar}), "time_zone");
  EXPECT_EQ(Fault(SlidingLog{1'000'001, 1s}), "limit");
  EXPECT_EQ(Fault(SlidingLog{1, 0s}), "per");
  EXPECT_EQ(Fault(SlidingWindow{1, 1s, 0}), "slices");
  EXPECT_EQ(Fault(SlidingWindow{1, 1s, 10'001}), "slices");
  EXPECT_EQ(Fault(SlidingWindow{1, 9ns, 10}), "slices");
  EXPECT_EQ(Fault(Tiers({{1, 1s, 1s}, {1, 0s, 1s}})), "tiers[1].window");
  EXPECT_EQ(Fault(Tiers({{1'000'001, 1s, 1s}})), "tiers[0].limit");
  EXPECT_EQ(Fault(Tiers({{1, 1s, 0s}})), "tiers[0].active");
  EXPECT_EQ(Fault(Tiers({{1, 1s, 1s, -1ns}})), "tiers[0].cooldown");
  EXPECT_EQ(Fault(Tiers(std::vector<BurstTiers::Tier>(17))), "tiers");
  EXPECT_EQ(Fault(Copies{kMostTokens + 1}), "limit");
}

TEST(LimitTest, FieldNeedNotBeAskedFor) { EXPECT_NE(Check(SlidingLog{1, 0s}, nullptr), ""); }

TEST(LimitTest, SameNumbersAreComparedFieldByField) {
  EXPECT_TRUE(SameNumbers(TokenBucket(1, 1s, 2), TokenBucket(1, 1s, 2)));
  EXPECT_FALSE(SameNumbers(TokenBucket(1, 1s, 2), TokenBucket(1, 1s, 3)));
  EXPECT_FALSE(SameNumbers(TokenBucket(2, 2s, 2), TokenBucket(1, 1s, 2)));
  EXPECT_FALSE(SameNumbers(FixedWindow{1, 1s}, SlidingLog{1, 1s}));
  EXPECT_FALSE(SameNumbers(FixedWindow{1, 1s}, FixedWindow{1, 1s, Anchor::kFirstRequest}));
  EXPECT_FALSE(SameNumbers(SlidingLog{1, 1s}, SlidingLog{1, 1s, true}));
  EXPECT_FALSE(SameNumbers(SlidingWindow{1, 1s, 2}, SlidingWindow{1, 1s, 3}));
  EXPECT_FALSE(SameNumbers(SlidingWindow{1, 1s, 2}, SlidingWindow{1, 1s, 2, Edge::kDrop}));
  EXPECT_TRUE(SameNumbers(Tiers({{1, 1s, 1s}}), Tiers({{1, 1s, 1s}})));
  EXPECT_FALSE(SameNumbers(Tiers({{1, 1s, 1s}}), Tiers({{1, 1s, 1s, 0s, true}})));
  EXPECT_TRUE(SameNumbers(Copies{1}, Copies{1}));
  EXPECT_FALSE(SameNumbers(Copies{1}, Copies{2}));
}

TEST(LimitTest, CalendarsAreComparedByUnitAndZone) {
  const auto window = [](Calendar::Unit unit, std::string_view zone) {
    return FixedWindow{5, 24h, Anchor::kCalendar, Calendar::Find(unit, zone)};
  };
  using Unit = Calendar::Unit;
  const FixedWindow day = window(Unit::kDay, "Europe/Stockholm");
  EXPECT_TRUE(SameNumbers(day, window(Unit::kDay, "Europe/Stockholm")));
  EXPECT_FALSE(SameNumbers(day, window(Unit::kWeek, "Europe/Stockholm")));
  EXPECT_FALSE(SameNumbers(day, window(Unit::kDay, "Europe/Paris")));
  EXPECT_FALSE(SameNumbers(day, FixedWindow{5, 24h, Anchor::kCalendar}));
}

}  // namespace
}  // namespace weir::limit_test
