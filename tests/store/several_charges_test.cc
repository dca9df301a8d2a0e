// All of several charges, or none.
#include <gtest/gtest.h>

#include "tests/store/testing.h"

namespace weir::several_charges_test {
namespace {

using std::chrono::seconds;
using testing::KeyOf;
using testing::kStart;

struct Several : ::testing::Test {
  MemoryStore store{testing::Mib(16), kStart};

  const LimitSlot* Bucket(uint64_t limit, Duration per, uint64_t burst) {
    return store.limits().Add(TokenBucket(limit, per, burst), false, kStart);
  }
};

TEST_F(Several, RefusalLeavesEveryStateUntouched) {
  const LimitSlot* wide = Bucket(100, seconds(1), 100);
  const LimitSlot* narrow = Bucket(1, seconds(1), 1);
  std::vector<Charge> charges = {{KeyOf(1), wide, 1, 1}, {KeyOf(2), narrow, 1, 1}};
  EXPECT_TRUE(store.AdmitNow(charges, kStart).allowed);
  for (int i = 0; i < 5; ++i) {
    const Admitted refused = store.AdmitNow(charges, kStart);
    EXPECT_FALSE(refused.allowed);
    EXPECT_EQ(refused.granted, 0u);
    EXPECT_EQ(refused.retry_after, seconds(1));
    EXPECT_FALSE(charges[0].refused);
    EXPECT_TRUE(charges[1].refused);
  }
  EXPECT_EQ(testing::Remaining(store, wide, 1, kStart), 99u);
}

TEST_F(Several, GrantsTheLeastRoomOverAll) {
  const LimitSlot* a = Bucket(10, seconds(1), 10);
  const LimitSlot* b = Bucket(4, seconds(1), 4);
  std::vector<Charge> charges = {{KeyOf(1), a, 8, 2}, {KeyOf(2), b, 8, 2}};
  const Admitted admitted = store.AdmitNow(charges, kStart);
  EXPECT_TRUE(admitted.allowed);
  EXPECT_EQ(admitted.granted, 4u);
  EXPECT_EQ(charges[0].remaining, 6u);
  EXPECT_EQ(charges[1].remaining, 0u);
}

TEST_F(Several, ChargesOnOneStateAddUp) {
  const LimitSlot* a = Bucket(10, seconds(1), 10);
  std::vector<Charge> charges(3, Charge(KeyOf(1), a, 4, 4));
  EXPECT_FALSE(store.AdmitNow(charges, kStart).allowed);
  EXPECT_EQ(charges[0].wait, kNever);  // 12 never fit into 10
  for (Charge& charge : charges) charge = Charge(KeyOf(1), a, 4, 1);
  const Admitted admitted = store.AdmitNow(charges, kStart);
  EXPECT_TRUE(admitted.allowed);
  EXPECT_EQ(admitted.granted, 3u);
  EXPECT_EQ(charges[2].remaining, 1u);
  EXPECT_EQ(testing::Remaining(store, a, 1, kStart), 1u);
}

TEST_F(Several, EachMayHaveACostOfItsOwn) {
  const LimitSlot* a = Bucket(10, seconds(1), 10);
  std::vector<Charge> charges = {{KeyOf(1), a, 7, 7}, {KeyOf(2), a, 2, 2}};
  EXPECT_TRUE(store.AdmitNow(charges, kStart).allowed);
  EXPECT_EQ(charges[0].taken, 7u);
  EXPECT_EQ(charges[1].taken, 2u);
}

TEST_F(Several, AShadowLimitIsChargedWhatItWouldAdmitAndNeverRefuses) {
  const LimitSlot* a = Bucket(10, seconds(1), 10);
  const LimitSlot* b = Bucket(2, seconds(1), 2);
  for (int i = 0; i < 3; ++i) {
    std::vector<Charge> charges = {{KeyOf(1), a, 1, 1}, {KeyOf(2), b, 1, 1, true}};
    EXPECT_TRUE(store.AdmitNow(charges, kStart).allowed);
    EXPECT_EQ(charges[1].refused, i == 2);
  }
  EXPECT_EQ(testing::Remaining(store, a, 1, kStart), 7u);
  EXPECT_EQ(testing::Remaining(store, b, 2, kStart), 0u);
}

// Random limits, random sets of keys, many of them repeated: what is refused changes nothing, what
// is admitted takes just that everywhere, and retrying after exactly retry_after is admitted, a
// nanosecond earlier is not.
TEST_F(Several, AreAllOrNothingAndTellTheTruth) {
  Random random(5);
  for (int round = 0; round < 300; ++round) {
    std::vector<const LimitSlot*> slots;
    for (int i = 0; i < 4; ++i) {
      slots.push_back(store.limits().Add(testing::RandomLimit(random), false, kStart));
    }
    Instant now = kStart + Duration(random.Below(1'000'000'000));
    const uint64_t keys = uint64_t{1000} * static_cast<uint64_t>(round);
    const auto keeps_rejected = [&](const LimitSlot* slot) {
      const auto* log = std::get_if<SlidingLog>(&slot->limit);
      return log != nullptr && log->keep_rejected;
    };
    for (int step = 0; step < 60; ++step) {
      const uint64_t cost = 1 + random.Below(5), least = 1 + random.Below(cost);
      std::vector<Charge> charges;
      bool keeps = false;
      for (size_t i = 0; i < 1 + random.Below(5); ++i) {
        const uint64_t which = random.Below(4);
        charges.emplace_back(KeyOf(keys + which), slots[which], cost, least);
        keeps = keeps || keeps_rejected(slots[which]);
      }
      std::vector<uint64_t> before;
      for (const Charge& charge : charges) {
        Charge look(charge.key, charge.limit, 0, 0);
        store.PeekNow({&look, 1}, now);
        before.push_back(look.remaining);
      }
      const Admitted admitted = store.AdmitNow(charges, now);
      if (!keeps) {
        for (size_t i = 0; i < charges.size(); ++i) {
          uint64_t same = 0;
          for (const Charge& other : charges) same += other.key == charges[i].key;
          ASSERT_EQ(charges[i].remaining, before[i] - same * admitted.granted);
        }
      }
      if (!admitted.allowed && admitted.retry_after != kNever) {
        const Instant then = now + admitted.retry_after;
        ASSERT_TRUE(store.PeekNow(charges, then).allowed) << "round " << round;
        ASSERT_FALSE(store.PeekNow(charges, then - Duration(1)).allowed) << "round " << round;
      }
      now += Duration(random.Below(400'000'000));
    }
  }
}

}  // namespace
}  // namespace weir::several_charges_test
