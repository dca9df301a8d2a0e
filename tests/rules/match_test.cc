#include <gtest/gtest.h>

#include <ctime>

#include "tests/rules/allocations.h"
#include "tests/rules/rules_text.h"

namespace weir::match_test {
namespace {

constexpr char kRules[] = R"(
namespaces:
  shop:
    default_contract: free
    resources:
      search:
        limits: [{name: a, limit: 1, per: 1s}, {name: b, limit: 2, per: 1s}]
        overrides: [{subject: ann, limits: [{name: b, limit: 9}]}]
      open: {}
      sandbox:
        copies:
          per_subject: 5
          total: 100
          groups:
            - {name: trial, limit: 10, subjects: [ann, bob]}
            - {name: rest, limit: 60, others: true}
            - {name: friends, limit: 20, subjects: [bob, cara]}
        overrides: [{subject: big, copies: {per_subject: 50}}]
    contracts:
      free: {limits: [{name: month, limit: 3, per: 1s}]}
      gold: {subjects: [ann], limits: [{name: month, limit: 4, per: 1s}]}
      staff: {subjects: [eve], limits: []}
  lab:
    unconfigured: allow
    enforcement: shadow
    resources:
      search: {limits: [{name: other, limit: 5, per: 1s}]}
      pool: {copies: {per_subject: 1}}
    contracts: {all: {subjects: [ann], limits: [{name: c, limit: 6, per: 1s}]}}
)";

const Rulebook& Rules() {
  static const auto rules = Good(kRules);
  return *rules;
}

std::string Names(std::span<const RuleLimit> limits) {
  std::string names;
  for (const RuleLimit& limit : limits) {
    names += limit.name + "=" + std::to_string(Numbers(limit.limit).most) + " ";
  }
  return names;
}
std::string Names(std::span<const RuleLimit* const> limits) {
  std::string names;
  for (const RuleLimit* limit : limits) names += limit->name + " ";
  return names;
}

TEST(Match, FindsTheLimitsOfAResource) {
  const Match match = Rules().Match("shop", "search", "zoe");
  EXPECT_EQ(match.error, Code::kOk);
  EXPECT_EQ(match.ns->name, "shop");
  EXPECT_EQ(match.resource->name, "search");
  EXPECT_EQ(match.resource->namespace_name, "shop");
  EXPECT_EQ(match.resource->kind, Resource::Kind::kRate);
  EXPECT_EQ(match.enforcement, Enforcement::kOn);
  EXPECT_EQ(Names(match.limits), "a=1 b=2 ");
}

TEST(Match, TellsResourcesOfDifferentNamespacesApart) {
  EXPECT_EQ(Names(Rules().Match("lab", "search", "zoe").limits), "other=5 ");
  EXPECT_EQ(Rules().Match("lab", "search", "zoe").enforcement, Enforcement::kShadow);
}

TEST(Match, ASubjectMayHaveItsOwnLimits) {
  EXPECT_EQ(Names(Rules().Match("shop", "search", "ann").limits), "a=1 b=9 ");
  EXPECT_EQ(Names(Rules().Match("shop", "search", "an").limits), "a=1 b=2 ");
  EXPECT_EQ(Names(Rules().Match("shop", "search", "").limits), "a=1 b=2 ");
}

TEST(Match, ASubjectHasOneContract) {
  EXPECT_EQ(Names(Rules().Match("shop", "search", "ann").contract), "month=4 ");
  EXPECT_EQ(Names(Rules().Match("shop", "search", "zoe").contract), "month=3 ") << "the default";
  EXPECT_EQ(Names(Rules().Match("shop", "open", "eve").contract), "") << "one without limits";
  EXPECT_EQ(Names(Rules().Match("lab", "search", "zoe").contract), "") << "no default";
}

TEST(Match, WhatIsUnknownIsAnError) {
  EXPECT_EQ(Rules().Match("shopping", "search", "ann").error, Code::kUnknownNamespace);
  EXPECT_EQ(Rules().Match("", "", "").error, Code::kUnknownNamespace);
  EXPECT_EQ(Rules().Match("shop", "nothing", "ann").error, Code::kUnknownResource);
  EXPECT_EQ(Rules().Match("shop", "", "ann").error, Code::kUnknownResource);
  EXPECT_EQ(Rules().Match("shop", "sandbox", "ann").error, Code::kWrongKind);
}

TEST(Match, ANamespaceMayAllowWhatIsNotConfigured) {
  const Match match = Rules().Match("lab", "nothing", "ann");
  EXPECT_EQ(match.error, Code::kOk);
  EXPECT_EQ(match.ns->name, "lab");
  EXPECT_EQ(match.resource, nullptr);
  EXPECT_TRUE(match.limits.empty());
  EXPECT_EQ(Names(match.contract), "c=6 ") << "a contract is over all resources";
}

TEST(Match, AConfiguredResourceNeedsNoLimits) {
  const Match match = Rules().Match("shop", "open", "zoe");
  EXPECT_EQ(match.error, Code::kOk);
  EXPECT_NE(match.resource, nullptr);
  EXPECT_TRUE(match.limits.empty());
}

TEST(Match, CopiesHaveASubjectsLimitATotalAndGroups) {
  const CopiesMatch zoe = Rules().MatchCopies("shop", "sandbox", "zoe");
  EXPECT_EQ(zoe.error, Code::kOk);
  EXPECT_EQ(zoe.per_subject->name, "per_subject");
  EXPECT_EQ(std::get<Copies>(zoe.per_subject->limit).limit, 5u);
  EXPECT_EQ(zoe.per_subject->key, std::vector{KeyPart::kSubject});
  EXPECT_EQ(zoe.total->name, "total");
  EXPECT_EQ(std::get<Copies>(zoe.total->limit).limit, 100u);
  EXPECT_TRUE(zoe.total->key.empty());
  EXPECT_EQ(Names(zoe.groups), "group:rest ") << "in no other group";
  EXPECT_TRUE(zoe.groups[0]->key.empty());
  EXPECT_EQ(zoe.groups[0]->identity,
            (std::vector<std::string>{"shop", "resource", "sandbox", "group:rest"}));
}

TEST(Match, ASubjectIsInEveryGroupThatNamesIt) {
  EXPECT_EQ(Names(Rules().MatchCopies("shop", "sandbox", "ann").groups), "group:trial ");
  EXPECT_EQ(Names(Rules().MatchCopies("shop", "sandbox", "bob").groups),
            "group:trial group:friends ");
  EXPECT_EQ(Names(Rules().MatchCopies("shop", "sandbox", "cara").groups), "group:friends ");
}

TEST(Match, ASubjectMayHaveItsOwnCopies) {
  const CopiesMatch big = Rules().MatchCopies("shop", "sandbox", "big");
  EXPECT_EQ(std::get<Copies>(big.per_subject->limit).limit, 50u);
  EXPECT_EQ(big.per_subject->identity,
            Rules().MatchCopies("shop", "sandbox", "zoe").per_subject->identity);
}

TEST(Match, CopiesWithoutTotalOrGroups) {
  const CopiesMatch match = Rules().MatchCopies("lab", "pool", "ann");
  EXPECT_EQ(match.error, Code::kOk);
  EXPECT_EQ(match.total, nullptr);
  EXPECT_TRUE(match.groups.empty());
  EXPECT_EQ(match.enforcement, Enforcement::kShadow);
}

TEST(Match, ReservingWhatIsNoCopyIsAnError) {
  EXPECT_EQ(Rules().MatchCopies("shop", "search", "ann").error, Code::kWrongKind);
  EXPECT_EQ(Rules().MatchCopies("shop", "nothing", "ann").error, Code::kUnknownResource);
  EXPECT_EQ(Rules().MatchCopies("shops", "sandbox", "ann").error, Code::kUnknownNamespace);
  const CopiesMatch free = Rules().MatchCopies("lab", "nothing", "ann");
  EXPECT_EQ(free.error, Code::kOk);
  EXPECT_EQ(free.per_subject, nullptr);
}

TEST(Match, TiersBecomeLimits) {
  const auto rules = Good(Search(
      "limits: [{name: a, limit: 1, per: 1s}], tiers: {hard_limit: 100, global_limit: 1000, tiers: "
      "[{limit: 50, window: 1s, active: 60s}], shadow: true, on_failure: deny, persist: true}"));
  const auto limits = rules->Match("shop", "search", "ann").limits;
  ASSERT_EQ(Names(limits), "a=1 tiers=50 hard_limit=100 global_limit=1000 ");
  EXPECT_EQ(std::get<SlidingLog>(limits[2].limit).per, std::chrono::seconds(1));
  EXPECT_EQ(limits[1].key, std::vector{KeyPart::kSubject});
  EXPECT_EQ(limits[2].key, std::vector{KeyPart::kSubject});
  EXPECT_TRUE(limits[3].key.empty());
  for (size_t i = 1; i < 4; ++i) {
    EXPECT_TRUE(limits[i].shadow && limits[i].persist);
    EXPECT_EQ(limits[i].on_failure, OnFailure::kDeny);
    EXPECT_EQ(limits[i].identity[3], limits[i].name);
  }
  const auto bare = Good(Search("tiers: {tiers: [{limit: 50, window: 1s, active: 60s}]}"));
  EXPECT_EQ(Names(bare->Match("shop", "search", "ann").limits), "tiers=50 ");
}

TEST(Match, LimitsAreNumberedDensely) {
  const auto all = Rules().all();
  for (uint32_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i]->index, i);
  EXPECT_EQ(all.size(), 2u + 2 + 5 + 1 + 2 + 1 + 1 + 1) << "those of overrides included";
  uint32_t index = 0;
  for (const auto& ns : Rules().namespaces()) {
    for (const Resource& resource : ns.resources()) EXPECT_EQ(resource.index, index++);
  }
}

