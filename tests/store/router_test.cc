// A request whose limits are decided in two places.
#include "store/router.h"

#include <gtest/gtest.h>

#include "tests/store/routing.h"

namespace weir::router_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::KeyOf;
using testing::RoutedRequest;

using RouterTest = testing::RouterTest;

// ---- Both answer ----

TEST_F(RouterTest, TakesInBothPlacesOrInNone) {
  const LimitSlot* a = Here(Bucket(10));
  const LimitSlot* b = Remote(Bucket(3));
  std::vector<Charge> charges = {{KeyOf(1), a, 2, 2}, {KeyOf(2), b, 2, 2}};
  for (const bool allowed : {true, false}) {
    RoutedRequest routing;
    ASSERT_TRUE(Waits(routing, charges));
    EXPECT_EQ(router.waiting(), 1u);
    Answer();
    EXPECT_EQ(routing.answers, 1);
    EXPECT_EQ(routing.admitted.allowed, allowed);
    EXPECT_EQ(routing.admitted.granted, allowed ? 2u : 0u);
    EXPECT_EQ(charges[0].remaining, 8u);
    EXPECT_EQ(charges[0].taken, allowed ? 2u : 0u);
    EXPECT_EQ(charges[1].remaining, 1u);
    EXPECT_EQ(charges[1].refused, !allowed);
    EXPECT_FALSE(routing.admitted.degraded);
    ExpectNothingLeft();
  }
  EXPECT_EQ(Left(a, 1), 8u);
  EXPECT_EQ(Left(b, 2), 1u);
}

TEST_F(RouterTest, WhatIsDecidedHereAloneAsksNobodyElse) {
  const LimitSlot* a = Here(Bucket(10));
  std::vector<Charge> charges = {{KeyOf(1), a, 2, 2}};
  RoutedRequest routing;
  EXPECT_FALSE(Waits(routing, charges));
  EXPECT_TRUE(routing.admitted.allowed);
  EXPECT_EQ(routing.admitted.granted, 2u);
  EXPECT_TRUE(remote.asked.empty());
  ExpectNothingLeft();
}

TEST_F(RouterTest, GrantsTheLeastOfBoth) {
  const LimitSlot* a = Here(Bucket(10));
  const LimitSlot* b = Remote(Bucket(20));
  const LimitSlot* c = Here(Bucket(4));
  for (const uint64_t there_left : {20, 3, 0}) {
    const uint64_t key = 10 * there_left;
    if (there_left < 20) testing::Take(there, b, key + 2, 20 - there_left, clock.Now());
    std::vector<Charge> charges = {
        {KeyOf(key + 1), a, 9, 0}, {KeyOf(key + 2), b, 9, 0}, {KeyOf(key + 3), c, 9, 0}};
    RoutedRequest routing;
    routing.keeps_receipts = true;
    ASSERT_TRUE(Waits(routing, charges));
    Answer();
    const uint64_t granted = std::min<uint64_t>(4, there_left);
    EXPECT_TRUE(routing.admitted.allowed);
    EXPECT_EQ(routing.admitted.granted, granted);
    for (const Charge& charge : charges) {
      EXPECT_EQ(charge.taken, granted);
      EXPECT_EQ(charge.cost, 9u) << "the question is what it was";
    }
    EXPECT_EQ(charges[0].remaining, 10 - granted);
    EXPECT_EQ(Left(a, key + 1), 10 - granted);
    EXPECT_EQ(Left(b, key + 2), there_left - granted);
    EXPECT_EQ(Left(c, key + 3), 4 - granted);
    // Whatever was granted, nothing too, can be settled.
    ASSERT_EQ(routing.receipts.size(), 3u);
    for (const Receipt& receipt : routing.receipts) {
      (receipt.remote ? there : here).SettleNow({&receipt, 1}, 4, clock.Now());
    }
    EXPECT_EQ(Left(a, key + 1), 6u);
    ExpectNothingLeft();
  }
}

