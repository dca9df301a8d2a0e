// The files of envoyproxy/ratelimit: what is read from them, and what is refused.
#include <gtest/gtest.h>

#include "tests/rules/rules_text.h"

namespace weir::ratelimit_file_test {
namespace {

using Entries = std::vector<DescriptorEntry>;

std::shared_ptr<const Rulebook> Read(const std::string& rule) {
  const ParseResult result =
      ParseRatelimitText("domain: edge\ndescriptors: [{" + rule + "}]\n", "r.yaml",
                         {.cluster = true, .divide = true, .redis = true});
  EXPECT_TRUE(result.ok()) << ToString(result.errors);
  return result.rules;
}
const DescriptorRule& Rule(const std::shared_ptr<const Rulebook>& rules) {
  return rules->namespaces()[0].terms.descriptors[0];
}

TEST(RatelimitFile, EveryUnitIsAWindowFromTheEpoch) {
  const std::pair<const char*, std::chrono::seconds> units[] = {
      {"second", std::chrono::seconds(1)}, {"minute", std::chrono::minutes(1)},
      {"hour", std::chrono::hours(1)},     {"day", std::chrono::days(1)},
      {"week", std::chrono::days(7)},      {"month", std::chrono::days(30)},
      {"year", std::chrono::days(365)},    {"MINUTE", std::chrono::minutes(1)}};
  for (const auto& [unit, length] : units) {
    const auto rules =
        Read("key: a, rate_limit: {unit: " + std::string(unit) + ", requests_per_unit: 5}");
    const auto& window = std::get<FixedWindow>(Rule(rules).limit->limit);
    EXPECT_EQ(window.limit, 5u);
    EXPECT_EQ(window.per, length) << unit;
    EXPECT_EQ(window.anchor, FixedWindow::Anchor::kEpoch);
  }
}

TEST(RatelimitFile, KeepsEverythingThatARuleSays) {
  const auto rules = Read(
      "key: a, value: \"x*\", shadow_mode: true, quota_mode: true, detailed_metric: true, "
      "value_to_metric: true, share_threshold: true, metadata: {team: x, n: 5, on: [true, ~, "
      "\"7\"]}, rate_limit: {name: mine, unit: day, requests_per_unit: 0, replaces: [{name: b}, "
      "{name: c}]}");
  const DescriptorRule& rule = Rule(rules);
  EXPECT_TRUE(rule.shadow_mode && rule.quota_mode && rule.detailed_metric && rule.value_to_metric &&
              rule.share_threshold);
  EXPECT_EQ(rule.limit_name, "mine");
  EXPECT_EQ(rule.limit->name, "mine");
  EXPECT_TRUE(rule.limit->shadow);
  EXPECT_TRUE(rule.limit->key.empty());
  EXPECT_EQ(rule.replaces, (std::vector<std::string>{"b", "c"}));
  Metadata::List list = {{true}, {}, {std::string("7")}};
  EXPECT_EQ(*rule.metadata,
            (Metadata{Metadata::Map{{"team", {std::string("x")}}, {"n", {5.0}}, {"on", {list}}}}));
}

TEST(RatelimitFile, AnUnnamedLimitIsCalledByItsRule) {
  EXPECT_EQ(Rule(Read("key: a, value: x, weir: {limit: 1, per: 1s}")).limit->name, "a=x");
}

TEST(RatelimitFile, UnlimitedNeedsNoNumbers) {
  const auto rules = Read("key: a, rate_limit: {unlimited: true}");
  EXPECT_TRUE(Rule(rules).limit->unlimited);
  EXPECT_FALSE(Rule(Read("key: a, rate_limit: {unlimited: false, unit: day, requests_per_unit: 1}"))
                   .limit->unlimited);
}

TEST(RatelimitFile, WhatIsEmptyIsNotThere) {
  EXPECT_FALSE(Rule(Read("key: a, value:, rate_limit:, descriptors:, metadata:")).limit);
  EXPECT_TRUE(Rule(Read("key: a, value: \"\"")).value.empty());
  EXPECT_TRUE(ParseRatelimitText("domain: edge\n", "r.yaml").ok());
}

TEST(RatelimitFile, ValuesAreTextWhateverTheyLookLike) {
  EXPECT_EQ(Rule(Read("key: a, value: 404")).value, "404");
  EXPECT_EQ(Rule(Read("key: a, value: true")).value, "true");
  EXPECT_EQ(Rule(Read("key: 1, value: 0x10")).value, "0x10");
}

TEST(RatelimitFile, TheWeirBlockNamesAnyAlgorithm) {
  const auto bucket =
      Read("key: a, weir: {algorithm: token_bucket, limit: 10, per: 1s, burst: 20}");
  EXPECT_EQ(std::get<TokenBucket>(Rule(bucket).limit->limit).burst, 20u);
  const auto shared =
      Read("key: a, weir: {limit: 10, per: 1s, coordination: shared, on_failure: deny}");
  EXPECT_EQ(Rule(shared).limit->coordination.kind, Coordination::Kind::kShared);
  EXPECT_EQ(Rule(shared).limit->on_failure, OnFailure::kDeny);
  const auto month = Read(
      "key: a, weir: {algorithm: fixed_window, limit: 10, per: 1mo, anchor: calendar, persist: "
      "true}");
  EXPECT_NE(std::get<FixedWindow>(Rule(month).limit->limit).calendar, nullptr);
}

TEST(RatelimitFile, WhatTheWeirBlockDoesNotSayComesFromRateLimit) {
  const auto log = Read(
      "key: a, rate_limit: {name: n, unit: minute, requests_per_unit: 20}, weir: {algorithm: "
      "sliding_log}");
  const auto& numbers = std::get<SlidingLog>(Rule(log).limit->limit);
  EXPECT_EQ(numbers.limit, 20u);
  EXPECT_EQ(numbers.per, std::chrono::minutes(1));
  EXPECT_EQ(Rule(log).limit->name, "n");
  const auto window = Read(
      "key: a, rate_limit: {unit: minute, requests_per_unit: 20}, weir: {coordination: shared}");
  EXPECT_TRUE(std::holds_alternative<FixedWindow>(Rule(window).limit->limit));
  const auto named = Read("key: a, rate_limit: {name: n}, weir: {limit: 10, per: 1s}");
  EXPECT_TRUE(std::holds_alternative<TokenBucket>(Rule(named).limit->limit));
}

struct Case {
  std::string yaml;
  const char* told;
};

class BadRatelimitFile : public testing::TestWithParam<Case> {};

TEST_P(BadRatelimitFile, IsRefusedWithPlaceAndReason) {
  const std::string told = MistakeAt(GetParam().yaml, ParseRatelimitText);
  EXPECT_TRUE(Has(told, GetParam().told)) << "told: " << told;
}

std::string Bad(const std::string& rules) { return "domain: edge\ndescriptors: [" + rules + "]\n"; }
std::string BadLimit(const std::string& fields) {
  return Bad("{key: a, rate_limit: {" + fields + "}}");
}

const Case kCases[] = {
    {"@[]\n", "must be a map"},
    {"@descriptors: []\n", "needs `domain`"},
    {"domain: @''\n", "`domain` must not be empty"},
    {"domain@:\n", "`domain` must be a word"},
    {"domain: @[a]\n", "`domain` must be a word"},
    {"domain: edge\n@namespaces: {}\n", "it takes `domain` or `descriptors`"},
    {"domain: edge\n@domain: edge\n", "a second time"},
    {"domain: edge\ndescriptors: @{}\n", "it must be a list"},
    {Bad("@a"), "a descriptor must be a map"},
    {Bad("@{value: x}"), "a descriptor needs `key`"},
    {Bad("{key: @''}"), "a descriptor's key must not be empty"},
    {Bad("{key: @[]}"), "a descriptor's key must be a word"},
    {Bad("{key: a, value: @[x]}"), "a descriptor's value must be a word"},
    {Bad("{key: a, value: @" + std::string(1025, 'v') + "}"), "at most 1024"},
    {Bad("{key: a, @ratelimit: {}}"), "did you mean `rate_limit`?"},
    {Bad("{key: a}, @{key: a}"), "a second rule with the same key and value"},
    {Bad("{key: a, value: x}, @{key: a, value: x}"), "after the one on line 2"},
    {Bad("{key: a, descriptors: [{key: b}, @{key: b}]}"), "a second rule"},
    {Bad("{key: a, descriptors: @{}}"), "it must be a list"},
    {Bad("{key: a, shadow_mode: @1}"), "`true` or `false`"},
    {Bad("{key: a, quota_mode: @yes}"), "`true` or `false`"},
    {Bad("{key: a, value: x, share_threshold: @true}"), "only with a `value` that has a `*`"},
    {Bad("{key: a, share_threshold: @true}"), "only with a `value` that has a `*`"},
    {Bad("{key: a, metadata: @[]}"), "it must be a map"},
    {Bad("{key: a, metadata: {a: {a: {a: {a: {a: {a: {a: {a: @1}}}}}}}}}"), "nested more than 8"},
    {Bad("{key: a, rate_limit: @5}"), "`rate_limit` must be a map"},
    {Bad("{key: a, rate_limit: @{requests_per_unit: 1}}"), "needs `unit`"},
    {Bad("{key: a, rate_limit: @{unit: day}}"), "needs `requests_per_unit`"},
    {BadLimit("unit: @fortnight, requests_per_unit: 1"), "`second`, `minute`, `hour`"},
    {BadLimit("unit: @minutes, requests_per_unit: 1"), "did you mean `minute`?"},
    {BadLimit("unit: @[day], requests_per_unit: 1"), "`unit` is a list"},
    {BadLimit("unit: @unknown, requests_per_unit: 1"), "it must be `second`"},
    {BadLimit("unit: day, requests_per_unit: @-1"), "whole number"},
    {BadLimit("unit: day, requests_per_unit: @4294967296"), "at most 4294967295"},
    {BadLimit("unit: @day, unlimited: true"), "does not go with `unlimited: true`"},
    {BadLimit("unlimited: @maybe, unit: day, requests_per_unit: 1"), "`true` or `false`"},
    {BadLimit("unit: day, requests_per_unit: 1, @nmae: x"), "did you mean `name`?"},
    {BadLimit("unit: day, requests_per_unit: 1, name: @[]"), "must be a word"},
    {BadLimit("unit: day, requests_per_unit: 1, replaces: @x"), "it must be a list"},
    {BadLimit("unit: day, requests_per_unit: 1, replaces: @[]"), "`replaces` is empty"},
    {BadLimit("unit: day, requests_per_unit: 1, replaces: [@x]"), "an item of `replaces` must be"},
    {BadLimit("unit: day, requests_per_unit: 1, replaces: [@{}]"), "needs `name`"},
    {BadLimit("unit: day, requests_per_unit: 1, replaces: [{name: @''}]"), "must not be empty"},
    {BadLimit("name: x, unit: day, requests_per_unit: 1, replaces: [{name: @x}]"),
     "replace itself"},
    {Bad("{key: a, weir: @5}"), "`weir` must be a map"},
    {Bad("{key: a, weir: {limit: 5, per: 1s, @name: x}}"), "is no key of `weir`"},
    {Bad("{key: a, weir: {limit: 5, per: 1s, @key: []}}"), "is no key of `weir`"},
    {Bad("{key: a, weir: {limit: 5, per: 1s, @shadow: true}}"), "is no key of `weir`"},
    {Bad("{key: a, weir: @{limit: 5}}"), "a limit needs `per`"},
    {Bad("{key: a, weir: {limit: 5, per: 1s, coordination: @shared}}"), "not there yet"},
    {Bad("{key: a, rate_limit: {unlimited: true}, weir: @{limit: 5, per: 1s}}"), "unlimited: true"},
};
INSTANTIATE_TEST_SUITE_P(Rules, BadRatelimitFile, testing::ValuesIn(kCases));

std::string Nested(int depth) {
  std::string text;
  for (int i = 0; i < depth; ++i) text += "{key: k, descriptors: [";
  text += "{key: k}";
  for (int i = 0; i < depth; ++i) text += "]}";
  return "domain: edge\ndescriptors: [" + text + "]\n";
}

TEST(RatelimitFile, NestsAsDeepAsTwentyFour) {
  EXPECT_TRUE(ParseRatelimitText(Nested(23), "r.yaml").ok());
  const ParseResult result = ParseRatelimitText(Nested(24), "r.yaml");
  ASSERT_EQ(result.errors.size(), 1u);
  EXPECT_TRUE(Has(result.errors[0].message, "more than 24 deep"));
}

}  // namespace
}  // namespace weir::ratelimit_file_test
