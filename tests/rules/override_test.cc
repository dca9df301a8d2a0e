#include <gtest/gtest.h>

#include "tests/rules/rules_text.h"

namespace weir::override_test {
namespace {

constexpr char kBase[] =
    "limits: [{name: burst, limit: 20, per: 1s, burst: 40, persist: true}, {name: daily, "
    "algorithm: "
    "sliding_window, limit: 100, per: 1d, slices: 24}, {name: month, algorithm: fixed_window, "
    "limit: "
    "9, per: 1mo, anchor: calendar, time_zone: Asia/Tokyo}, {name: everyone, limit: 5000, per: 1s, "
    "key: []}]";

// What ann has, given her override of limits.
std::span<const RuleLimit> Ann(const std::shared_ptr<const Rulebook>& rules) {
  return rules->Match("shop", "search", "ann").limits;
}
std::shared_ptr<const Rulebook> With(const std::string& limit) {
  return Good(
      Search(std::string(kBase) + ", overrides: [{subject: ann, limits: [{" + limit + "}]}]"));
}
std::string Wrong(const std::string& limit) {
  return Mistake(
      Search(std::string(kBase) + ", overrides: [{subject: ann, limits: [" + limit + "]}]"));
}

TEST(Override, ReplacesALimitByNameAndKeepsTheOthers) {
  const auto rules = With("name: burst, limit: 200, per: 2s");
  ASSERT_EQ(Ann(rules).size(), 4u);
  const auto& bucket = std::get<TokenBucket>(Ann(rules)[0].limit);
  EXPECT_EQ(bucket.limit, 200u);
  EXPECT_EQ(bucket.per, std::chrono::seconds(2));
  EXPECT_TRUE(Ann(rules)[0].persist) << "what is not given stays";
  const auto others = rules->Match("shop", "search", "bob").limits;
  EXPECT_EQ(std::get<TokenBucket>(others[0].limit).limit, 20u);
  for (size_t i = 1; i < 4; ++i) {
    EXPECT_TRUE(SameNumbers(Ann(rules)[i].limit, others[i].limit)) << i;
  }
}

TEST(Override, TheBurstFollowsANewLimit) {
  EXPECT_EQ(std::get<TokenBucket>(Ann(With("name: burst, limit: 200"))[0].limit).burst, 200u);
  EXPECT_EQ(std::get<TokenBucket>(Ann(With("name: burst, limit: 200, burst: 5"))[0].limit).burst,
            5u);
  EXPECT_EQ(std::get<TokenBucket>(Ann(With("name: burst, per: 2s"))[0].limit).burst, 40u);
  const auto burst = std::get<TokenBucket>(Ann(With("name: burst, burst: 80"))[0].limit);
  EXPECT_EQ(burst.limit, 20u);
  EXPECT_EQ(burst.burst, 80u);
}

TEST(Override, KeepsTheIdentityOfWhatItOverrides) {
  const auto rules = With("name: burst, limit: 200");
  const auto own = rules->Match("shop", "search", "bob").limits;
  for (size_t i = 0; i < own.size(); ++i) {
    EXPECT_EQ(Ann(rules)[i].identity, own[i].identity);
    EXPECT_NE(Ann(rules)[i].index, own[i].index);
  }
}

TEST(Override, MayNameAnotherAlgorithm) {
  const auto rules = With("name: daily, algorithm: fixed_window");
  const auto& window = std::get<FixedWindow>(Ann(rules)[1].limit);
  EXPECT_EQ(window.limit, 100u);
  EXPECT_EQ(window.per, std::chrono::hours(24));
  EXPECT_EQ(Ann(rules)[1].name, "daily");
}

TEST(Override, KeepsTheNameOfAnUnnamedLimit) {
  const auto rules =
      Good(Search("limits: [{limit: 1, per: 1s}], overrides: [{subject: ann, limits: "
                  "[{name: token_bucket, algorithm: sliding_log}]}]"));
  EXPECT_EQ(Ann(rules)[0].name, "token_bucket");
  EXPECT_EQ(Ann(rules)[0].identity.back(), "token_bucket");
}

TEST(Override, KeepsCalendarAndZone) {
  const auto rules = With("name: month, limit: 10, per: 1w");
  const auto& window = std::get<FixedWindow>(Ann(rules)[2].limit);
  EXPECT_EQ(window.calendar->time_zone(), "Asia/Tokyo");
  EXPECT_EQ(window.calendar->unit(), Calendar::Unit::kWeek);
  const auto epoch = With("name: month, anchor: epoch, per: 30d");
  EXPECT_EQ(std::get<FixedWindow>(Ann(epoch)[2].limit).calendar, nullptr);
}

TEST(Override, MayFreeASubject) {
  const auto rules = With("name: burst, limit: unlimited");
  EXPECT_TRUE(Ann(rules)[0].unlimited);
  const auto back = Good(Search(
      "limits: [{name: a, limit: unlimited}], overrides: [{subject: ann, limits: [{name: a, limit: "
      "5, per: 1s}]}]"));
  EXPECT_FALSE(Ann(back)[0].unlimited);
}

TEST(Override, OfAStateForAllCanOnlyFree) {
  EXPECT_TRUE(Ann(With("name: everyone, limit: unlimited"))[3].unlimited);
  EXPECT_TRUE(Ann(With("name: everyone, shadow: true"))[3].shadow);
  EXPECT_TRUE(Has(Wrong("{name: everyone, limit: @9}"), "one state for all"));
  EXPECT_TRUE(Has(Wrong("{name: everyone, per: @9s}"), "one state for all"));
}

TEST(Override, IsCheckedWithWhatItInherits) {
  EXPECT_TRUE(Has(Wrong("{name: burst, slices: @5}"), "`slices` goes only with"));
  EXPECT_TRUE(
      Has(Wrong("@{name: month, algorithm: sliding_log}"), "months and years go only with"));
  EXPECT_TRUE(Has(Wrong("{name: month, per: @1h}"), "`1d`, `1w`, `1mo` or `1y`"));
  EXPECT_TRUE(Has(Wrong("{name: month, anchor: epoch, per: 1d, time_zone: @UTC}"), "calendar"));
  EXPECT_TRUE(Has(Wrong("{name: burst, @key: []}"), "is no key of a limit of an override"));
  EXPECT_TRUE(Has(Wrong("{name: burst, limit: @-1}"), "whole number"));
  EXPECT_TRUE(Has(Wrong("{name: daily, algorithm: sliding_log, limit: @1000001}"), "1000000"));
}

TEST(Override, NamesWhatItOverrides) {
  EXPECT_TRUE(Has(Wrong("@{limit: 5}"), "needs the `name`"));
  EXPECT_TRUE(Has(Wrong("{name: @brst, limit: 5}"), "did you mean `burst`?"));
  EXPECT_TRUE(Has(Wrong("{name: burst, limit: 5}, {name: @burst, limit: 6}"), "twice"));
}

TEST(Override, AMistakeInTheBaseIsToldOnce) {
  EXPECT_TRUE(
      Has(Mistake(Search("limits: [{name: a, limit: @-1, per: 1s}], overrides: [{subject: x, "
                         "limits: [{name: a, limit: 5}]}, {subject: y, limits: [{name: a, "
                         "limit: 6}]}]")),
          "whole number"));
}

constexpr char kTiers[] =
    "tiers: {hard_limit: 100, global_limit: 1000, tiers: [{limit: 5, window: 1s, active: 10s}]}";

std::shared_ptr<const Rulebook> WithTiers(const std::string& tiers) {
  return Good(Search("limits: [{name: a, limit: 1, per: 1s}], " + std::string(kTiers) +
                     ", overrides: [{subject: ann, tiers: {" + tiers + "}}]"));
}

TEST(Override, HasTiersOfItsOwn) {
  const auto rules =
      WithTiers("tiers: [{limit: 7, window: 1s, active: 1s}, {limit: 8, window: 1s, active: 1s}]");
  ASSERT_EQ(Ann(rules).size(), 4u);
  EXPECT_EQ(Ann(rules)[0].name, "a");
  EXPECT_EQ(std::get<BurstTiers>(Ann(rules)[1].limit).tiers.size(), 2u);
  EXPECT_EQ(std::get<SlidingLog>(Ann(rules)[2].limit).limit, 100u) << "stays";
  EXPECT_EQ(std::get<SlidingLog>(Ann(rules)[3].limit).limit, 1000u) << "stays";
  const auto own = rules->Match("shop", "search", "bob").limits;
  for (size_t i = 0; i < own.size(); ++i) EXPECT_EQ(Ann(rules)[i].identity, own[i].identity);
}

TEST(Override, HasAHardLimitOfItsOwn) {
  const auto rules = WithTiers("hard_limit: 7");
  EXPECT_EQ(std::get<SlidingLog>(Ann(rules)[2].limit).limit, 7u);
  EXPECT_EQ(std::get<BurstTiers>(Ann(rules)[1].limit).tiers[0].limit, 5u) << "stays";
  const auto freed = WithTiers("hard_limit: unlimited");
  ASSERT_EQ(Ann(freed).size(), 3u);
  EXPECT_EQ(Ann(freed)[2].name, "global_limit");
}

TEST(Override, MayChangeLimitsAndTiersAtOnce) {
  const auto rules = Good(Search(
      "limits: [{name: a, limit: 1, per: 1s}], " + std::string(kTiers) +
      ", overrides: [{subject: ann, limits: [{name: a, limit: 9}], tiers: {hard_limit: 7}}]"));
  EXPECT_EQ(std::get<TokenBucket>(Ann(rules)[0].limit).limit, 9u);
  EXPECT_EQ(std::get<SlidingLog>(Ann(rules)[2].limit).limit, 7u);
}

}  // namespace
}  // namespace weir::override_test