// Whatever the algorithms, and whatever was there before.
TEST_F(RouterTest, ARemoteRefusalLeavesEveryStateHereAsItWas) {
  const LimitSlot* none = Remote(Bucket(1));
  testing::Take(there, none, 999, 1, clock.Now());
  Random random(3);
  for (uint64_t round = 0; round < 500; ++round) {
    std::vector<Charge> charges;
    const size_t count = 1 + random.Below(3);
    for (size_t i = 0; i < count; ++i) {
      const LimitSlot* slot = Here(testing::RandomLimit(random));
      const uint64_t key = round * 10 + i;
      for (uint64_t j = random.Below(3); j > 0; --j) testing::Take(here, slot, key, 1, clock.Now());
      charges.emplace_back(KeyOf(key), slot, 1, 1, random.Below(4) == 0);
    }
    charges.insert(charges.begin() + static_cast<std::ptrdiff_t>(random.Below(count + 1)),
                   Charge(KeyOf(999), none, 1, 1));
    std::vector<std::string> before;
    for (size_t i = 0; i < count; ++i) before.push_back(Bytes(round * 10 + i));
    RoutedRequest routing;
    routing.keeps_receipts = random.Below(2) == 0;
    const bool waits = Waits(routing, charges);
    ASSERT_TRUE(waits);
    const bool refused_here = remote.asked.back() == Want::kLook;
    Answer();
    EXPECT_FALSE(routing.admitted.allowed);
    for (size_t i = 0; i < count; ++i) {
      const auto* log = std::get_if<SlidingLog>(&slots()[slots().size() - count + i]->limit);
      if (refused_here && log != nullptr && log->keep_rejected) continue;  // its own refusal
      ASSERT_EQ(Bytes(round * 10 + i), before[i]) << "round " << round;
    }
    ExpectNothingLeft();
  }
}

TEST_F(RouterTest, ARefusalHereOnlyLooksElsewhereAndTellsOfAll) {
  const LimitSlot* a = Here(TokenBucket(1, seconds(3), 1));
  const LimitSlot* b = Remote(TokenBucket(4, seconds(40), 4));
  testing::Take(here, a, 1, 1, clock.Now());
  testing::Take(there, b, 2, 1, clock.Now());
  for (const uint64_t least : {2, 4}) {
    std::vector<Charge> charges = {{KeyOf(1), a, 1, 1}, {KeyOf(2), b, 4, least}};
    RoutedRequest routing;
    ASSERT_TRUE(Waits(routing, charges));
    EXPECT_EQ(remote.asked.back(), Want::kLook);
    Answer();
    EXPECT_FALSE(routing.admitted.allowed);
    EXPECT_EQ(routing.admitted.granted, 0u);
    EXPECT_TRUE(charges[0].refused);
    EXPECT_EQ(charges[1].refused, least == 4) << "it has room for three";
    EXPECT_EQ(charges[1].remaining, 3u);
    EXPECT_EQ(routing.admitted.retry_after, least == 4 ? seconds(10) : seconds(3));
    EXPECT_EQ(Left(b, 2), 3u);
    ExpectNothingLeft();
  }
}

TEST_F(RouterTest, LookingTakesNothingAnywhere) {
  const LimitSlot* a = Here(Bucket(10));
  const LimitSlot* b = Remote(Bucket(3));
  std::vector<Charge> charges = {{KeyOf(1), a, 5, 1}, {KeyOf(2), b, 5, 1}};
  RoutedRequest routing;
  routing.want = Want::kLook;
  routing.keeps_receipts = true;
  ASSERT_TRUE(Waits(routing, charges));
  Answer();
  EXPECT_TRUE(routing.admitted.allowed);
  EXPECT_EQ(routing.admitted.granted, 3u);
  EXPECT_EQ(charges[0].remaining, 10u);
  EXPECT_EQ(charges[1].remaining, 3u);
  EXPECT_TRUE(routing.receipts.empty());
  ExpectNothingLeft();
}

