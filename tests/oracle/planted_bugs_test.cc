// The oracle can fail: each of these is right but for one mistake that somebody has made before. It
// must be caught soon.
#include <gtest/gtest.h>

#include "lab/oracle/burst_tiers_oracle.h"
#include "lab/oracle/fixed_window_oracle.h"
#include "lab/oracle/run.h"
#include "lab/oracle/sliding_log_oracle.h"
#include "lab/oracle/sliding_window_oracle.h"
#include "lab/oracle/token_bucket_oracle.h"

namespace weir::oracle::planted_bugs_test {
namespace {

// Makes the wrong model from the numbers of a limit.
template <typename Algorithm, typename Make>
ModelMaker Planted(Make make) {
  return [make](const Limit& limit) -> std::unique_ptr<Model> {
    return make(std::get<Algorithm>(limit));
  };
}

void ExpectCaught(std::string_view algorithm, const ModelMaker& planted) {
  const OracleReport report = RunOracle(algorithm, 50'000, 1, {}, planted);
  EXPECT_GT(report.mismatches, 0u) << "not caught in " << report.decisions << " decisions";
  EXPECT_NE(report.first_mismatch.find("tested: "), std::string::npos);
  EXPECT_NE(report.first_mismatch.find("--seed "), std::string::npos);
}

auto MakeBucket = [](const TokenBucket& a) {
  return std::make_unique<TokenBucketOracle>(a.limit, a.per.count(), a.burst);
};

TEST(PlantedBugsTest, TheOracleItselfIsNotCaught) {
  for (const std::string_view algorithm : {"token_bucket", "fixed_window", "burst_tiers"}) {
    EXPECT_EQ(RunOracle(algorithm, 50'000, 1, {}, MakeOracle).mismatches, 0u);
  }
}

// Each refill is rounded down to whole tokens (erratum 18).
class LossyBucket : public TokenBucketOracle {
 public:
  using TokenBucketOracle::TokenBucketOracle;
  void Charge(uint64_t n, Instant now) override {
    const int128 fraction = Debt(now) % per();
    if (fraction != 0) Add(per() - fraction, now);
    TokenBucketOracle::Charge(n, now);
  }
};

TEST(PlantedBugsTest, BucketThatLosesFractionsIsCaught) {
  ExpectCaught("token_bucket", Planted<TokenBucket>([](const TokenBucket& a) {
                 return std::make_unique<LossyBucket>(a.limit, a.per.count(), a.burst);
               }));
}

// Gives back whatever is owed, although it may have been refilled.
class MintingBucket : public TokenBucketOracle {
 public:
  using TokenBucketOracle::TokenBucketOracle;
  uint128 Refund(uint64_t, uint64_t n, Instant now) override {
    const int128 back = std::min<int128>(n * per(), Debt(now));
    Add(-back, now);
    return static_cast<uint128>(back);
  }
};

TEST(PlantedBugsTest, BucketThatMintsTokensIsCaught) {
  ExpectCaught("token_bucket", Planted<TokenBucket>([](const TokenBucket& a) {
                 return std::make_unique<MintingBucket>(a.limit, a.per.count(), a.burst);
               }));
}

// Rounds the wait down where it must round up.
class ImpatientBucket : public TokenBucketOracle {
 public:
  using TokenBucketOracle::TokenBucketOracle;
  Instant When(uint64_t n, Instant from) const override {
    const Instant then = TokenBucketOracle::When(n, from);
    return then == kEndOfTime ? then : std::max(from, then - Duration(1));
  }
};

TEST(PlantedBugsTest, RetryAfterThatIsANanosecondShortIsCaught) {
  ExpectCaught("token_bucket", Planted<TokenBucket>([](const TokenBucket& a) {
                 return std::make_unique<ImpatientBucket>(a.limit, a.per.count(), a.burst);
               }));
}

// Charges for refusals.
class GrudgingBucket : public TokenBucketOracle {
 public:
  using TokenBucketOracle::TokenBucketOracle;
  void Reject(uint64_t, Instant now) override { Charge(1, now); }
};

TEST(PlantedBugsTest, RefusalThatCostsIsCaught) {
  ExpectCaught("token_bucket", Planted<TokenBucket>([](const TokenBucket& a) {
                 return std::make_unique<GrudgingBucket>(a.limit, a.per.count(), a.burst);
               }));
}

TEST(PlantedBugsTest, WindowThatEndsANanosecondLateIsCaught) {
  const auto late = [](const FixedWindow& a) -> std::unique_ptr<Model> {
    if (a.anchor != FixedWindow::Anchor::kEpoch) return MakeOracle(a);
    const auto right = FixedWindowOracle::FromEpoch(a.per.count());
    return std::make_unique<FixedWindowOracle>(a.limit, [right](Instant now) {
      FixedWindowOracle::Window window = right(now);
      ++window.end;
      return window;
    });
  };
  ExpectCaught("fixed_window", Planted<FixedWindow>(late));
}

// now - t < per, where it must be <=.
TEST(PlantedBugsTest, LogThatForgetsANanosecondEarlyIsCaught) {
  ExpectCaught("sliding_log", Planted<SlidingLog>([](const SlidingLog& a) {
                 return std::make_unique<SlidingLogOracle>(a.limit, a.per.count() - 1,
                                                           a.keep_rejected);
               }));
}

TEST(PlantedBugsTest, LogThatForgetsRefusalsIsCaught) {
  ExpectCaught("sliding_log", Planted<SlidingLog>([](const SlidingLog& a) {
                 return std::make_unique<SlidingLogOracle>(a.limit, a.per.count(), false);
               }));
}

// The overlap's share of the edge is rounded to whole tokens.
class RoundingWindow : public SlidingWindowOracle {
 public:
  using SlidingWindowOracle::SlidingWindowOracle;
  int128 Used(const Sums& sums, Instant now) const override {
    return SlidingWindowOracle::Used(sums, now) / per_ * per_;
  }
};

TEST(PlantedBugsTest, EdgeThatIsRoundedIsCaught) {
  ExpectCaught("sliding_window", Planted<SlidingWindow>([](const SlidingWindow& a) {
                 return std::make_unique<RoundingWindow>(a.limit, a.per.count(), a.slices, a.edge);
               }));
}

// A hit is kept in every tier up to the one that grants it (erratum 8).
class GreedyTiers : public BurstTiersOracle {
 public:
  using BurstTiersOracle::BurstTiersOracle;
  void Record(size_t tier, uint64_t n, int64_t now, uint64_t ticket) override {
    for (size_t i = 0; i <= tier; ++i) BurstTiersOracle::Record(i, n, now, ticket);
  }
};

TEST(PlantedBugsTest, TiersThatAllKeepAHitAreCaught) {
  ExpectCaught("burst_tiers", Planted<BurstTiers>([](const BurstTiers& a) {
                 return std::make_unique<GreedyTiers>(a.tiers);
               }));
}

TEST(PlantedBugsTest, TiersThatCannotBeSkippedAreCaught) {
  ExpectCaught("burst_tiers", Planted<BurstTiers>([](const BurstTiers& a) {
                 std::vector<BurstTiers::Tier> tiers = a.tiers;
                 for (BurstTiers::Tier& tier : tiers) tier.skippable = false;
                 return std::make_unique<BurstTiersOracle>(tiers);
               }));
}

// What is printed is short: a bug that shows at once is shown by one request.
TEST(PlantedBugsTest, HistoryIsShrunk) {
  const auto planted = Planted<TokenBucket>(
      [](const TokenBucket& a) { return MakeBucket(TokenBucket(a.limit, a.per, a.burst + 1)); });
  const OracleReport report = RunOracle("token_bucket", 50'000, 1, {}, planted);
  size_t events = 0;
  for (size_t at = 0; (at = report.first_mismatch.find("oracle: ", at)) != std::string::npos;
       ++at) {
    ++events;
  }
  EXPECT_EQ(events, 1u) << report.first_mismatch;
}

}  // namespace
}  // namespace weir::oracle::planted_bugs_test
