// The example files are right, and come to what they say.
#include <gtest/gtest.h>

#include "rules/print/print.h"
#include "tests/rules/rules_text.h"
#include "tests/rules/same_rules.h"

namespace weir::examples_test {
namespace {

const std::string kExamples = std::string(WEIR_SOURCE_DIR) + "/examples/";

std::shared_ptr<const Rulebook> Example(const std::string& name) {
  const ParseResult result = LoadRulesPath(kExamples + name);
  EXPECT_TRUE(result.ok()) << ToString(result.errors);
  EXPECT_TRUE(result.changes.empty()) << name << " is not normal";
  return result.rules;
}

const BurstTiers& TiersOf(const std::shared_ptr<const Rulebook>& rules) {
  for (const RuleLimit* limit : rules->all()) {
    if (const auto* tiers = std::get_if<BurstTiers>(&limit->limit)) return *tiers;
  }
  ADD_FAILURE() << "no tiers";
  static const BurstTiers none;
  return none;
}

TEST(Examples, AreRightAndNormal) {
  for (const char* name :
       {"quickstart.yaml", "shop.yaml", "edge.yaml", "cookbook/penalties.yaml",
        "cookbook/punishment.yaml", "cookbook/batch.yaml", "cookbook/bulkheads.yaml"}) {
    const auto rules = Example(name);
    ASSERT_NE(rules, nullptr);
    const auto again = Good(PrintRules(*rules));
    EXPECT_EQ(Difference(*rules, *again), "") << name;
  }
}

TEST(Examples, TheShopIsThatOfTheManual) {
  const auto rules = Example("shop.yaml");
  const Match own = rules->Match("shop", "search", "user-1235");
  EXPECT_EQ(std::get<TokenBucket>(own.limits[0].limit).burst, 200u) << "follows the new limit";
  EXPECT_EQ(Numbers(own.contract[0].limit).most, 100'000u);
  EXPECT_EQ(Numbers(rules->Match("shop", "search", "ann").contract[0].limit).most, 1000u);
  EXPECT_EQ(rules->Match("shop", "video", "ann").limits.size(), 3u);
  EXPECT_EQ(rules->MatchCopies("shop", "sandbox", "ann").groups[0]->name, "group:trial");
  EXPECT_EQ(rules->Match("shop", "other", "ann").error, Code::kUnknownResource);
}

TEST(Examples, PenaltiesRiseWithTheLimit) {
  const auto rules = Example("cookbook/penalties.yaml");
  const auto& tiers = TiersOf(rules).tiers;
  ASSERT_GT(tiers.size(), 1u);
  for (size_t i = 1; i < tiers.size(); ++i) {
    EXPECT_GT(tiers[i].limit, tiers[i - 1].limit);
    EXPECT_GT(tiers[i].cooldown, tiers[i - 1].cooldown);
  }
}

TEST(Examples, ThePrisonsWindowIsItsActiveTime) {
  const auto rules = Example("cookbook/punishment.yaml");
  const BurstTiers::Tier& prison = TiersOf(rules).tiers.back();
  EXPECT_EQ(prison.limit, 1u);
  EXPECT_EQ(prison.window, prison.active);
}

TEST(Examples, TheBatchIsThatOfThePaper) {
  const auto rules = Example("cookbook/batch.yaml");
  using std::chrono::seconds;
  EXPECT_EQ(
      TiersOf(rules).tiers,
      (std::vector<BurstTiers::Tier>{{5000, seconds(300), seconds(300), seconds(86100), false}}));
}

TEST(Examples, StrangersAreOnProbation) {
  const auto rules = Example("cookbook/bulkheads.yaml");
  const CopiesMatch match = rules->MatchCopies("cookbook", "render_farm", "stranger");
  ASSERT_EQ(match.groups.size(), 1u);
  EXPECT_EQ(match.groups[0]->name, "group:probation");
}

TEST(Examples, TheRatelimitFileIsRead) {
  const ParseResult result = LoadRatelimitConfig(kExamples + "ratelimit");
  ASSERT_TRUE(result.ok()) << ToString(result.errors);
  const std::vector<DescriptorEntry> entries = {{"method", "POST"}, {"path", "/api/items"}};
  const DescriptorMatch match = result.rules->MatchDescriptor("edge", entries);
  ASSERT_NE(match.limit, nullptr);
  EXPECT_EQ(Numbers(match.limit->limit).most, 1000u);
  EXPECT_EQ(match.keyed, 0u) << "one counter for all of them";
  EXPECT_EQ(Difference(*result.rules, *Good(PrintRules(*result.rules))), "");
}

}  // namespace
}  // namespace weir::examples_test
