// Descriptors: decided together, all or nothing.
#include <gtest/gtest.h>

#include "rules/read/parse.h"
#include "weir/limiter.h"

namespace weir::descriptors_test {
namespace {

constexpr Instant kStart = FromNanos(1'800'000'000'000'000'000);

constexpr std::string_view kRules = R"(
namespaces:
  edge:
    descriptors:
      - key: path
        value: /a
        rate_limit: {unit: minute, requests_per_unit: 3, name: path_a}
      - key: user
        rate_limit: {unit: hour, requests_per_unit: 2}
      - key: free
      - key: open
        rate_limit: {unlimited: true}
      - key: watch
        shadow_mode: true
        rate_limit: {unit: second, requests_per_unit: 1}
      - key: premium
        rate_limit: {unit: minute, requests_per_unit: 100, replaces: [{name: path_a}]}
      - {key: quota_a, quota_mode: true, rate_limit: {unit: minute, requests_per_unit: 1}}
      - {key: quota_b, quota_mode: true, rate_limit: {unit: minute, requests_per_unit: 2}}
)";

class Descriptors : public ::testing::Test {
 protected:
  Descriptors() {
    std::string errors;
    auto rules = ParseRules(kRules, &errors);
    EXPECT_EQ(errors, "");
    limiter_ = std::make_unique<Limiter>(std::move(rules), LimiterOptions{}, kStart);
  }

  // One entry for each descriptor.
  DescriptorDecision Ask(std::vector<DescriptorEntry> entries, uint64_t hits = 1) {
    std::vector<Descriptor> descriptors;
    for (const DescriptorEntry& entry : entries) descriptors.push_back({.entries = {&entry, 1}});
    return Ask(descriptors, hits);
  }
  DescriptorDecision Ask(std::span<const Descriptor> descriptors, uint64_t hits = 1) {
    DescriptorDecision decision;
    limiter_->DecideDescriptors({"edge", descriptors, hits}, now_, decision);
    return decision;
  }

