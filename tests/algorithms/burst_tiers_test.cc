#include "algorithms/burst_tiers.h"

#include <gtest/gtest.h>

#include "tests/algorithms/testing.h"

namespace weir::burst_tiers_test {
namespace {

using Tier = BurstTiers::Tier;
using State = BurstTiers::State;

constexpr Instant kT = k2026;

// 5 in a second; burst to 10 for ten seconds, then not for a minute.
BurstTiers TwoTiers(bool skippable = false) {
  return {{Tier{5, 1s, 60s, 0s}, Tier{10, 1s, 10s, 60s, skippable}}};
}

size_t CurrentTier(const BurstTiers& tiers, const State& state, Instant now) {
  return tiers.Current(state, now).tier;
}

// Figure 1: inactive -> active -> cooling -> inactive.
TEST(BurstTiersTest, TierIsActiveThenCoolsThenIsInactive) {
  const BurstTiers tiers{{Tier{5, 1s, 10s, 20s}}};
  State state;
  EXPECT_EQ(CurrentTier(tiers, state, kT), 0u);
  EXPECT_TRUE(Ask(tiers, state, 1, kT));
  EXPECT_EQ(CurrentTier(tiers, state, kT), 1u);
  EXPECT_EQ(CurrentTier(tiers, state, kT + 10s - kNano), 1u);
  EXPECT_EQ(tiers.Room(state, kT + 10s - kNano), 5u);
  EXPECT_EQ(CurrentTier(tiers, state, kT + 10s), 0u);
  EXPECT_EQ(tiers.Room(state, kT + 10s), 0u);
  EXPECT_EQ(tiers.Room(state, kT + 30s - kNano), 0u);
  EXPECT_EQ(tiers.Room(state, kT + 30s), 5u);
  EXPECT_EQ(tiers.When(state, 1, kT + 10s), kT + 30s);
}

TEST(BurstTiersTest, ActiveTimeRunsFromTheFirstHit) {
  const BurstTiers tiers{{Tier{5, 1s, 10s, 20s}}};
  State state;
  for (const Duration at : {0s, 3s, 9s}) EXPECT_TRUE(Ask(tiers, state, 1, kT + at));
  EXPECT_EQ(tiers.Room(state, kT + 10s), 0u);
  EXPECT_TRUE(Ask(tiers, state, 1, kT + 30s));  // enters again
  EXPECT_EQ(CurrentTier(tiers, state, kT + 40s - kNano), 1u);
}

// Figure 2: the current tier is full, the next hit bursts.
TEST(BurstTiersTest, FullTierBurstsIntoTheNext) {
  const BurstTiers tiers = TwoTiers();
  State state;
  EXPECT_TRUE(tiers.Take(state, 5, kT).burst);  // into tier 1
  EXPECT_FALSE(tiers.Take(state, 1, kT + 2s).burst);
  EXPECT_FALSE(tiers.Take(state, 4, kT + 2s).burst);
  const BurstTiers::Receipt receipt = tiers.Take(state, 1, kT + 2s);
  EXPECT_TRUE(receipt.burst);
  EXPECT_EQ(receipt.by_tier[0], 0u);
  EXPECT_EQ(receipt.by_tier[1], 1u);
  const BurstTiers::View view = tiers.Current(state, kT + 2s);
  EXPECT_EQ(view.tier, 2u);
  EXPECT_EQ(view.limit, 10u);
  EXPECT_EQ(view.hits, 1u);  // a hit is in exactly one tier: erratum 8
  EXPECT_EQ(tiers.Room(state, kT + 2s), 9u);
}

// Figure 3: the upper tier cools, the burst is blocked.
TEST(BurstTiersTest, CoolingTierBlocksTheBurst) {
  const BurstTiers tiers = TwoTiers();
  State state;
  EXPECT_TRUE(Ask(tiers, state, 6, kT));               // tier 2 is active until 10 s
  EXPECT_EQ(CurrentTier(tiers, state, kT + 10s), 1u);  // fallback
  EXPECT_EQ(tiers.Room(state, kT + 10s), 5u);
  EXPECT_TRUE(Ask(tiers, state, 5, kT + 20s));
  EXPECT_FALSE(Ask(tiers, state, 1, kT + 20s));
  EXPECT_EQ(tiers.When(state, 1, kT + 20s), kT + 21s + kNano);  // tier 1 has room again
  EXPECT_EQ(tiers.When(state, 6, kT + 20s), kT + 70s);          // tier 2 has cooled
}

TEST(BurstTiersTest, SkippableCoolingTierIsPassed) {
  const Tier third{20, 1s, 5s, 600s};
  const BurstTiers skippable{{Tier{5, 1s, 60s, 0s}, Tier{10, 1s, 10s, 60s, true}, third}};
  const BurstTiers blocking{{Tier{5, 1s, 60s, 0s}, Tier{10, 1s, 10s, 60s, false}, third}};
  for (const BurstTiers& tiers : {skippable, blocking}) {
    State state;
    EXPECT_TRUE(Ask(tiers, state, 6, kT));
    const bool passed = tiers.tiers[1].skippable;
    EXPECT_EQ(tiers.Room(state, kT + 20s), passed ? 25u : 5u);
    EXPECT_EQ(Ask(tiers, state, 6, kT + 20s), passed);
    EXPECT_EQ(CurrentTier(tiers, state, kT + 20s), passed ? 3u : 1u);
  }
}

TEST(BurstTiersTest, FullTierThatIsNotCoolingIsPassedWithoutBeingEntered) {
  // The hits of tier 2 count for 30 s, whatever becomes of its state.
  const BurstTiers tiers{{Tier{1, 1s, 60s, 0s}, Tier{2, 30s, 5s, 0s}, Tier{4, 1s, 5s, 0s}}};
  State state;
  EXPECT_TRUE(Ask(tiers, state, 3, kT));
  EXPECT_EQ(CurrentTier(tiers, state, kT + 10s), 1u);
  const BurstTiers::Receipt receipt = tiers.Take(state, 2, kT + 10s);
  EXPECT_EQ(receipt.by_tier[0], 1u);
  EXPECT_EQ(receipt.by_tier[1], 0u);
  EXPECT_EQ(receipt.by_tier[2], 1u);
  EXPECT_EQ(state.tiers[1].entry, kT);
  EXPECT_EQ(CurrentTier(tiers, state, kT + 15s), 1u);
}

TEST(BurstTiersTest, FallbackMayDropSeveralLevels) {
  const BurstTiers tiers{{Tier{1, 1s, 60s, 0s}, Tier{1, 1s, 5s, 60s}, Tier{1, 1s, 5s, 60s}}};
  State state;
  EXPECT_TRUE(Ask(tiers, state, 3, kT));
  EXPECT_EQ(CurrentTier(tiers, state, kT + 5s - kNano), 3u);
  EXPECT_EQ(CurrentTier(tiers, state, kT + 5s), 1u);
}

TEST(BurstTiersTest, BulkRequestFillsTheCurrentTierAndBurstsOn) {
  const BurstTiers tiers{{Tier{5, 1s, 60s, 0s}, Tier{10, 1s, 10s, 60s}, Tier{20, 1s, 5s, 600s}}};
  State state;
  EXPECT_EQ(tiers.Room(state, kT), 35u);
  const BurstTiers::Receipt receipt = tiers.Take(state, 12, kT);
  EXPECT_EQ(receipt.by_tier[0], 5u);
  EXPECT_EQ(receipt.by_tier[1], 7u);
  EXPECT_FALSE(state.tiers[2].entered);  // only the tiers that are needed
  EXPECT_EQ(tiers.Room(state, kT), 23u);
}

TEST(BurstTiersTest, HitCountsWhileItIsNotOlderThanTheWindow) {
  const BurstTiers tiers{{Tier{5, 1s, 60s, 0s}}};
  State state;
  EXPECT_TRUE(Ask(tiers, state, 5, kT));
  EXPECT_EQ(tiers.Room(state, kT + 1s), 0u);
  EXPECT_EQ(tiers.Room(state, kT + 1s + kNano), 5u);
  EXPECT_EQ(tiers.When(state, 1, kT), kT + 1s + kNano);
}

TEST(BurstTiersTest, RoomShrinksWhenTheCurrentTierFallsBack) {
  const BurstTiers tiers = TwoTiers();
  State state;
  EXPECT_TRUE(Ask(tiers, state, 6, kT));
  EXPECT_EQ(tiers.Room(state, kT + 10s - kNano), 10u);
  EXPECT_EQ(tiers.Room(state, kT + 10s), 5u);
  EXPECT_EQ(tiers.When(state, 10, kT + 9s), kT + 9s);
  EXPECT_EQ(tiers.When(state, 10, kT + 10s), kT + 70s);
}

TEST(BurstTiersTest, MoreThanTheSumOfTheLimitsIsNeverAdmitted) {
  const BurstTiers tiers = TwoTiers();
  EXPECT_EQ(tiers.Capacity(), 15u);
  EXPECT_EQ(tiers.When({}, 15, kT), kT);
  EXPECT_EQ(tiers.When({}, 16, kT), kEndOfTime);
  EXPECT_EQ((BurstTiers{{Tier{UINT64_MAX}, Tier{2}}}.Capacity()), UINT64_MAX);
}

TEST(BurstTiersTest, WithoutTiersTheResourceIsInaccessible) {
  const BurstTiers tiers;
  EXPECT_EQ(tiers.Room({}, kT), 0u);
  EXPECT_EQ(tiers.When({}, 1, kT), kEndOfTime);
  State state;
  tiers.Charge(state, 5, kT);
  EXPECT_EQ(tiers.Room(state, kT), 0u);
}

TEST(BurstTiersTest, TierOfLimitZeroIsPassed) {
  const BurstTiers tiers{{Tier{0, 1s, 60s, 0s}, Tier{3, 1s, 10s, 0s}}};
  State state;
  EXPECT_EQ(tiers.Room(state, kT), 3u);
  EXPECT_TRUE(Ask(tiers, state, 3, kT));
  EXPECT_FALSE(state.tiers[0].entered);
  EXPECT_EQ(CurrentTier(tiers, state, kT), 2u);
}

TEST(BurstTiersTest, RefusalLeavesStateUntouched) {
  const BurstTiers tiers = TwoTiers();
  State state;
  EXPECT_TRUE(Ask(tiers, state, 15, kT));
  const State before = state;
  EXPECT_FALSE(Ask(tiers, state, 1, kT + 500ms));
  EXPECT_EQ(state, before);
}

// Cookbook of section 2.3.
TEST(BurstTiersTest, PenaltyLetsBurstsThroughButNotForGood) {
  const BurstTiers tiers{{Tier{10, 1s, 60s, 0s}, Tier{50, 1s, 10s, 100s}, Tier{200, 1s, 2s, 400s}}};
  State state;
  EXPECT_TRUE(Ask(tiers, state, 260, kT));  // as much as can be
  EXPECT_FALSE(Ask(tiers, state, 1, kT + 1s));
  EXPECT_EQ(tiers.Room(state, kT + 1500ms), 200u);
  EXPECT_EQ(tiers.Room(state, kT + 2s), 50u);   // forced down a tier
  EXPECT_EQ(tiers.Room(state, kT + 10s), 10u);  // and another
  EXPECT_EQ(tiers.Room(state, kT + 109s), 10u);
  EXPECT_EQ(tiers.Room(state, kT + 110s), 60u);  // tier 3 still cools, and blocks no one below
  EXPECT_EQ(tiers.Room(state, kT + 402s), 260u);
}

TEST(BurstTiersTest, PrisonHoldsWhoeverEntersIt) {
  // A buffer tier may be entered by anyone; the prison has a window equal to its active time.
  const BurstTiers tiers{{Tier{5, 1s, 60s, 0s}, Tier{5, 1s, 5s, 0s}, Tier{1, 1h, 1h, 0s}}};
  State state;
  EXPECT_TRUE(Ask(tiers, state, 8, kT));
  EXPECT_TRUE(Ask(tiers, state, 8, kT + 6s));  // the buffer, only slightly: harmless
  EXPECT_TRUE(Ask(tiers, state, 3, kT + 6s));  // through the whole buffer: imprisoned
  EXPECT_EQ(CurrentTier(tiers, state, kT + 6s), 3u);
  EXPECT_FALSE(Ask(tiers, state, 1, kT + 7s));
  EXPECT_EQ(tiers.Room(state, kT + 6s + 1h - kNano), 0u);
  EXPECT_EQ(tiers.When(state, 1, kT + 7s), kT + 6s + 1h);
  EXPECT_EQ(tiers.Room(state, kT + 6s + 1h), 10u);  // the prison's hit still counts this instant
  EXPECT_EQ(tiers.Room(state, kT + 6s + 1h + kNano), 11u);
}

TEST(BurstTiersTest, BatchOfFiveThousandOnceADay) {
  const BurstTiers tiers{{Tier{5000, 300s, 300s, 86100s}}};
  State state;
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(Ask(tiers, state, 100, kT + i * 1s));
  EXPECT_FALSE(Ask(tiers, state, 1, kT + 60s));
  EXPECT_EQ(tiers.Room(state, kT + 300s), 0u);
  EXPECT_EQ(tiers.When(state, 1, kT + 60s), kT + 24h);
  EXPECT_EQ(tiers.When(state, 5000, kT + 60s), kT + 24h);
  EXPECT_FALSE(Ask(tiers, state, 1, kT + 24h - kNano));
  EXPECT_TRUE(Ask(tiers, state, 5000, kT + 24h));
}

TEST(BurstTiersTest, ChargeGoesToTheCurrentTierWithoutBursting) {
  const BurstTiers tiers = TwoTiers();
  State state;
  EXPECT_TRUE(tiers.Charge(state, 8, kT).burst);  // tier 1 is entered, and overfull
  EXPECT_EQ(CurrentTier(tiers, state, kT), 1u);
  EXPECT_EQ(tiers.Current(state, kT).hits, 8u);
  EXPECT_EQ(tiers.Room(state, kT), 10u);
  EXPECT_FALSE(state.tiers[1].entered);
  EXPECT_EQ(tiers.Use(state, kT), 8u);
}

TEST(BurstTiersTest, ChargeWhileTierOneCoolsLeavesItsState) {
  const BurstTiers tiers{{Tier{5, 1s, 10s, 20s}}};
  State state;
  EXPECT_TRUE(Ask(tiers, state, 1, kT));
  EXPECT_FALSE(tiers.Charge(state, 3, kT + 15s).burst);
  EXPECT_EQ(state.tiers[0].entry, kT);
  EXPECT_EQ(tiers.Use(state, kT + 15s), 3u);
  EXPECT_EQ(tiers.Room(state, kT + 30s), 5u);
}

TEST(BurstTiersTest, RefundRemovesHitsFromTheTopAndLeavesTheStates) {
  const BurstTiers tiers = TwoTiers();
  State state;
  const BurstTiers::Receipt receipt = tiers.Take(state, 8, kT);
  EXPECT_EQ(tiers.Refund(state, receipt, 4, kT), 4u);
  EXPECT_EQ(tiers.Use(state, kT), 4u);
  EXPECT_EQ(CurrentTier(tiers, state, kT), 2u);
  EXPECT_EQ(tiers.Room(state, kT), 10u);  // of tier 2, which is current; tier 1 has been left
  EXPECT_EQ(tiers.Refund(state, receipt, 4, kT + 1s + kNano), 0u);
}

TEST(BurstTiersTest, ResetIsTheLaterOfTheLastHitAndTheLastCooldown) {
  const BurstTiers cooling = TwoTiers();
  State state;
  cooling.Take(state, 6, kT);
  EXPECT_EQ(cooling.Reset(state, kT), kT + 70s);
  EXPECT_EQ(cooling.Reset(state, kT + 80s), kT + 80s);
  const BurstTiers counting{{Tier{5, 60s, 1s, 1s}}};
  state = {};
  counting.Take(state, 1, kT);
  EXPECT_EQ(counting.Reset(state, kT), kT + 60s + kNano);
}

TEST(BurstTiersTest, TierAboveTheFirstOrCoolingIsForgottenLast) {
  const BurstTiers tiers = TwoTiers();
  State state;
  EXPECT_EQ(tiers.Fill(state, kT), 0u);
  tiers.Take(state, 1, kT);
  EXPECT_EQ(tiers.Fill(state, kT), kFull / 5);
  tiers.Take(state, 5, kT);
  EXPECT_EQ(tiers.Fill(state, kT + 9s), kFull);
  EXPECT_EQ(tiers.Fill(state, kT + 69s), kFull);
  EXPECT_EQ(tiers.Fill(state, kT + 70s), 0u);
}

TEST(BurstTiersTest, EarlierInstantIsTreatedAsTheLatestHits) {
  const BurstTiers tiers = TwoTiers();
  State state;
  EXPECT_TRUE(Ask(tiers, state, 5, kT));
  EXPECT_EQ(tiers.Take(state, 1, kT - 1h).at, kT);
  EXPECT_EQ(tiers.Room(state, kT - 1h), 9u);
  EXPECT_EQ(tiers.When(state, 10, kT - 1h), kT + 1s + kNano);
}

TEST(BurstTiersTest, WaitIsFoundAmongAMillionHits) {
  const BurstTiers tiers{{Tier{1'000'000, 1h, 1h, 0s}}};
  State state;
  for (int i = 0; i < 1'000'000; ++i) tiers.Take(state, 1, kT + i * 1us);
  EXPECT_EQ(tiers.When(state, 1, kT + 10s), kT + 1h + kNano);
  EXPECT_EQ(tiers.When(state, 1000, kT + 10s), kT + 1h + 999us + kNano);
}

TEST(BurstTiersTest, EndlessCooldownDoesNotOverflow) {
  const BurstTiers tiers{{Tier{1, 1s, 1s, Duration::max()}}};
  State state;
  EXPECT_TRUE(Ask(tiers, state, 1, k2094));
  EXPECT_EQ(tiers.Room(state, k2094 + kTenYears), 0u);
  EXPECT_GE(tiers.When(state, 1, k2094), k2094 + 10 * kTenYears);
}

}  // namespace
}  // namespace weir::burst_tiers_test
