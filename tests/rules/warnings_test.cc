#include "rules/print/warnings.h"

#include <gtest/gtest.h>

#include "rules/print/print.h"
#include "tests/rules/rules_text.h"

namespace weir::warnings_test {
namespace {

constexpr ParseOptions kCluster = {.cluster = true};

std::string All(const std::string& rules) {
  const auto good = Good(rules, kCluster);
  if (good == nullptr) return "";
  std::string all;
  for (const std::string& warning : RuleWarnings(*good)) all += warning + "\n";
  return all;
}

TEST(RuleWarnings, ThereAreNoneForUsualRules) {
  EXPECT_EQ(All(OneLimit("limit: 5, per: 1s, algorithm: sliding_log")), "");
  EXPECT_EQ(All("namespaces: {shop: {coordination: replicated, resources: {search: {limits: ["
                "{limit: 5, per: 1s}, {name: b, limit: unlimited, algorithm: sliding_log}, "
                "{name: c, limit: 1, per: 1s, algorithm: sliding_log, coordination: local}]}}}}"),
            "");
}

TEST(RuleWarnings, AStarIsAName) {
  EXPECT_EQ(All("namespaces: {shop: {resources: {\"api/*\": {limits: [{limit: 5, per: 1s}]}}}}"),
            "resource `api/*` in namespace `shop`: the `*` is no wildcard, only a name with a star "
            "in it fits\n");
  const std::string subjects = All(
      "namespaces: {shop: {resources: {a: {limits: [{name: l, limit: 5, per: 1s}], overrides: "
      "[{subject: \"team-*\", limits: [{name: l, limit: 6}]}]}, b: {copies: {per_subject: 1, "
      "groups: [{name: g, limit: 1, subjects: [\"g*\"]}]}}}, contracts: {c: {subjects: [\"*\"], "
      "limits: []}}}}");
  for (const char* subject : {"`team-*`", "`g*`", "`*` in namespace"}) {
    EXPECT_TRUE(Has(subjects, std::string("subject ") + subject)) << subjects;
  }
}

TEST(RuleWarnings, ALimitThatCannotHaveTheNamespacesCoordinationIsNamed) {
  const std::string all =
      All("namespaces: {shop: {coordination: replicated, resources: {"
          "search: {limits: [{name: log, algorithm: sliding_log, limit: 5, per: 1s}], "
          "overrides: [{subject: ann, limits: [{name: log, limit: 9}]}]},"
          "video: {tiers: {tiers: []}}, sandbox: {copies: {per_subject: 1}}}}}");
  EXPECT_TRUE(Has(all,
                  "limit `log` of resource `search` in namespace `shop` is counted by each node "
                  "alone: `coordination: {replicated: debt}` does not go with `sliding_log`"))
      << all;
  EXPECT_TRUE(Has(all, "limit `tiers` of resource `video`")) << all;
  EXPECT_TRUE(Has(all, "limit `per_subject` of resource `sandbox`")) << all;
  EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), 3) << "once each: " << all;
}

TEST(RuleWarnings, WhatWasWarnedAboutIsNotWarnedAboutAgain) {
  const auto before = Good(
      "namespaces: {shop: {coordination: replicated, resources: {\"a*\": {limits: [{name: l, "
      "limit: "
      "1, per: 1s, algorithm: sliding_log}]}}, contracts: {c: {subjects: [\"*\"], limits: []}}}}",
      kCluster);
  ASSERT_EQ(RuleWarnings(*before).size(), 3u);
  NamespacesRead read = ReadNamespaces(
      "namespaces: {shop: {coordination: replicated, resources: {\"b*\": {limits: []}}}}", "",
      kCluster);
  const auto after = before->WithResource(std::move(read.namespaces.at(0).resources.at(0)));
  EXPECT_EQ(RuleWarnings(*after).size(), 4u);
  const std::vector<std::string> all = NewRuleWarnings(*after, *before);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_TRUE(Has(all[0], "`b*`")) << all[0];
  EXPECT_TRUE(NewRuleWarnings(*after, *after).empty());
}

TEST(RuleWarnings, AreShownByCheck) {
  const ParseResult result =
      ParseRulesText("namespaces: {shop: {resources: {\"*\": {limits: []}}}}", "r.yaml", {});
  const std::string report = CheckReport(result, false);
  EXPECT_TRUE(Has(report, "\n# Warnings: right, but is it meant?\n#  resource `*` in ")) << report;
  EXPECT_TRUE(Good(report)) << "as comments";
}

TEST(RuleWarnings, HaveAnEnd) {
  std::string rules = "namespaces:\n  shop:\n    resources:\n";
  for (int i = 0; i < 1000; ++i) rules += "      \"" + std::to_string(i) + "*\": {limits: []}\n";
  const auto warnings = RuleWarnings(*Good(rules));
  ASSERT_EQ(warnings.size(), kMostWarnings);
  EXPECT_EQ(warnings.back(), "and 901 warnings more");
}

}  // namespace
}  // namespace weir::warnings_test
