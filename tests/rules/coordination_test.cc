#include "rules/coordination.h"

#include <gtest/gtest.h>

#include "tests/rules/rules_text.h"

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
  for (const char* how : {"replicated", "leased", "{divided: even}"}) {
    EXPECT_TRUE(Has(Mistake(Coordinated("@" + std::string(how))), "`--cluster`")) << how;
    Good(Coordinated(how), {.cluster = true, .divide = true, .redis = false});
  }
  EXPECT_TRUE(Has(Mistake(Coordinated("@leased"), {.cluster = true}), "not there yet"));
  for (const char* how : {"shared", "{synced: 1s}"}) {
    EXPECT_TRUE(Has(Mistake(Coordinated("@" + std::string(how))), "`--redis`")) << how;
    Good(Coordinated(how), {.cluster = false, .redis = true});
  }
}

TEST(Coordination, OfTiersIsToldOnceHoweverManyOverrides) {
  EXPECT_TRUE(Has(Mistake(Search("tiers: {tiers: [], coordination: @shared}, overrides: [{subject: "
                                 "a, tiers: {tiers: []}}, {subject: b, tiers: {tiers: []}}]")),
                  "--redis"));
}

}  // namespace
}  // namespace weir::coordination_test
