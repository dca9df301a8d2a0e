// What is accepted, but not as it was written: tiers and copies (Charon, section 4.1).
#include "rules/read/normalise.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/rules/rules_text.h"

namespace weir::normalise_test {
namespace {

using std::chrono::seconds;

ParseResult Read(const std::string& fields) {
  ParseResult result = ParseRulesText(Search(fields), "f");
  EXPECT_TRUE(result.ok()) << ToString(result.errors);
  return result;
}
std::vector<BurstTiers::Tier> TiersOf(const ParseResult& result) {
  return std::get<BurstTiers>(result.rules->all()[0]->limit).tiers;
}

TEST(Normalise, WhatIsRightStays) {
  const auto result = Read(
      "tiers: {tiers: [{limit: 5000, window: 300s, active: 300s, cooldown: 86100s}, {limit: 1, "
      "window: 2s, active: 60s}]}");
  EXPECT_TRUE(result.changes.empty());
  EXPECT_EQ(TiersOf(result)[0].cooldown, seconds(86100));
}

TEST(Normalise, ATierThatIsNeverActiveIsRemoved) {
  const auto result = Read(
      "tiers: {tiers: [{limit: 1, window: 1s, active: 0s}, {limit: 2, window: 1s, active: 1s}]}");
  ASSERT_EQ(TiersOf(result).size(), 1u);
  EXPECT_EQ(TiersOf(result)[0].limit, 2u);
  ASSERT_EQ(result.changes.size(), 1u);
  EXPECT_EQ(result.changes[0].path, "namespaces.shop.resources.search.tiers.tiers[0]");
  EXPECT_EQ(result.changes[0].to, "removed");
  EXPECT_EQ(result.changes[0].file, "f");
  EXPECT_EQ(result.changes[0].line, 4u);
}

TEST(Normalise, AResourceWithoutTiersIsInaccessibleNotWrong) {
  EXPECT_TRUE(TiersOf(Read("tiers: {tiers: [{limit: 1, window: 1s, active: 0s}]}")).empty());
  EXPECT_TRUE(TiersOf(Read("tiers: {tiers: []}")).empty());
}

TEST(Normalise, AWindowIsCutToTheActiveTime) {
  const auto result = Read("tiers: {tiers: [{limit: 1, window: 90s, active: 60s}]}");
  EXPECT_EQ(TiersOf(result)[0].window, seconds(60));
  EXPECT_EQ(TiersOf(result)[0].active, seconds(60));
  ASSERT_EQ(result.changes.size(), 1u);
  EXPECT_EQ(result.changes[0].path, "namespaces.shop.resources.search.tiers.tiers[0].window");
  EXPECT_EQ(result.changes[0].from, "90s");
  EXPECT_EQ(result.changes[0].to, "1m");
}

TEST(Normalise, AnActiveTimeIsTrimmedToAMultipleOfTheWindow) {
  const auto result = Read("tiers: {tiers: [{limit: 1, window: 7s, active: 60s}]}");
  EXPECT_EQ(TiersOf(result)[0].active, seconds(56));
  ASSERT_EQ(result.changes.size(), 1u);
  EXPECT_EQ(result.changes[0].path, "namespaces.shop.resources.search.tiers.tiers[0].active");
}

TEST(Normalise, TiersOfOverridesToo) {
  const auto result = Read(
      "tiers: {tiers: []}, overrides: [{subject: a}, {subject: b, tiers: {tiers: [{limit: 1, "
      "window: 9s, active: 5s}]}}]");
  ASSERT_EQ(result.changes.size(), 1u);
  EXPECT_EQ(result.changes[0].path,
            "namespaces.shop.resources.search.overrides[1].tiers.tiers[0].window");
}

TEST(Normalise, CopiesAreLoweredToTheTotal) {
  const auto result = Read(
      "copies: {per_subject: 50, total: 10, groups: [{name: a, limit: 11, subjects: [x]}, {name: "
      "b, "
      "limit: 10, others: true}, {name: c, limit: unlimited, subjects: []}]}, overrides: "
      "[{subject: "
      "big, copies: {per_subject: 99}}, {subject: small, copies: {per_subject: 1}}]");
  std::vector<std::string> paths;
  for (const Normalisation& change : result.changes) {
    paths.push_back(change.path.substr(change.path.find("search.") + 7) + " " + change.from + " " +
                    change.to);
  }
  EXPECT_EQ(paths,
            (std::vector<std::string>{"copies.per_subject 50 10", "copies.groups[0].limit 11 10",
                                      "copies.groups[2].limit unlimited 10",
                                      "overrides[0].copies.per_subject 99 10"}));
  const CopiesMatch big = result.rules->MatchCopies("shop", "search", "big");
  EXPECT_EQ(std::get<Copies>(big.per_subject->limit).limit, 10u);
}

TEST(Normalise, WithoutATotalNothingIsLowered) {
  EXPECT_TRUE(Read("copies: {per_subject: 50}").changes.empty());
  EXPECT_TRUE(Read("copies: {per_subject: unlimited, total: unlimited}").changes.empty());
}

RC_GTEST_PROP(Normalise, TiersAreNormalAfterwardsAndStaySo, ()) {
  const auto duration =
      rc::gen::map(rc::gen::inRange<int64_t>(0, 100), [](int64_t n) { return Duration(n); });
  std::vector<WrittenTier> tiers;
  const int count = *rc::gen::inRange(0, 5);
  for (int i = 0; i < count; ++i) {
    WrittenTier tier;
    tier.tier.window = *duration + Duration(1);
    tier.tier.active = *duration;
    tiers.push_back(tier);
  }
  Source source("f", "", {});
  const auto normal = NormaliseTiers(tiers, "t", source);
  std::vector<WrittenTier> again;
  for (const BurstTiers::Tier& tier : normal) {
    RC_ASSERT(tier.active > Duration(0));
    RC_ASSERT(tier.window <= tier.active);
    RC_ASSERT(tier.active % tier.window == Duration(0));
    again.push_back({tier, 0, {}, {}, {}});
  }
  Source quiet("f", "", {});
  RC_ASSERT(NormaliseTiers(again, "t", quiet) == normal);
  RC_ASSERT(quiet.changes().empty());
}

}  // namespace
}  // namespace weir::normalise_test