  std::unique_ptr<Limiter> limiter_;
  Instant now_ = kStart;
};

TEST_F(Descriptors, AnEmptyDomainOrNoDescriptorIsAnError) {
  DescriptorDecision decision;
  const DescriptorEntry entry{"user", "ann"};
  const Descriptor descriptor{.entries = {&entry, 1}};
  limiter_->DecideDescriptors({"", {&descriptor, 1}, 1}, kStart, decision);
  EXPECT_EQ(decision.error, Code::kBadRequest);
  limiter_->DecideDescriptors({"edge", {}, 1}, kStart, decision);
  EXPECT_EQ(decision.error, Code::kBadRequest);
}

TEST_F(Descriptors, AnUnknownDomainAndWhatMatchesNothingAreFree) {
  const DescriptorEntry entry{"user", "ann"};
  const Descriptor descriptor{.entries = {&entry, 1}};
  DescriptorDecision decision;
  limiter_->DecideDescriptors({"nowhere", {&descriptor, 1}, 1}, kStart, decision);
  EXPECT_FALSE(decision.over);
  ASSERT_EQ(decision.statuses.size(), 1u);
  EXPECT_FALSE(decision.statuses[0].limited);
  EXPECT_FALSE(Ask({{"nothing", "x"}}).statuses[0].limited);
  EXPECT_FALSE(Ask({{"free", "x"}}).statuses[0].limited);
}

TEST_F(Descriptors, OneThatIsOverLeavesTheOthersUncounted) {
  Ask({{"user", "ann"}}, 2);
  for (int i = 0; i < 3; ++i) {
    const DescriptorDecision decision = Ask({{"path", "/a"}, {"user", "ann"}});
    EXPECT_TRUE(decision.over);
    EXPECT_FALSE(decision.statuses[0].over);
    EXPECT_EQ(decision.statuses[0].remaining, 3u);
    EXPECT_TRUE(decision.statuses[1].over);
  }
  const DescriptorDecision decision = Ask({{"path", "/a"}, {"user", "bob"}});
  EXPECT_FALSE(decision.over);
  EXPECT_EQ(decision.statuses[0].remaining, 2u);
  EXPECT_EQ(decision.statuses[0].limit, 3u);
  EXPECT_EQ(decision.statuses[0].unit, RateUnit::kMinute);
  EXPECT_EQ(decision.statuses[0].name, "path_a");
  EXPECT_EQ(decision.statuses[1].unit, RateUnit::kHour);
}

TEST_F(Descriptors, ShadowCountsAndDoesNotRefuse) {
  Ask({{"watch", "x"}});
  const DescriptorDecision decision = Ask({{"watch", "x"}});
  EXPECT_FALSE(decision.over);
  EXPECT_TRUE(decision.statuses[0].over);
  EXPECT_TRUE(decision.statuses[0].shadow);
}

TEST_F(Descriptors, UnlimitedIsShownAsSuch) {
  const DescriptorDecision decision = Ask({{"open", "x"}});
  EXPECT_TRUE(decision.statuses[0].unlimited);
}

TEST_F(Descriptors, AReplacedLimitIsNotCounted) {
  for (int i = 0; i < 10; ++i) {
    const DescriptorDecision decision = Ask({{"path", "/a"}, {"premium", "1"}});
    EXPECT_FALSE(decision.over);
    EXPECT_FALSE(decision.statuses[0].limited);
  }
  EXPECT_EQ(Ask({{"path", "/a"}}).statuses[0].remaining, 2u);
}

TEST_F(Descriptors, QuotasRefuseOnlyTogether) {
  EXPECT_FALSE(Ask({{"quota_a", "x"}, {"quota_b", "x"}}).over);
  const DescriptorDecision one_left = Ask({{"quota_a", "x"}, {"quota_b", "x"}});
  EXPECT_FALSE(one_left.over);
  EXPECT_TRUE(one_left.statuses[0].over);
  EXPECT_EQ(one_left.statuses[1].remaining, 0u);
  EXPECT_TRUE(Ask({{"quota_a", "x"}, {"quota_b", "x"}}).over);
  EXPECT_TRUE(Ask({{"quota_a", "x"}, {"quota_b", "x"}, {"user", "ann"}}).over);
  EXPECT_EQ(Ask({{"user", "ann"}}).statuses[0].remaining, 1u);
}

TEST_F(Descriptors, HitsOfADescriptorWinAndZeroOnlyLooks) {
  const DescriptorEntry ann{"user", "ann"};
  const Descriptor look{.entries = {&ann, 1}, .hits_addend = 0};
  for (int i = 0; i < 5; ++i) EXPECT_EQ(Ask({&look, 1}, 7).statuses[0].remaining, 2u);
  const Descriptor two{.entries = {&ann, 1}, .hits_addend = 2};
  EXPECT_EQ(Ask({&two, 1}, 7).statuses[0].remaining, 0u);
  EXPECT_FALSE(Ask({&look, 1}).over);  // the limit is used up, not exceeded
}

TEST_F(Descriptors, RefundsAreFlooredAtZeroAndAlwaysOk) {
  const DescriptorEntry ann{"user", "ann"};
  Ask({{"user", "ann"}}, 2);
  const Descriptor refund{.entries = {&ann, 1}, .hits_addend = 1, .is_negative_hits = true};
  EXPECT_EQ(Ask({&refund, 1}).statuses[0].remaining, 1u);
  for (int i = 0; i < 5; ++i) {
    const DescriptorDecision decision = Ask({&refund, 1});
    EXPECT_FALSE(decision.over);
    EXPECT_EQ(decision.statuses[0].remaining, 2u);
  }
  EXPECT_EQ(Ask({{"user", "ann"}}).statuses[0].remaining, 1u);
}

TEST_F(Descriptors, ARequestThatEndsInAnErrorGivesNothingBack) {
  const DescriptorEntry ann{"user", "ann"}, other{"path", "/a"};
  Ask({{"user", "ann"}}, 2);
  const Descriptor refund{.entries = {&ann, 1}, .hits_addend = 2, .is_negative_hits = true};
  const Descriptor bad{.entries = {&other, 1}, .limit = CarriedLimit{10, RateUnit::kUnknown}};
  for (const auto& descriptors :
       {std::array{refund, bad}, std::array{bad, refund}, std::array{refund, bad}}) {
    EXPECT_EQ(Ask(descriptors).error, Code::kBadRequest);
    const Descriptor look{.entries = {&ann, 1}, .hits_addend = 0};
    EXPECT_EQ(Ask({&look, 1}).statuses[0].remaining, 0u);
  }
}

TEST_F(Descriptors, WhatIsGivenBackBesideWhatIsRefusedIsGivenBack) {
  const DescriptorEntry ann{"user", "ann"}, path{"path", "/a"};
  Ask({{"user", "ann"}}, 2);
  Ask({{"path", "/a"}}, 3);
  const std::array both{
      Descriptor{.entries = {&ann, 1}, .hits_addend = 1, .is_negative_hits = true},
      Descriptor{.entries = {&path, 1}}};
  const DescriptorDecision decision = Ask(both);
  EXPECT_TRUE(decision.over);
  EXPECT_EQ(decision.statuses[0].remaining, 1u);
}

TEST_F(Descriptors, ACarriedLimitWinsAndKeepsItsCountWhenItsNumberChanges) {
  const DescriptorEntry ann{"user", "ann"};
  Descriptor carried{.entries = {&ann, 1}, .limit = CarriedLimit{10, RateUnit::kMinute}};
  EXPECT_EQ(Ask({&carried, 1}, 4).statuses[0].remaining, 6u);
  carried.limit->requests_per_unit = 5;
  EXPECT_EQ(Ask({&carried, 1}).statuses[0].remaining, 0u);
  EXPECT_TRUE(Ask({&carried, 1}).over);
  EXPECT_EQ(Ask({{"user", "ann"}}).statuses[0].remaining, 1u);
  carried.limit->unit = RateUnit::kUnknown;
  EXPECT_EQ(Ask({&carried, 1}).error, Code::kBadRequest);
}

}  // namespace
}  // namespace weir::descriptors_test
