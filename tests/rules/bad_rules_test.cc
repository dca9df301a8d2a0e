// Rules that are refused, above and beside limits: place (@) and a part of what the writer is told.
#include <gtest/gtest.h>

#include "tests/rules/rules_text.h"

namespace weir::bad_rules_test {
namespace {

struct Case {
  std::string yaml;
  const char* told;
};

class BadRules : public testing::TestWithParam<Case> {};

TEST_P(BadRules, AreRefusedWithPlaceAndReason) {
  const std::string told = Mistake(GetParam().yaml);
  EXPECT_TRUE(Has(told, GetParam().told)) << "told: " << told;
}

const Case kFiles[] = {
    {"@5\n", "a rules file must be a map"},
    {"@[]\n", "a rules file must be a map"},
    {"@{}\n", "needs `namespaces`"},
    {"@namespace: {}\nnamespaces: {}\n", "did you mean `namespaces`?"},
    {"namespaces: @[]\n", "`namespaces` is a list; it must be a map"},
    {"namespaces: @shop\n", "it must be a map"},
    {"@domain: edge\ndescriptors: []\n", "`--ratelimit-config`"},
    {"namespaces: {@'': {}}\n", "a namespace's name must not be empty"},
    {"namespaces: {@\"a\\tb\": {}}\n", "control characters"},
    {"namespaces: {@" + std::string(256, 'n') + ": {}}\n", "at most 255"},
    {"namespaces:\n  shop: {}\n  @shop: {}\n", "key `shop` is here a second time"},
    {"namespaces: {shop: @5}\n", "a namespace must be a map"},
};
INSTANTIATE_TEST_SUITE_P(Files, BadRules, testing::ValuesIn(kFiles));

const Case kNamespaces[] = {
    {Shop("    @resorces: {}\n"), "did you mean `resources`?"},
    {Shop("    @version: 3\n"), "it takes `unconfigured`, `enforcement`"},
    {Shop("    unconfigured: @maybe\n"), "`refuse` or `allow`"},
    {Shop("    unconfigured: @[allow]\n"), "is a list"},
    {Shop("    enforcement: @true\n"), "`on`, `off` or `shadow`"},
    {Shop("    enforcement: @On\n"), "did you mean `on`?"},
    {Shop("    enforcement@:\n"), "`enforcement` is empty"},
    {Shop("    default_contract: @gold\n"), "there is no contract `gold`"},
    {Shop("    default_contract: @gld\n    contracts: {gold: {}}\n"), "did you mean `gold`?"},
    {Shop("    default_contract: @platinum\n    contracts: {a: {}, b: {}}\n"), "choose `a` or `b`"},
    {Shop("    default_contract: @[]\n"), "must be a word"},
    {Shop("    resources: @[]\n"), "it must be a map"},
    {Shop("    resources: {@'': {}}\n"), "a resource's name must not be empty"},
    {Shop("    resources: {search: @[]}\n"), "a resource must be a map"},
    {Shop("    resources: {search: @5}\n"), "a resource must be a map"},
    {Shop("    contracts: @5\n"), "it must be a map"},
    {Shop("    contracts: {@'': {}}\n"), "a contract's name must not be empty"},
    {Shop("    contracts: {a: @[]}\n"), "a contract must be a map"},
    {Shop("    contracts: {a: {@subject: []}}\n"), "did you mean `subjects`?"},
    {Shop("    contracts: {a: {subjects: @ann}}\n"), "it must be a list"},
    {Shop("    contracts: {a: {subjects: [@{}]}}\n"), "a subject must be a word"},
    {Shop("    contracts: {a: {subjects: [@'']}}\n"), "a subject must not be empty"},
    {Shop("    contracts: {a: {subjects: [ann, @ann]}}\n"), "subject `ann` is twice"},
    {Shop("    contracts: {a: {subjects: [ann]}, b: {subjects: [@ann]}}\n"),
     "subject `ann` is in contract `a` already"},
    {Shop("    contracts: {a: {subjects: [@" + std::string(1025, 's') + "]}}\n"), "at most 1024"},
    {Shop("    contracts: {a: {limits: @{}}}\n"), "it must be a list"},
    {Shop("    contracts: {a: {limits: [{limit: 1, per: @0s}]}}\n"), "more than 0"},
    {Shop("    contracts: {a: {limits: [@5]}}\n"), "a limit must be a map"},
    {Shop("    descriptors: @{}\n"), "it must be a list"},
};
INSTANTIATE_TEST_SUITE_P(Namespaces, BadRules, testing::ValuesIn(kNamespaces));

const Case kResources[] = {
    {Search("@limit: 5"), "did you mean `limits`?"},
    {Search("limits: @{limit: 5, per: 1s}"), "`limits` is a map; it must be a list"},
    {Search("limits: [@[]]"), "a limit must be a map"},
    {Search("limits: [], copies: @{per_subject: 1}"), "not both"},
    {Search("tiers: {tiers: []}, copies: @{per_subject: 1}"), "not both"},
    {Search("overrides: @{}"), "it must be a list"},
    {Search("overrides: [@5]"), "an override must be a map"},
    {Search("overrides: [@{}]"), "an override needs `subject`"},
    {Search("overrides: [{subject: @[]}]"), "a subject must be a word"},
    {Search("overrides: [{subject: @''}]"), "a subject must not be empty"},
    {Search("overrides: [{subject: @" + std::string(1025, 's') + "}]"), "at most 1024"},
    {Search("overrides: [{subject: ann}, {subject: @ann}]"), "has an override already, on line 4"},
    {Search("overrides: [{subject: ann, @limit: 5}]"), "did you mean `limits`?"},
    {Search("overrides: [{subject: ann, limits: @5}]"), "it must be a list"},
    {Search("overrides: [{subject: ann, limits: [{name: @a, limit: 5}]}]"),
     "no limit `a` to override"},
    {Search("overrides: [{subject: ann, tiers: @{tiers: []}}]"), "no `tiers` to override"},
    {Search("overrides: [{subject: ann, copies: @{per_subject: 5}}]"), "not limited by copies"},
};
INSTANTIATE_TEST_SUITE_P(Resources, BadRules, testing::ValuesIn(kResources));

std::string Tiers(const std::string& fields) { return Search("tiers: {" + fields + "}"); }
std::string Tier(const std::string& fields) { return Tiers("tiers: [{" + fields + "}]"); }

const Case kTiers[] = {
    {Search("tiers: @[]"), "`tiers` must be a map"},
    {Search("tiers: @{}"), "needs `tiers`"},
    {Search("tiers: @{hard_limit: 5}"), "needs `tiers`"},
    {Tiers("tiers: @5"), "it must be a list of tiers"},
    {Tiers("tiers: @{}"), "it must be a list of tiers"},
    {Tiers("tiers: [@5]"), "a tier must be a map"},
    {Tiers("tiers: [], @limit: 5"), "is no key of `tiers`"},
    {Tiers("tiers: [], hard_limit: @-1"), "whole number"},
    {Tiers("tiers: [], hard_limit: @1000001"), "at most 1000000"},
    {Tiers("tiers: [], global_limit: @x"), "whole number"},
    {Tiers("tiers: [], coordination: @{replicated: debt}"), "does not go with `burst_tiers`"},
    {Tiers("tiers: [], persist: @5"), "`true` or `false`"},
    {Tiers("tiers: [@{window: 1s, active: 1s}]"), "needs `limit`"},
    {Tiers("tiers: [@{limit: 1, active: 1s}]"), "needs `window`"},
    {Tiers("tiers: [@{limit: 1, window: 1s}]"), "needs `active`"},
    {Tier("limit: @-1, window: 1s, active: 1s"), "whole number"},
    {Tier("limit: @unlimited, window: 1s, active: 1s"), "whole number"},
    {Tier("limit: @1000001, window: 1s, active: 1s"), "`limit` must be at most 1000000"},
    {Tier("limit: 1, window: @0s, active: 1s"), "`window` must be more than 0"},
    {Tier("limit: 1, window: @5, active: 1s"), "write `5s`"},
    {Tier("limit: 1, window: @1mo, active: 1s"), "`30d`"},
    {Tier("limit: 1, window: @3654d, active: 3653d"), "`window` must be at most ten years"},
    {Tier("limit: 1, window: 1s, active: @3654d"), "`active` must be at most ten years"},
    {Tier("limit: 1, window: 1s, active: @x"), "no length of time"},
    {Tier("limit: 1, window: 1s, active: 1s, cooldown: @0"), "write `0s`"},
    {Tier("limit: 1, window: 1s, active: 1s, cooldown: @3654d"), "at most ten years"},
    {Tier("limit: 1, window: 1s, active: 1s, skippable: @maybe"), "`true` or `false`"},
    {Tier("limit: 1, window: 1s, active: 1s, @cooldwn: 1s"), "did you mean `cooldown`?"},
    {Search("limits: [{name: @tiers, limit: 1, per: 1s}], tiers: {tiers: []}"),
     "the name of a limit that `tiers` makes"},
    {Search("limits: [{name: @hard_limit, limit: 1, per: 1s}], tiers: {tiers: []}"),
     "the name of a limit that `tiers` makes"},
    {Search("tiers: {tiers: []}, overrides: [{subject: a, tiers: {@global_limit: 5}}]"),
     "is no key of the `tiers` of an override"},
    {Search("tiers: {tiers: []}, overrides: [{subject: a, tiers: {tiers: [{limit: 1, window: @0s, "
            "active: 1s}]}}]"),
     "more than 0"},
};
INSTANTIATE_TEST_SUITE_P(Tiers, BadRules, testing::ValuesIn(kTiers));

std::string Copies(const std::string& fields) { return Search("copies: {" + fields + "}"); }
std::string Group(const std::string& fields) {
  return Copies("per_subject: 1, groups: [" + fields + "]");
}

const Case kCopies[] = {
    {Search("copies: @5"), "`copies` must be a map"},
    {Search("copies: @{}"), "needs `per_subject`"},
    {Search("copies: @{total: 5}"), "needs `per_subject`"},
    {Copies("per_subject: @-1"), "whole number"},
    {Copies("per_subject: @many"), "or `unlimited`"},
    {Copies("per_subject: 1, total: @1.5"), "whole number"},
    {Copies("per_subject: 1, @persist: true"), "is no key of `copies`"},
    {Copies("per_subject: 1, coordination: @replicated"), "does not go with `copies`"},
    {Copies("per_subject: 1, groups: @{}"), "it must be a list"},
    {Group("@5"), "a group must be a map"},
    {Group("@{limit: 5, subjects: []}"), "a group needs `name`"},
    {Group("@{name: a, subjects: []}"), "a group needs `limit`"},
    {Group("@{name: a, limit: 5}"), "either `subjects: [ann, bob]` or `others: true`"},
    {Group("@{name: a, limit: 5, others: false}"), "either `subjects"},
    {Group("@{name: a, limit: 5, others: true, subjects: [x]}"), "either `subjects"},
    {Group("{name: a, limit: @x, subjects: []}"), "whole number"},
    {Group("{name: @'', limit: 5, subjects: []}"), "a group's name must not be empty"},
    {Group("{name: @" + std::string(250, 'g') + ", limit: 5, subjects: []}"), "at most 249"},
    {Group("{name: a, limit: 5, subjects: [x, @x]}"), "subject `x` is twice"},
    {Group("{name: a, limit: 5, subjects: []}, @{name: a, limit: 6, subjects: []}"),
     "a second group is called `a`"},
    {Group("{name: a, limit: 5, others: true}, @{name: b, limit: 6, others: true}"),
     "only one group"},
    {Search("copies: {per_subject: 1}, overrides: [{subject: a, limits: @[]}]"),
     "limited by copies"},
    {Search("copies: {per_subject: 1}, overrides: [{subject: a, tiers: @{}}]"),
     "limited by copies"},
    {Search("copies: {per_subject: 1}, overrides: [{subject: a, copies: {@total: 5, per_subject: "
            "1}}]"),
     "is no key of the `copies` of an override"},
    {Search("copies: {per_subject: 1}, overrides: [{subject: a, copies: @{}}]"),
     "needs `per_subject`"},
};
INSTANTIATE_TEST_SUITE_P(Copies, BadRules, testing::ValuesIn(kCopies));

TEST(BadRules, OneMistakeSpoilsTheWholeFile) {
  const ParseResult result = ParseRulesText(
      "namespaces:\n  good: {resources: {a: {limits: [{limit: 1, per: 1s}]}}}\n  bad: 5\n", "f");
  EXPECT_EQ(result.rules, nullptr);
  EXPECT_EQ(result.errors.size(), 1u);
}

TEST(BadRules, MistakesComeInOrderOfPlace) {
  const ParseResult result = ParseRulesText(
      "namespaces:\n  shop:\n    default_contract: x\n    resources: {a: 5}\n    contracts: 5\n",
      "f");
  ASSERT_EQ(result.errors.size(), 3u) << ToString(result.errors);
  EXPECT_EQ(result.errors[0].line, 3u);
  EXPECT_EQ(result.errors[1].line, 4u);
  EXPECT_EQ(result.errors[2].line, 5u);
}

TEST(BadRules, AFileOfNothingButMistakesIsCutShort) {
  std::string yaml = Shop("    resources:\n");
  for (int i = 0; i < 1500; ++i) yaml += "      r" + std::to_string(i) + ": 5\n";
  const ParseResult result = ParseRulesText(yaml, "f");
  ASSERT_EQ(result.errors.size(), 1001u);
  EXPECT_TRUE(Has(result.errors.back().message, "there may be more mistakes"));
  EXPECT_EQ(result.rules, nullptr);
}

TEST(BadRules, AListOfLimitsIsShort) {
  std::string limits;
  for (int i = 0; i < 65; ++i) limits += "{name: l" + std::to_string(i) + ", limit: 1, per: 1s}, ";
  EXPECT_TRUE(Has(Mistake(Search("limits: @[" + limits + "]")), "at most 64"));
}

TEST(BadRules, OverridesDoNotMultiplyBeyondMeasure) {
  std::string fields = "limits: [";
  for (int i = 0; i < 64; ++i) fields += "{name: l" + std::to_string(i) + ", limit: 1, per: 1s}, ";
  fields += "], overrides: [";
  for (int i = 0; i < 20'000; ++i) fields += "{subject: s" + std::to_string(i) + "}, ";
  const ParseResult result = ParseRulesText(Search(fields + "]"), "f");
  ASSERT_EQ(result.errors.size(), 1u);
  EXPECT_TRUE(Has(result.errors[0].message, "more than 1000000 limits"));
}

}  // namespace
}  // namespace weir::bad_rules_test
