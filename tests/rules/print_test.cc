#include "rules/print/print.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "rules/text/scalar_text.h"
#include "tests/rules/random_rules.h"
#include "tests/rules/rules_text.h"
#include "tests/rules/same_rules.h"

namespace weir::print_test {
namespace {

constexpr ParseOptions kEverything = {.cluster = true, .divide = true, .redis = true};

TEST(PrintRules, SaysEverythingThatDecides) {
  EXPECT_EQ(
      PrintRules(*Good(
          Shop("    resources:\n"
               "      a: {limits: [{limit: 20, per: 60s}]}\n"
               "      b: {tiers: {tiers: [{limit: 1, window: 1s, active: 60s}]}}\n"
               "    contracts: {free: {limits: [{name: m, algorithm: fixed_window, limit: 1, per: "
               "1mo, anchor: calendar}]}}\n"))),
      "namespaces:\n"
      "  shop:\n"
      "    unconfigured: refuse\n"
      "    enforcement: on\n"
      "    resources:\n"
      "      a:\n"
      "        limits:\n"
      "          - {name: token_bucket, algorithm: token_bucket, limit: 20, per: 1m, burst: 20}\n"
      "      b:\n"
      "        tiers:\n"
      "          tiers:\n"
      "            - {limit: 1, window: 1s, active: 1m, cooldown: 0s}\n"
      "    contracts:\n"
      "      free:\n"
      "        subjects: []\n"
      "        limits:\n"
      "          - {name: m, algorithm: fixed_window, limit: 1, per: 1mo, anchor: calendar, "
      "time_zone: UTC}\n");
}

TEST(PrintRules, OfNothingIsNothing) {
  EXPECT_EQ(PrintRules(*Good("namespaces: {}")), "namespaces: {}\n");
}

TEST(PrintRules, OverridesSayOnlyWhatDiffers) {
  const std::string text = PrintRules(*Good(Search(
      "limits: [{name: a, limit: 1, per: 1s, persist: true}, {name: b, limit: 2, per: 1s, key: "
      "[]}], "
      "overrides: [{subject: x, limits: [{name: a, limit: 5}]}, {subject: y, limits: [{name: b, "
      "limit: unlimited}]}, {subject: z, limits: [{name: a, persist: false}]}, {subject: q}]")));
  EXPECT_TRUE(Has(text, "- {name: a, algorithm: token_bucket, limit: 5, per: 1s, burst: 5}\n"));
  EXPECT_TRUE(Has(text, "- {name: b, limit: unlimited}\n"));
  EXPECT_TRUE(Has(text, "- {name: a, persist: false}\n"));
  EXPECT_TRUE(Has(text, "- subject: q\n"));
}

RC_GTEST_PROP(PrintRules, AreReadBackAsTheyWere, ()) {
  const std::string yaml =
      RandomRules([](uint64_t n) { return *rc::gen::inRange<uint64_t>(0, n); });
  RC_LOG() << yaml << "\n";
  const ParseResult first = ParseRulesText(yaml, "first", kEverything);
  RC_LOG() << ToString(first.errors);
  RC_ASSERT(first.ok());
  const std::string printed = PrintRules(*first.rules);
  RC_LOG() << printed;
  const ParseResult second = ParseRulesText(printed, "second", kEverything);
  RC_LOG() << ToString(second.errors);
  RC_ASSERT(second.ok());
  RC_ASSERT(second.changes.empty());
  RC_ASSERT(Difference(*first.rules, *second.rules) == "");
  RC_ASSERT(PrintRules(*second.rules) == printed);
}

TEST(Scalar, IsQuotedWhereSomebodyCouldMistakeIt) {
  for (const char* plain : {"shop", "user-1235", "Europe/Stockholm", "a_b", "v1.2"}) {
    EXPECT_EQ(PrintScalar(plain), plain);
  }
  for (const char* other : {"",   "1",  "-", "~",  "null", "Yes", "off", "y", "a b", "a: b",
                            "#a", "a#", "*", "1s", ".inf", "0x1", "é",   "'", "/a",  "<<"}) {
    EXPECT_EQ(PrintScalar(other), "\"" + std::string(other) + "\"");
  }
  EXPECT_EQ(PrintScalar("a\"b\\c\nd\x7f"), "\"a\\\"b\\\\c\\u000ad\\u007f\"");
  EXPECT_EQ(PrintScalar("a\xe2\x80\x8b\xf3\xa0\x80\x81"), "\"a\\u200b\\U000e0001\"");
}

TEST(CheckReport, OfGoodRulesIsRulesAgain) {
  const std::string report = CheckReport(ParseRulesText(OneLimit("limit: 5, per: 1s"), "f"), false);
  EXPECT_EQ(CheckReport(ParseRulesText(report, "g"), false), report);
}

TEST(CheckReport, TellsWhatNormalisationChanged) {
  const ParseResult result = ParseRulesText(
      Search("tiers: {tiers: [{limit: 1, window: 90s, active: 60s}]}"), "rules.yaml");
  const std::string report = CheckReport(result, false);
  EXPECT_TRUE(Has(report,
                  "#  where                                                   written  taken as  "
                  "why                          line\n"
                  "#  namespaces.shop.resources.search.tiers.tiers[0].window  90s      1m        "
                  "longer than the active time  rules.yaml:4\n"))
      << report;
  EXPECT_TRUE(ParseRulesText(report, "again").ok()) << "it is still rules";
}

TEST(CheckReport, PointsAtEveryMistake) {
  EXPECT_EQ(CheckReport(ParseRulesText("namespaces:\n  shöp:\n\tx: 5\n", "a.yaml"), false)
                .find("a.yaml:3:"),
            0u);
  EXPECT_EQ(CheckReport(
                ParseRulesText("namespaces:\n  shop: {resuorces: {}, enforcement: x}\n", "a.yaml"),
                false),
            "a.yaml:2:10: `resuorces` is no key of a namespace; did you mean `resources`?\n"
            "     2 |   shop: {resuorces: {}, enforcement: x}\n"
            "       |          ^\n"
            "a.yaml:2:38: `enforcement` is `x`; it must be `on`, `off` or `shadow`\n"
            "     2 |   shop: {resuorces: {}, enforcement: x}\n"
            "       |                                      ^\n"
            "2 mistakes; none of these rules take effect\n");
}

TEST(CheckReport, TheCaretStandsBelowItsCharacter) {
  const std::string report =
      CheckReport(ParseRulesText("namespaces: {\"äöü😀\": 5}\n", "a.yaml"), false);
  EXPECT_TRUE(Has(report,
                  "     1 | namespaces: {\"äöü😀\": 5}\n"
                  "       |                       ^\n"))  // the face takes two columns
      << report;
}

TEST(CheckReport, OfALongLineShowsAPart) {
  const std::string line =
      "namespaces: {" + std::string(200, 'x') + ": 5, y: 6, " + std::string(3000, 'z') + ": {}}\n";
  const std::string report = CheckReport(ParseRulesText(line, "a.yaml"), false);
  EXPECT_LT(report.size(), 1200u);
  EXPECT_TRUE(Has(report, ": 5, y: 6, zzz")) << report;
}

TEST(CheckReport, HasColoursOnlyIfAsked) {
  const ParseResult bad = ParseRulesText("namespaces: 5\n", "a.yaml");
  EXPECT_TRUE(Has(CheckReport(bad, true), "\x1b["));
  EXPECT_FALSE(Has(CheckReport(bad, false), "\x1b["));
  const ParseResult hostile = ParseRulesText("namespaces: \"\\e[31m\"\n", "a.yaml");
  EXPECT_FALSE(Has(CheckReport(hostile, false), "\x1b[")) << "nor does the file bring its own";
}

}  // namespace
}  // namespace weir::print_test
