// Matching of descriptors, case by case.
#include "rules/descriptors.h"

#include <gtest/gtest.h>

#include "tests/rules/allocations.h"
#include "tests/rules/rules_text.h"

namespace weir::descriptors_test {
namespace {

using Entries = std::vector<DescriptorEntry>;

std::shared_ptr<const Rulebook> Edge(const std::string& descriptors) {
  const ParseResult result =
      ParseRatelimitText("domain: edge\ndescriptors:\n" + descriptors, "ratelimit.yaml");
  EXPECT_TRUE(result.ok()) << ToString(result.errors);
  return result.rules;
}

// The requests per unit of the limit that applies; "none" or "free" where there is none.
std::string Limit(const Rulebook& rules, const Entries& entries) {
  const DescriptorMatch match = rules.MatchDescriptor("edge", entries);
  EXPECT_NE(match.ns, nullptr);
  if (match.rule == nullptr) return "none";
  return match.limit == nullptr ? "free" : std::to_string(Numbers(match.limit->limit).most);
}

constexpr char kFlat[] = R"(
  - {key: a, value: x, rate_limit: {unit: second, requests_per_unit: 1}}
  - {key: a, value: "x*", rate_limit: {unit: second, requests_per_unit: 2}}
  - {key: a, value: "*y", rate_limit: {unit: second, requests_per_unit: 3}}
  - {key: a, rate_limit: {unit: second, requests_per_unit: 4}}
  - {key: b, value: x, rate_limit: {unit: second, requests_per_unit: 5}}
  - {key: c}
  - {key: d, value: "*", rate_limit: {unit: second, requests_per_unit: 6}}
)";

TEST(Descriptors, TheExactValueComesFirst) { EXPECT_EQ(Limit(*Edge(kFlat), {{"a", "x"}}), "1"); }

TEST(Descriptors, ThenPatternsInTheOrderOfTheFile) {
  const auto rules = Edge(kFlat);
  EXPECT_EQ(Limit(*rules, {{"a", "xx"}}), "2");
  EXPECT_EQ(Limit(*rules, {{"a", "zy"}}), "3");
  EXPECT_EQ(Limit(*rules, {{"a", "xy"}}), "2") << "fits both: the first";
}

TEST(Descriptors, ThenTheKeyAlone) {
  const auto rules = Edge(kFlat);
  EXPECT_EQ(Limit(*rules, {{"a", "z"}}), "4");
  EXPECT_EQ(Limit(*rules, {{"a", ""}}), "4");
  EXPECT_EQ(Limit(*rules, {{"b", "z"}}), "none");
  EXPECT_EQ(Limit(*rules, {{"z", "x"}}), "none");
}

TEST(Descriptors, AStarAloneFitsEverything) {
  const auto rules = Edge(kFlat);
  EXPECT_EQ(Limit(*rules, {{"d", "anything"}}), "6");
  EXPECT_EQ(Limit(*rules, {{"d", ""}}), "6");
}

TEST(Descriptors, ARuleWithoutLimitIsFree) { EXPECT_EQ(Limit(*Edge(kFlat), {{"c", "x"}}), "free"); }

constexpr char kTree[] = R"(
  - key: a
    value: x
    rate_limit: {unit: second, requests_per_unit: 1}
    descriptors:
      - {key: b, value: y, rate_limit: {unit: second, requests_per_unit: 2}}
  - key: a
    descriptors:
      - {key: b, rate_limit: {unit: second, requests_per_unit: 3}}
      - key: c
        value: "z*"
        descriptors:
          - {key: d, rate_limit: {unit: second, requests_per_unit: 4}}
)";

TEST(Descriptors, ALimitAppliesAtItsOwnDepthOnly) {
  const auto rules = Edge(kTree);
  EXPECT_EQ(Limit(*rules, {{"a", "x"}}), "1");
  EXPECT_EQ(Limit(*rules, {{"a", "x"}, {"b", "y"}}), "2");
  EXPECT_EQ(Limit(*rules, {{"a", "x"}, {"c", "y"}}), "none") << "the limit above does not count";
  EXPECT_EQ(Limit(*rules, {{"a", "x"}, {"b", "y"}, {"c", "z"}}), "none");
  EXPECT_EQ(Limit(*rules, {{"a", "q"}}), "free");
  EXPECT_EQ(Limit(*rules, {{"a", "q"}, {"c", "zz"}, {"d", "1"}}), "4");
  EXPECT_EQ(Limit(*rules, {}), "none");
}

TEST(Descriptors, WhatWasPickedIsNotReconsidered) {
  const auto rules = Edge(kTree);
  EXPECT_EQ(Limit(*rules, {{"a", "q"}, {"b", "other"}}), "3");
  EXPECT_EQ(Limit(*rules, {{"a", "x"}, {"b", "other"}}), "none")
      << "a=x is picked, and below it b has only y";
}

TEST(Descriptors, TheOrderOfEntriesMatters) {
  EXPECT_EQ(Limit(*Edge(kTree), {{"b", "y"}, {"a", "x"}}), "none");
}

uint64_t Keyed(const Rulebook& rules, const Entries& entries) {
  return rules.MatchDescriptor("edge", entries).keyed;
}