// What is given back here is shown as it is then, not as it was when it was taken.
TEST_F(RouterTest, TellsOfStatesHereAsTheyAreAfterwards) {
  const LimitSlot* a = Here(BurstTiers{{{2, seconds(1), seconds(10), seconds(0), false},
                                        {4, seconds(1), seconds(5), seconds(20), false}}});
  const LimitSlot* b = Remote(Bucket(2));
  std::vector<Charge> charges = {{KeyOf(1), a, 5, 1}, {KeyOf(2), b, 5, 1}};
  RoutedRequest routing;
  ASSERT_TRUE(Waits(routing, charges));
  Answer();
  EXPECT_EQ(routing.admitted.granted, 2u);
  EXPECT_EQ(charges[0].tier, 1u) << "the second tier is not needed for two";
  EXPECT_EQ(charges[0].tier_hits, 2u);
  EXPECT_EQ(charges[0].reset_after, seconds(10));
  charges[0].least = charges[1].least = 5;
  RoutedRequest refused;
  charges[0].key = KeyOf(3);
  ASSERT_TRUE(Waits(refused, charges));
  Answer();
  EXPECT_EQ(charges[0].tier, 0u);
  EXPECT_EQ(charges[0].reset_after, seconds(0));
  EXPECT_FALSE(charges[0].burst);
}

// ---- Shadows, quotas, refunds ----

TEST_F(RouterTest, ShadowsNeverRefuseInEitherPlace) {
  const LimitSlot* a = Here(Bucket(1));
  const LimitSlot* b = Remote(Bucket(1));
  const LimitSlot* c = Remote(Bucket(10));
  for (int i = 0; i < 2; ++i) {
    std::vector<Charge> charges = {
        {KeyOf(1), a, 1, 1, true}, {KeyOf(2), b, 1, 1, true}, {KeyOf(3), c, 1, 1}};
    RoutedRequest routing;
    ASSERT_TRUE(Waits(routing, charges));
    Answer();
    EXPECT_TRUE(routing.admitted.allowed);
    EXPECT_EQ(charges[0].refused, i == 1);
    EXPECT_EQ(charges[1].refused, i == 1);
  }
  EXPECT_EQ(Left(c, 3), 8u);
  ExpectNothingLeft();
}

TEST_F(RouterTest, QuotasRefuseOnlyTogetherWhereverTheyAreDecided) {
  const LimitSlot* a = Here(Bucket(1));
  const LimitSlot* b = Remote(Bucket(2));
  const LimitSlot* c = Here(Bucket(3));
  const auto ask = [&] {
    std::vector<Charge> charges = {{KeyOf(1), a, 1, 1}, {KeyOf(2), b, 1, 1}, {KeyOf(3), c, 1, 1}};
    for (Charge& charge : charges) charge.quota = true;
    RoutedRequest routing;
    EXPECT_TRUE(Waits(routing, charges));
    Answer();
    for (const Charge& charge : charges) EXPECT_TRUE(charge.quota && !charge.shadow);
    return routing.admitted.allowed;
  };
  EXPECT_TRUE(ask());
  EXPECT_TRUE(ask());
  EXPECT_TRUE(ask()) << "one here has room";
  EXPECT_FALSE(ask());
  EXPECT_EQ(Left(b, 2) + Left(c, 3), 0u);
  ExpectNothingLeft();
}

TEST_F(RouterTest, AQuotaElsewhereThatHasRoomIsEnough) {
  const LimitSlot* a = Here(Bucket(1));
  const LimitSlot* b = Remote(Bucket(2));
  testing::Take(here, a, 1, 1, clock.Now());
  for (const bool allowed : {true, true, false}) {
    std::vector<Charge> charges = {{KeyOf(1), a, 1, 1}, {KeyOf(2), b, 1, 1}};
    for (Charge& charge : charges) charge.quota = true;
    RoutedRequest routing;
    ASSERT_TRUE(Waits(routing, charges));
    Answer();
    EXPECT_EQ(routing.admitted.allowed, allowed);
    EXPECT_TRUE(charges[0].refused);
  }
  ExpectNothingLeft();
}