TEST(Match, TheRulesCanBeLookedUp) {
  EXPECT_EQ(Rules().FindNamespace("lab")->name, "lab");
  EXPECT_EQ(Rules().FindNamespace("none"), nullptr);
  EXPECT_EQ(Rules().FindResource("shop", "sandbox")->kind, Resource::Kind::kCopies);
  EXPECT_EQ(Rules().FindResource("shop", "none"), nullptr);
}

TEST(Match, AsksNothingOfTheHeap) {
  Rules();  // read them before counting
  const size_t before = Allocations();
  for (const std::string_view subject : {"ann", "bob", "zoe", ""}) {
    for (const std::string_view ns : {"shop", "lab", "none"}) {
      for (const std::string_view resource : {"search", "sandbox", "nothing"}) {
        Rules().Match(ns, resource, subject);
        Rules().MatchCopies(ns, resource, subject);
      }
    }
  }
  EXPECT_EQ(Allocations(), before);
}

TEST(Match, NamesMayHaveAnyLength) {
  std::string yaml = "namespaces:\n";
  for (size_t n = 1; n < 40; ++n) {
    yaml += "  " + std::string(n, 'n') + ": {resources: {";
    for (size_t r = 1; r < 40; ++r) {
      yaml += std::string(r, 'r') + ": {limits: [{limit: " + std::to_string(100 * n + r) +
              ", per: 1s}]}, ";
    }
    yaml += "}}\n";
  }
  const auto rules = Good(yaml);
  for (size_t n = 1; n < 40; ++n) {
    for (size_t r = 1; r < 40; ++r) {
      const Match match = rules->Match(std::string(n, 'n'), std::string(r, 'r'), "ann");
      ASSERT_EQ(match.error, Code::kOk) << n << " " << r;
      EXPECT_EQ(Numbers(match.limits[0].limit).most, 100 * n + r);
    }
    EXPECT_EQ(rules->Match(std::string(n, 'n'), std::string(40, 'r'), "").error,
              Code::kUnknownResource);
  }
}

