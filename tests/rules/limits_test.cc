// What a limit comes to once it is read.
#include <gtest/gtest.h>

#include "tests/rules/rules_text.h"

namespace weir::limits_test {
namespace {

RuleLimit Read(const std::string& fields) {
  const auto rules = Good(OneLimit(fields));
  return rules ? *rules->all()[0] : RuleLimit{};
}

template <typename A>
A ReadAs(const std::string& fields) {
  return std::get<A>(Read(fields).limit);
}

TEST(Limits, ATokenBucketIsTheDefault) {
  const RuleLimit limit = Read("limit: 20, per: 1s");
  EXPECT_EQ(limit.name, "token_bucket");
  const auto& bucket = std::get<TokenBucket>(limit.limit);
  EXPECT_EQ(bucket.limit, 20u);
  EXPECT_EQ(bucket.per, std::chrono::seconds(1));
  EXPECT_EQ(bucket.burst, 20u) << "as many as the limit";
  EXPECT_EQ(ReadAs<TokenBucket>("limit: 20, per: 1s, burst: 40").burst, 40u);
}

TEST(Limits, WhatIsSaidBesideHasDefaults) {
  const RuleLimit limit = Read("limit: 20, per: 1s");
  EXPECT_EQ(limit.key, std::vector{KeyPart::kSubject});
  EXPECT_EQ(limit.on_failure, OnFailure::kAllow);
  EXPECT_FALSE(limit.shadow || limit.persist || limit.unlimited);
  const RuleLimit other =
      Read("name: x, limit: 20, per: 1s, key: [], on_failure: deny, shadow: true, persist: true");
  EXPECT_EQ(other.name, "x");
  EXPECT_TRUE(other.key.empty() && other.shadow && other.persist);
  EXPECT_EQ(other.on_failure, OnFailure::kDeny);
}

TEST(Limits, TheOrderOfTheKeyDoesNotMatter) {
  EXPECT_EQ(Read("limit: 1, per: 1s, key: [subject, resource, namespace]").key,
            (std::vector{KeyPart::kNamespace, KeyPart::kResource, KeyPart::kSubject}));
}

TEST(Limits, FixedWindowsAreAnchored) {
  const auto epoch = ReadAs<FixedWindow>("algorithm: fixed_window, limit: 5, per: 1h");
  EXPECT_EQ(epoch.anchor, FixedWindow::Anchor::kEpoch);
  EXPECT_EQ(epoch.calendar, nullptr);
  const auto first =
      ReadAs<FixedWindow>("algorithm: fixed_window, limit: 5, per: 1h, anchor: first_request");
  EXPECT_EQ(first.anchor, FixedWindow::Anchor::kFirstRequest);
}

TEST(Limits, CalendarWindowsHaveAUnitAndAZone) {
  const std::string calendar = "algorithm: fixed_window, limit: 5, anchor: calendar, per: ";
  const std::pair<const char*, Calendar::Unit> units[] = {
      {"1d", Calendar::Unit::kDay},    {"24h", Calendar::Unit::kDay},
      {"1w", Calendar::Unit::kWeek},   {"7d", Calendar::Unit::kWeek},
      {"1mo", Calendar::Unit::kMonth}, {"1y", Calendar::Unit::kYear}};
  for (const auto& [per, unit] : units) {
    const auto window = ReadAs<FixedWindow>(calendar + per);
    ASSERT_NE(window.calendar, nullptr) << per;
    EXPECT_EQ(window.calendar->unit(), unit) << per;
    EXPECT_EQ(window.calendar->time_zone(), "UTC");
  }
  const auto zoned = ReadAs<FixedWindow>(calendar + "1d, time_zone: Europe/Stockholm");
  EXPECT_EQ(zoned.calendar->time_zone(), "Europe/Stockholm");
}

TEST(Limits, SlidingOnesHaveTheirOwnNumbers) {
  const auto window = ReadAs<SlidingWindow>("algorithm: sliding_window, limit: 5, per: 1h");
  EXPECT_EQ(window.slices, 10u);
  EXPECT_EQ(window.edge, SlidingWindow::Edge::kWeighted);
  const auto strict = ReadAs<SlidingWindow>(
      "algorithm: sliding_window, limit: 5, per: 1h, slices: 60, edge: strict");
  EXPECT_EQ(strict.slices, 60u);
  EXPECT_EQ(strict.edge, SlidingWindow::Edge::kStrict);
  EXPECT_TRUE(ReadAs<SlidingLog>("algorithm: sliding_log, limit: 5, per: 1h, keep_rejected: true")
                  .keep_rejected);
}

TEST(Limits, ZeroBlocksAndIsAllowed) {
  for (const char* algorithm : {"token_bucket", "fixed_window", "sliding_log", "sliding_window"}) {
    EXPECT_EQ(Numbers(Read("limit: 0, per: 1s, algorithm: " + std::string(algorithm)).limit).most,
              0u);
  }
}

TEST(Limits, UnlimitedNeedsNothingElse) {
  EXPECT_TRUE(Read("limit: unlimited").unlimited);
  EXPECT_TRUE(Read("limit: \"unlimited\", per: 1s, burst: 4").unlimited);
  const RuleLimit window = Read("algorithm: sliding_window, limit: unlimited, per: 1h");
  EXPECT_TRUE(window.unlimited && std::holds_alternative<SlidingWindow>(window.limit));
}

TEST(Limits, TheGreatestNumbersFit) {
  EXPECT_EQ(Numbers(Read("limit: 9007199254740992, per: 1s").limit).most, uint64_t{1} << 53);
  EXPECT_EQ(Numbers(Read("limit: 1, per: 3653d").limit).per, std::chrono::days(3653));
}

TEST(Limits, StatesAreNamedForEver) {
  const auto rules =
      Good(Shop("    resources: {search: {limits: [{name: a, limit: 1, per: 1s}]}}\n"
                "    contracts: {gold: {limits: [{name: b, limit: 1, per: 1s}]}}\n"));
  using Identity = std::vector<std::string>;
  EXPECT_EQ(rules->all()[0]->identity, (Identity{"shop", "resource", "search", "a"}));
  EXPECT_EQ(rules->all()[1]->identity, (Identity{"shop", "contract", "gold", "b"}));
}

TEST(Limits, EnforcementIsReadQuotedOrNot) {
  for (const char* word : {"on", "\"on\"", "'on'"}) {
    EXPECT_EQ(Good(Shop("    enforcement: " + std::string(word) + "\n"))
                  ->namespaces()[0]
                  .terms.enforcement,
              Enforcement::kOn);
  }
  for (const char* word : {"off", "\"off\""}) {
    EXPECT_EQ(Good(Shop("    enforcement: " + std::string(word) + "\n"))
                  ->namespaces()[0]
                  .terms.enforcement,
              Enforcement::kOff);
  }
  EXPECT_EQ(Good(Shop("    enforcement: shadow\n"))->namespaces()[0].terms.enforcement,
            Enforcement::kShadow);
}

TEST(Limits, WhatIsEmptyIsEmpty) {
  EXPECT_TRUE(Good("namespaces:\n")->namespaces().empty());
  EXPECT_EQ(Good("namespaces:\n  shop:\n")->namespaces().size(), 1u);
  const auto rules =
      Good(Shop("    resources:\n      search:\n    contracts:\n    descriptors:\n"));
  EXPECT_EQ(rules->namespaces()[0].resources().size(), 1u) << "configured, and not limited";
  Good(Search("limits:, overrides:"));
}

TEST(Limits, JsonIsTheSameTree) {
  const auto json = Good(
      R"({"namespaces": {"shop": {"enforcement": "off", "resources": {"search": {"limits":
          [{"name": "a", "limit": 5, "per": "1s", "key": [], "shadow": true}]}}}}})");
  ASSERT_NE(json, nullptr);
  EXPECT_EQ(json->all()[0]->name, "a");
  EXPECT_TRUE(json->all()[0]->shadow);
}

TEST(Limits, AnchorsOfYamlMaySpareWriting) {
  const auto rules =
      Good(Shop("    resources:\n"
                "      a: {limits: &usual [{name: x, limit: 5, per: 1s}]}\n"
                "      b: {limits: *usual}\n"));
  EXPECT_EQ(rules->all().size(), 2u);
  EXPECT_EQ(rules->all()[1]->identity[2], "b");
}

}  // namespace
}  // namespace weir::limits_test