TEST(Descriptors, ValuesThatARuleLeavesOpenBelongToTheKey) {
  const auto rules = Edge(R"(
  - {key: exact, value: x, rate_limit: {unit: second, requests_per_unit: 1}}
  - {key: open, rate_limit: {unit: second, requests_per_unit: 1}}
  - {key: pattern, value: "x*", rate_limit: {unit: second, requests_per_unit: 1}}
  - {key: shared, value: "x*", share_threshold: true, rate_limit: {unit: second, requests_per_unit: 1}}
  - key: open
    value: deep
    descriptors:
      - key: open
        descriptors:
          - key: shared
            value: "*"
            share_threshold: true
            descriptors:
              - {key: pattern, value: "*", rate_limit: {unit: second, requests_per_unit: 1}}
)");
  EXPECT_EQ(Keyed(*rules, {{"exact", "x"}}), 0b0u);
  EXPECT_EQ(Keyed(*rules, {{"open", "x"}}), 0b1u);
  EXPECT_EQ(Keyed(*rules, {{"pattern", "xy"}}), 0b1u);
  EXPECT_EQ(Keyed(*rules, {{"shared", "xy"}}), 0b0u);
  EXPECT_EQ(Keyed(*rules, {{"open", "deep"}, {"open", "1"}, {"shared", "2"}, {"pattern", "3"}}),
            0b1010u);
}

TEST(Descriptors, IdentitiesDoNotCollide) {
  const auto rules = Edge(R"(
  - {key: a_b, value: c, rate_limit: {unit: second, requests_per_unit: 1}}
  - {key: a, value: b_c, rate_limit: {unit: second, requests_per_unit: 1}}
  - {key: "a=b", rate_limit: {unit: second, requests_per_unit: 1}}
  - {key: a, value: b, rate_limit: {unit: second, requests_per_unit: 1}}
  - {key: "a|b", rate_limit: {unit: second, requests_per_unit: 1}}
  - {key: a, descriptors: [{key: b, rate_limit: {unit: second, requests_per_unit: 1}}]}
  - {key: "a%7Cb", rate_limit: {unit: second, requests_per_unit: 1}}
  - {key: a, value: "*", rate_limit: {unit: second, requests_per_unit: 1}}
)");
  std::vector<std::vector<std::string>> identities;
  for (const RuleLimit* limit : rules->all()) identities.push_back(limit->identity);
  std::sort(identities.begin(), identities.end());
  EXPECT_EQ(std::unique(identities.begin(), identities.end()), identities.end());
  EXPECT_EQ(rules->MatchDescriptor("edge", Entries{{"a_b", "c"}}).limit->identity,
            (std::vector<std::string>{"edge", "descriptor", "a_b=c", "rate_limit"}));
}

TEST(Descriptors, AskNothingOfTheHeap) {
  const auto rules = Edge(kTree);
  const DescriptorEntry entries[] = {{"a", "q"}, {"c", "zz"}, {"d", "1"}};
  const size_t before = Allocations();
  EXPECT_EQ(rules->MatchDescriptor("edge", entries).keyed, 0b111u);
  EXPECT_EQ(rules->MatchDescriptor("none", entries).ns, nullptr);
  EXPECT_EQ(Allocations(), before);
}

TEST(Descriptors, AnUnknownDomainIsToldApartFromNoMatch) {
  const auto rules = Edge(kFlat);
  EXPECT_EQ(rules->MatchDescriptor("none", Entries{{"a", "x"}}).ns, nullptr);
  EXPECT_NE(rules->MatchDescriptor("edge", Entries{{"z", "x"}}).ns, nullptr);
}

TEST(Descriptors, StandInANamespaceOfTheirOwnFileToo) {
  const auto rules =
      Good(Shop("    resources: {search: {}}\n"
                "    descriptors:\n"
                "      - {key: a, rate_limit: {unit: minute, requests_per_unit: 7}}\n"));
  const DescriptorMatch match = rules->MatchDescriptor("shop", Entries{{"a", "x"}});
  ASSERT_NE(match.limit, nullptr);
  EXPECT_EQ(Numbers(match.limit->limit).most, 7u);
  EXPECT_EQ(match.limit->identity[0], "shop");
}

TEST(Patterns, AStarStandsForAnyTextAlsoForNone) {
  for (const char* value : {"ab", "axb", "axxb", "a*b", "aab", "abb"}) {
    EXPECT_TRUE(FitsPattern("a*b", value)) << value;
  }
  for (const char* value : {"", "a", "b", "abc", "cab", "ba"}) {
    EXPECT_FALSE(FitsPattern("a*b", value)) << value;
  }
  EXPECT_TRUE(FitsPattern("*", ""));
  EXPECT_TRUE(FitsPattern("**", "x"));
  EXPECT_TRUE(FitsPattern("*bot*", "Googlebot/2.1"));
  EXPECT_FALSE(FitsPattern("*bot*", "Googleb.t/2.1"));
  EXPECT_TRUE(FitsPattern("a*b*c", "abbc"));
  EXPECT_TRUE(FitsPattern("*a*b", "aXbXab"));
  EXPECT_FALSE(FitsPattern("a*a", "a"));
}

}  // namespace
}  // namespace weir::descriptors_test