// 100,000 overrides in JSON, as programs write them.
std::string ManyOverrides(size_t count) {
  std::string json = R"({"namespaces": {"shop": {"resources": {"search": {"limits": [)"
                     R"({"name": "burst", "limit": 20, "per": "1s"}], "overrides": [)";
  for (size_t i = 0; i < count; ++i) {
    json += std::string(i == 0 ? "" : ",") + R"({"subject": "user-)" + std::to_string(i) +
            R"(", "limits": [{"name": "burst", "limit": )" + std::to_string(i) + "}]}\n";
  }
  return json + "]}}}}}";
}

TEST(BigRulebook, LoadsQuicklyAndFindsEveryOverride) {
  constexpr size_t kCount = 100'000;
  const std::string json = ManyOverrides(kCount);
  const std::clock_t start = std::clock();
  const auto rules = Good(json);
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  ASSERT_NE(rules, nullptr);
  EXPECT_LT(seconds, 10) << "of processor time; a second or so unless sanitized";
  for (size_t i = 0; i < kCount; ++i) {
    const Match match = rules->Match("shop", "search", "user-" + std::to_string(i));
    ASSERT_EQ(Numbers(match.limits[0].limit).most, i);
  }
  EXPECT_EQ(Numbers(rules->Match("shop", "search", "user-100000").limits[0].limit).most, 20u);
}

}  // namespace
}  // namespace weir::match_test
