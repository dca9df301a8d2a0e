// Every algorithm against its oracle: 10^7 random decisions each, or WEIR_ORACLE_DECISIONS.
#include <gtest/gtest.h>

#include <cstdlib>

#include "lab/oracle/random_limit.h"
#include "lab/oracle/run.h"

namespace weir::oracle::oracle_test {
namespace {

uint64_t Decisions() {
  const char* const number = std::getenv("WEIR_ORACLE_DECISIONS");
  return number != nullptr ? std::strtoull(number, nullptr, 10) : 10'000'000;
}

void ExpectExact(std::string_view algorithm) {
  const OracleReport report = RunOracle(algorithm, Decisions(), 1);
  EXPECT_EQ(report.mismatches, 0u) << report.first_mismatch;
  EXPECT_GE(report.decisions, Decisions());
  // All kinds of events occur.
  EXPECT_GT(report.admitted, report.decisions / 4);
  EXPECT_GT(report.refused, report.decisions / 4);
  EXPECT_GT(report.settled, report.decisions / 50);
}

TEST(OracleTest, TokenBucketIsExact) { ExpectExact("token_bucket"); }
TEST(OracleTest, FixedWindowIsExact) { ExpectExact("fixed_window"); }
TEST(OracleTest, SlidingLogIsExact) { ExpectExact("sliding_log"); }
TEST(OracleTest, SlidingWindowIsExact) { ExpectExact("sliding_window"); }
TEST(OracleTest, BurstTiersAreExact) { ExpectExact("burst_tiers"); }

TEST(OracleTest, RandomLimitsAreOnesThatARuleMayHave) {
  for (const std::string_view algorithm : Algorithms()) {
    Random random(7);
    for (int i = 0; i < 100'000; ++i) {
      const Limit limit = RandomLimit(algorithm, &random);
      std::string field;
      ASSERT_EQ(Check(limit, &field), "") << Describe(limit);
    }
  }
}

TEST(OracleTest, SameSeedSameRun) {
  for (const std::string_view algorithm : Algorithms()) {
    const OracleReport one = RunOracle(algorithm, 20'000, 5);
    const OracleReport two = RunOracle(algorithm, 20'000, 5);
    EXPECT_EQ(one.decisions, two.decisions);
    EXPECT_EQ(one.admitted, two.admitted);
    EXPECT_EQ(one.refused, two.refused);
    EXPECT_EQ(one.settled, two.settled);
  }
}

}  // namespace
}  // namespace weir::oracle::oracle_test