TEST_F(RouterTest, RefundsAreGivenBackInBothPlacesAfterwards) {
  const LimitSlot* a = Here(Bucket(10));
  const LimitSlot* b = Remote(Bucket(10));
  const auto use = [&] {
    testing::Take(here, a, 1, 6, clock.Now());
    testing::Take(there, b, 2, 6, clock.Now());
  };
  use();
  std::vector<Charge> refunds = {{KeyOf(1), a, 2, 2}, {KeyOf(2), b, 3, 3}};
  RoutedRequest routing;
  routing.refunds = refunds;
  ASSERT_TRUE(Waits(routing, {}));
  EXPECT_EQ(Left(a, 1), 4u) << "not before it is decided";
  Answer();
  EXPECT_TRUE(routing.admitted.allowed);
  EXPECT_EQ(refunds[0].remaining, 6u);
  EXPECT_EQ(refunds[1].remaining, 7u);
  ExpectNothingLeft();
  // Beside a charge that is refused too.
  const LimitSlot* full = Here(Bucket(1));
  testing::Take(here, full, 3, 1, clock.Now());
  std::vector<Charge> charges = {{KeyOf(3), full, 1, 1}};
  RoutedRequest refused;
  refused.refunds = refunds;
  ASSERT_TRUE(Waits(refused, charges));
  Answer();
  EXPECT_FALSE(refused.admitted.allowed);
  EXPECT_EQ(Left(a, 1), 8u);
  EXPECT_EQ(Left(b, 2), 10u);
  ExpectNothingLeft();
}

// ---- Receipts ----

TEST_F(RouterTest, WhoSettlesGetsTheReceiptsOfBothPlaces) {
  const LimitSlot* a = Here(Bucket(10));
  const LimitSlot* b = Remote(Bucket(10));
  std::vector<Charge> charges = {{KeyOf(1), a, 6, 6}, {KeyOf(2), b, 6, 6}};
  RoutedRequest routing;
  routing.keeps_receipts = true;
  ASSERT_TRUE(Waits(routing, charges));
  Answer();
  ASSERT_EQ(routing.receipts.size(), 2u);
  EXPECT_FALSE(routing.receipts[0].remote);
  EXPECT_TRUE(routing.receipts[1].remote);
  EXPECT_EQ(Tickets(), 2u);
  here.SettleNow({&routing.receipts[0], 1}, 1, clock.Now());
  there.SettleNow({&routing.receipts[1], 1}, 1, clock.Now());
  EXPECT_EQ(Left(a, 1), 9u);
  EXPECT_EQ(Left(b, 2), 9u);
  EXPECT_EQ(remote.closed, 0u);
  ExpectNothingLeft();
}

TEST_F(RouterTest, WhoDoesNotSettleWantsNoReceiptsElsewhere) {
  const LimitSlot* a = Here(Bucket(10));
  const LimitSlot* b = Remote(Bucket(10));
  std::vector<Charge> charges = {{KeyOf(1), a, 6, 6}, {KeyOf(2), b, 6, 6}};
  RoutedRequest routing;
  ASSERT_TRUE(Waits(routing, charges));
  Answer();
  EXPECT_TRUE(routing.receipts.empty());
  EXPECT_EQ(remote.closed, 0u) << "there is nothing to close: no second journey";
  ExpectNothingLeft();
}

TEST_F(RouterTest, AKeptRefusalLeavesNoReceiptAndGoesWithWhatIsCancelled) {
  const LimitSlot* log = Here(SlidingLog{2, seconds(1), true});
  const LimitSlot* b = Remote(Bucket(1));
  testing::Take(here, log, 1, 2, clock.Now());
  for (const bool allowed : {true, false}) {
    clock.Advance(milliseconds(400));
    // In shadow, so that it does not refuse the request.
    std::vector<Charge> charges = {{KeyOf(1), log, 1, 1, true}, {KeyOf(2), b, 1, 1}};
    const std::string before = Bytes(1);
    RoutedRequest routing;
    routing.keeps_receipts = true;
    ASSERT_TRUE(Waits(routing, charges));
    EXPECT_NE(Bytes(1), before);
    Answer();
    EXPECT_EQ(routing.admitted.allowed, allowed);
    EXPECT_EQ(Bytes(1) == before, !allowed) << "what was never asked was never refused";
    ASSERT_EQ(routing.receipts.size(), allowed ? 1u : 0u);
    if (allowed) there.SettleNow(routing.receipts, 1, clock.Now());
    ExpectNothingLeft();
  }
  // One that refuses by itself stays.
  std::vector<Charge> charges = {{KeyOf(1), log, 1, 1}, {KeyOf(2), b, 1, 1}};
  const std::string before = Bytes(1);
  RoutedRequest routing;
  ASSERT_TRUE(Waits(routing, charges));
  Answer();
  EXPECT_NE(Bytes(1), before);
  ExpectNothingLeft();
}

}  // namespace
}  // namespace weir::router_test
