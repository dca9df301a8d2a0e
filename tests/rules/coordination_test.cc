#include "rules/read/coordination.h"

#include <gtest/gtest.h>

#include "rules/print/print.h"
#include "tests/rules/rules_text.h"
#include "tests/rules/same_rules.h"

namespace weir::coordination_test {
namespace {

using Kind = weir::Coordination::Kind;

constexpr ParseOptions kEverything = {.cluster = true, .divide = true, .redis = true};

std::string Coordinated(const std::string& how, const std::string& algorithm = "token_bucket") {
  return OneLimit("limit: 5, per: 1s, algorithm: " + algorithm + ", coordination: " + how);
}

weir::Coordination Read(const std::string& how) {
  const auto rules = Good(Coordinated(how), kEverything);
  return rules ? rules->all()[0]->coordination : weir::Coordination{};
}

TEST(Coordination, IsLocalUnlessItIsSaid) {
  EXPECT_EQ(Good(OneLimit("limit: 5, per: 1s"))->all()[0]->coordination, weir::Coordination{});
}

TEST(Coordination, EveryKindIsRead) {
  EXPECT_EQ(Read("local"), (weir::Coordination{Kind::kLocal, "", {}}));
  EXPECT_EQ(Read("shared"), (weir::Coordination{Kind::kShared, "", {}}));
  EXPECT_EQ(Read("leased"), (weir::Coordination{Kind::kLeased, "", {}}));
  EXPECT_EQ(Read("replicated"), (weir::Coordination{Kind::kReplicated, "debt", {}}));
  for (const char* how : {"counter", "queue", "debt"}) {
    EXPECT_EQ(Read("{replicated: " + std::string(how) + "}"),
              (weir::Coordination{Kind::kReplicated, how, {}}));
  }
  for (const char* how : {"even", "gtb", "grd", "fps", "supply"}) {
    EXPECT_EQ(Read("{divided: " + std::string(how) + "}"),
              (weir::Coordination{Kind::kDivided, how, {}}));
  }
  EXPECT_EQ(Read("{synced: 250ms}"),
            (weir::Coordination{Kind::kSynced, "", std::chrono::milliseconds(250)}));
}

TEST(Coordination, IsPrintedAsItIsRead) {
  for (const char* how :
       {"local", "shared", "leased", "{replicated: debt}", "{divided: supply}", "{synced: 1s}"}) {
    EXPECT_EQ(PrintCoordination(Read(how)), how);
  }
}

TEST(Coordination, OtherWordsAreRefused) {
  const auto told = [](const std::string& how) { return Mistake(Coordinated(how), kEverything); };
  EXPECT_TRUE(Has(told("@lokal"), "did you mean `local`?"));
  EXPECT_TRUE(Has(told("@divided"), "`{divided: supply}`"));
  EXPECT_TRUE(Has(told("@synced"), "`{synced: 1s}`"));
  EXPECT_TRUE(Has(told("@[local]"), "one word, as `local`"));
  EXPECT_TRUE(Has(told("@{}"), "a map with one key"));
  EXPECT_TRUE(Has(told("@{replicated: debt, divided: even}"), "a map with one key"));
  EXPECT_TRUE(Has(told("{@replicatd: debt}"), "did you mean `replicated`?"));
  EXPECT_TRUE(Has(told("{replicated: @gossip}"), "`counter`, `queue` or `debt`"));
  EXPECT_TRUE(Has(told("{divided: @odd}"), "`even`, `gtb`, `grd`, `fps` or `supply`"));
  EXPECT_TRUE(Has(told("{synced: @1}"), "write `1s`"));
  EXPECT_TRUE(Has(told("{synced: @0s}"), "from `1ms` to `1d`"));
  EXPECT_TRUE(Has(told("{synced: @2d}"), "from `1ms` to `1d`"));
  EXPECT_TRUE(Has(Mistake(OneLimit("limit: 5, per: 1s, coordination@:"), kEverything), "is empty"));
}

struct Pair {
  const char* how;
  const char* algorithm;
  bool goes;
};

class Together : public testing::TestWithParam<Pair> {};

TEST_P(Together, GoOrAreRefused) {
  const Pair& pair = GetParam();
  const ParseResult result =
      ParseRulesText(Coordinated(pair.how, pair.algorithm), "f", kEverything);
  EXPECT_EQ(result.ok(), pair.goes) << ToString(result.errors);
  if (!pair.goes) {
    EXPECT_TRUE(Has(result.errors[0].message, "does not go with")) << result.errors[0].message;
  }
}

constexpr Pair kPairs[] = {
    {"shared", "token_bucket", true},
    {"shared", "fixed_window", true},
    {"shared", "sliding_window", true},
    {"shared", "sliding_log", true},
    {"{replicated: counter}", "token_bucket", true},
    {"{replicated: counter}", "fixed_window", true},
    {"{replicated: counter}", "sliding_window", true},
    {"{replicated: counter}", "sliding_log", false},
    {"{replicated: queue}", "sliding_log", true},
    {"{replicated: queue}", "token_bucket", true},
    {"{replicated: debt}", "token_bucket", true},
    {"{replicated: debt}", "sliding_window", true},
    {"{replicated: debt}", "sliding_log", false},
    {"{divided: even}", "token_bucket", true},
    {"{divided: supply}", "fixed_window", true},
    {"{divided: gtb}", "sliding_window", false},
    {"{divided: fps}", "sliding_log", false},
    {"{synced: 1s}", "token_bucket", true},
    {"{synced: 1s}", "fixed_window", true},
    {"{synced: 1s}", "sliding_window", true},
    {"{synced: 1s}", "sliding_log", false},
    {"leased", "token_bucket", true},
    {"leased", "fixed_window", true},
    {"leased", "sliding_log", false},
};
INSTANTIATE_TEST_SUITE_P(Coordination, Together, testing::ValuesIn(kPairs));

TEST(Coordination, TiersAndCopiesAreLocalOrShared) {
  for (const char* how : {"local", "shared"}) {
    Good(Search("tiers: {tiers: [], coordination: " + std::string(how) + "}"), kEverything);
    Good(Search("copies: {per_subject: 1, coordination: " + std::string(how) + "}"), kEverything);
  }
  for (const char* how : {"replicated", "leased", "{divided: even}", "{synced: 1s}"}) {
    EXPECT_TRUE(Has(
        Mistake(Search("tiers: {tiers: [], coordination: @" + std::string(how) + "}"), kEverything),
        "does not go with `burst_tiers`"));
    EXPECT_TRUE(
        Has(Mistake(Search("copies: {per_subject: 1, coordination: @" + std::string(how) + "}"),
                    kEverything),
            "does not go with `copies`"));
  }
}

TEST(Coordination, NamesTheFlagThatIsMissing) {
  EXPECT_TRUE(Has(Mistake(Coordinated("@replicated")), "`--cluster`"));
  Good(Coordinated("replicated"), {.cluster = true});
  for (const char* how : {"leased", "{divided: even}"}) {
    EXPECT_TRUE(Has(Mistake(Coordinated("@" + std::string(how)), {.divide = true}), "`--cluster`"));
    Good(Coordinated(how), {.cluster = true, .divide = true, .redis = false});
  }
  for (const char* how : {"shared", "{synced: 1s}"}) {
    Good(Coordinated(how), {.cluster = false, .redis = true});
  }
}

// Whoever does what a message says gets what he wants, or is told that there is no such thing: no
// message sends him to a flag or a word that is not there.
TEST(Coordination, WhatIsNotThereYetIsSaidAtOnce) {
  for (const bool cluster : {false, true}) {
    for (const char* how : {"shared", "synced", "{synced: 1s}", "leased", "divided",
                            "{divided: even}", "{divided: supply}"}) {
      for (const char* algorithm : {"token_bucket", "sliding_log"}) {
        const std::string told =
            Mistake(Coordinated("@" + std::string(how), algorithm), {.cluster = cluster});
        EXPECT_TRUE(Has(told, "is not there yet: this version knows `local`")) << told;
        EXPECT_FALSE(Has(told, "--redis")) << told;
      }
    }
    const std::string typo = Mistake(Coordinated("@everywhere"), {.cluster = cluster});
    EXPECT_TRUE(Has(typo, "`local` or `replicated`")) << typo;
    const std::string log =
        Mistake(Coordinated("@replicated", "sliding_log"), {.cluster = cluster});
    EXPECT_FALSE(Has(log, "`shared`")) << log;
  }
}

TEST(Coordination, AWindowFromTheFirstRequestIsNotReplicated) {
  EXPECT_TRUE(Has(Mistake(OneLimit("limit: 5, per: 1h, algorithm: fixed_window, "
                                   "anchor: first_request, coordination: @replicated"),
                          kEverything),
                  "`anchor: epoch`"));
}

TEST(Coordination, OfTiersIsToldOnceHoweverManyOverrides) {
  EXPECT_TRUE(Has(Mistake(Search("tiers: {tiers: [], coordination: @shared}, overrides: [{subject: "
                                 "a, tiers: {tiers: []}}, {subject: b, tiers: {tiers: []}}]")),
                  "not there yet"));
}

// ---- Of a namespace ----

constexpr ParseOptions kCluster = {.cluster = true};

std::string InNamespace(const std::string& coordination, const std::string& limits) {
  return "namespaces: {shop: {coordination: " + coordination + ", resources: {search: {limits: [" +
         limits + "]}}}}";
}

std::string Of(const std::string& coordination, const std::string& limit) {
  const auto rules =
      Good(InNamespace(coordination, "{limit: 5, per: 1h, " + limit + "}"), kCluster);
  return rules == nullptr ? "" : PrintCoordination(rules->all()[0]->coordination);
}

TEST(NamespaceCoordination, IsThatOfLimitsThatSayNothing) {
  EXPECT_EQ(Of("replicated", "algorithm: token_bucket"), "{replicated: debt}");
  EXPECT_EQ(Of("{replicated: queue}", "algorithm: sliding_log"), "{replicated: queue}");
  EXPECT_EQ(Of("local", "algorithm: token_bucket"), "local");
  EXPECT_EQ(Of("replicated", "coordination: local"), "local") << "its own comes first";
  EXPECT_EQ(Of("replicated", "coordination: {replicated: counter}"), "{replicated: counter}");
  EXPECT_EQ(Of("local", "coordination: replicated"), "{replicated: debt}");
  EXPECT_EQ(Of("replicated", "algorithm: sliding_log"), "local") << "it cannot";
  EXPECT_EQ(Of("replicated", "algorithm: fixed_window, anchor: first_request"), "local");
}

constexpr char kAllPlaces[] =
    "namespaces: {shop: {coordination: replicated, resources: {"
    "search: {limits: [{name: a, limit: 5, per: 1s}, {name: b, limit: 5, per: 1s, coordination: "
    "local}], overrides: [{subject: ann, limits: [{name: a, limit: 9}]}, "
    "{subject: bob, limits: [{name: a, coordination: local}, {name: b, coordination: "
    "replicated}]}]},"
    "video: {tiers: {tiers: []}}, sandbox: {copies: {per_subject: 1}}},"
    "contracts: {free: {limits: [{name: month, algorithm: fixed_window, limit: 5, per: 1d}]}},"
    "descriptors: [{key: path, rate_limit: {unit: minute, requests_per_unit: 3}}, "
    "{key: ip, weir: {algorithm: sliding_log, limit: 3, per: 1s}}]}}";

TEST(NamespaceCoordination, ReachesEveryPlaceAndIsPrintedOnce) {
  const auto rules = Good(kAllPlaces, kCluster);
  ASSERT_NE(rules, nullptr);
  std::string all;
  for (const RuleLimit* limit : rules->all()) {
    all += limit->name + ":" + (limit->coordination.kind == Kind::kLocal ? "local " : "all ");
  }
  for (const char* part : {"a:all b:local", "a:local b:all", "tiers:local", "per_subject:local",
                           "month:all", "path:all", "ip:local"}) {
    EXPECT_TRUE(Has(all, part)) << part << ": " << all;
  }
  const std::string printed = PrintRules(*rules);
  EXPECT_TRUE(Has(printed, "    coordination: {replicated: debt}\n")) << printed;
  EXPECT_EQ(Difference(*rules, *Good(printed, kCluster)), "") << printed;
  EXPECT_EQ(printed, PrintRules(*Good(printed, kCluster)));
}

TEST(NamespaceCoordination, IsRefusedWhereNoLimitCouldHaveIt) {
  const auto told = [](const std::string& how, const ParseOptions& options) {
    return Mistake(InNamespace("@" + how, "{limit: 5, per: 1s}"), options);
  };
  EXPECT_TRUE(Has(told("replicated", {}), "`--cluster`"));
  EXPECT_TRUE(Has(told("shared", kCluster), "not there yet"));
  EXPECT_TRUE(Has(told("leased", kEverything), "beside each limit"));
  EXPECT_TRUE(Has(told("lokal", kCluster), "did you mean `local`?"));
}

TEST(NamespaceCoordination, OfRatelimitFilesIsSaidByAFlag) {
  const std::string file =
      "domain: edge\ndescriptors: [{key: path, rate_limit: {unit: minute, requests_per_unit: 3}}, "
      "{key: ip, rate_limit: {unit: minute, requests_per_unit: 3}, weir: {coordination: local}}]";
  const ParseResult local = ParseRatelimitText(file, "edge.yaml", kCluster);
  ASSERT_TRUE(local.ok());
  EXPECT_EQ(local.rules->all()[0]->coordination.kind, Kind::kLocal);
  const ParseResult shared = ParseRatelimitText(
      file, "edge.yaml", {.cluster = true, .ratelimit = CoordinationOfFlag("replicated")});
  ASSERT_TRUE(shared.ok());
  EXPECT_EQ(shared.rules->all()[0]->coordination.kind, Kind::kReplicated);
  EXPECT_EQ(shared.rules->all()[1]->coordination.kind, Kind::kLocal) << "it says so";
}

TEST(NamespaceCoordination, AFlagHasAWord) {
  EXPECT_EQ(CoordinationOfFlag("local"), weir::Coordination{});
  EXPECT_EQ(CoordinationOfFlag("replicated"), (weir::Coordination{Kind::kReplicated, "debt", {}}));
  EXPECT_EQ(CoordinationOfFlag("replicated:queue"),
            (weir::Coordination{Kind::kReplicated, "queue", {}}));
  for (const char* wrong : {"", "shared", "replicated:", "replicated:x", "replicatedqueue"}) {
    EXPECT_FALSE(CoordinationOfFlag(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace weir::coordination_test
