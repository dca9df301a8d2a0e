// When memory is full, whoever holds the most loses first.
#include <gtest/gtest.h>

#include "tests/store/testing.h"

namespace weir::fairness_test {
namespace {

using std::chrono::hours;
using testing::kStart;
using testing::Mib;
using testing::Take;

constexpr uint64_t kSubjects = 100;
constexpr uint64_t kFlood = 1'000'000'000;  // keys from here on

class Fairness : public ::testing::Test {
 protected:
  MemoryStore store_{Mib(4), kStart};
  Instant now_ = kStart;

  const LimitSlot* Add(const Limit& limit, SlotTraits traits, std::string_view owner) {
    return store_.limits().Add(limit, traits, kStart, owner);
  }
  // `n` newcomers, each of which uses all that it may.
  uint64_t Flood(const LimitSlot* slot, uint64_t n, uint64_t cost, uint64_t from = kFlood) {
    uint64_t admitted = 0;
    for (uint64_t i = 0; i < n; ++i) {
      admitted += Take(store_, slot, from + i, cost, now_ += Duration(100)).allowed ? 1 : 0;
    }
    return admitted;
  }
  // The subjects of a limit have keys of their own.
  static uint64_t KeyOf(const LimitSlot* slot, uint64_t i) { return slot->number * 1000 + i; }
  void Use(const LimitSlot* slot, uint64_t cost) {
    for (uint64_t i = 0; i < kSubjects; ++i) {
      ASSERT_TRUE(Take(store_, slot, KeyOf(slot, i), cost, now_).allowed);
    }
  }
  uint64_t Reset(const LimitSlot* slot, uint64_t most) {
    uint64_t reset = 0;
    for (uint64_t i = 0; i < kSubjects; ++i) {
      reset += testing::Remaining(store_, slot, KeyOf(slot, i), now_) == most ? 1 : 0;
    }
    return reset;
  }
};

const Limit kDaily = TokenBucket(1000, hours(24), 1000);
const Limit kCarried = TokenBucket(1, hours(24), 1);

TEST_F(Fairness, AFloodThatIsAllDebtResetsNobodyOfAnotherOwner) {
  const LimitSlot* shop = Add(kDaily, {}, "shop");
  const LimitSlot* carried = Add(kCarried, {.carried = true}, "");
  Use(shop, 1);  // a thousandth of what they have
  EXPECT_EQ(Flood(carried, 600'000, 1), 600'000u);
  EXPECT_GT(store_.forgotten(), 200'000u);
  EXPECT_EQ(Reset(shop, 1000), 0u);
  // Nor does a namespace that floods itself.
  const LimitSlot* other = Add(kDaily, {}, "other");
  Flood(other, 500'000, 1000, 2 * kFlood);
  EXPECT_EQ(Reset(shop, 1000), 0u);
  EXPECT_LE(store_.bytes(), Mib(4));
}

TEST_F(Fairness, OwnersThatFloodShareWhatThereIs) {
  const LimitSlot* a = Add(kDaily, {}, "a");
  const LimitSlot* b = Add(kDaily, {}, "b");
  Flood(a, 500'000, 1000);
  Flood(b, 200'000, 1, 2 * kFlood);
  // b's use is the least in the table, and yet b has its half.
  uint64_t kept = 0;
  for (uint64_t i = 0; i < 200'000; ++i) {
    kept += testing::Remaining(store_, b, 2 * kFlood + i, now_) == 999 ? 1 : 0;
  }
  EXPECT_GT(kept, store_.keys() * 4 / 10);
  EXPECT_LT(kept, store_.keys() * 6 / 10);
}

TEST_F(Fairness, GuardedStatesAreNotForgottenForOthers) {
  for (const SlotTraits traits :
       {SlotTraits{.on_failure = OnFailure::kDeny}, SlotTraits{.persist = true}}) {
    MemoryStore store(Mib(4), kStart);
    const LimitSlot* guarded = store.limits().Add(kDaily, traits, kStart, "shop");
    const LimitSlot* carried = store.limits().Add(kCarried, {.carried = true}, kStart);
    // They hold the most by far, and the least use: a third of the memory.
    for (uint64_t i = 0; i < 50'000; ++i) ASSERT_TRUE(Take(store, guarded, i, 1, kStart).allowed);
    for (uint64_t i = 0; i < 500'000; ++i) {
      ASSERT_TRUE(Take(store, carried, kFlood + i, 1, kStart).allowed);
    }
    for (uint64_t i = 0; i < 50'000; ++i) {
      ASSERT_EQ(testing::Remaining(store, guarded, i, kStart), 999u);
    }
    EXPECT_LE(store.bytes(), Mib(4));
  }
}

TEST_F(Fairness, GuardedStatesLeaveRoomForOthers) {
  for (const SlotTraits traits :
       {SlotTraits{.on_failure = OnFailure::kDeny}, SlotTraits{.persist = true}}) {
    MemoryStore store(Mib(4), kStart);
    const LimitSlot* guarded = store.limits().Add(kDaily, traits, kStart, "greedy");
    const LimitSlot* other = store.limits().Add(kDaily, {.persist = true}, kStart, "other");
    const LimitSlot* denying =
        store.limits().Add(kDaily, {.on_failure = OnFailure::kDeny}, kStart, "third");
    const LimitSlot* plain = store.limits().Add(kDaily, {}, kStart, "plain");
    for (uint64_t i = 0; i < 500'000; ++i) Take(store, guarded, i, 1000, kStart);
    EXPECT_EQ(store.overloaded() > 0, traits.deny_when_full());
    uint64_t key = kFlood;
    for (const LimitSlot* slot : {other, denying, plain}) {
      for (uint64_t i = 0; i < 3'000; ++i)
        ASSERT_TRUE(Take(store, slot, key + i, 1, kStart).allowed);
      for (uint64_t i = 0; i < 3'000; ++i) {
        ASSERT_EQ(testing::Remaining(store, slot, key + i, kStart), 999u);
      }
      key += kFlood;
    }
    EXPECT_LE(store.bytes(), Mib(4));
  }
}

// A newcomer that would be turned away gets what others hold beyond their share.
TEST_F(Fairness, AFloodOfOthersTurnsNobodyAway) {
  const LimitSlot* carried = Add(kCarried, {.carried = true}, "");
  Flood(carried, 500'000, 1);
  const LimitSlot* denying = Add(kDaily, {.on_failure = OnFailure::kDeny}, "shop");
  Use(denying, 1);
  Flood(carried, 500'000, 1, 2 * kFlood);
  EXPECT_EQ(Reset(denying, 1000), 0u);
  EXPECT_EQ(store_.overloaded(), 0u);
}

// What is refused leaves the room that it was given.
TEST_F(Fairness, RefusedNewcomersTakeNoGuardedRoom) {
  const LimitSlot* denying = Add(kDaily, {.on_failure = OnFailure::kDeny}, "shop");
  for (uint64_t i = 0; i < 500'000; ++i) {
    ASSERT_EQ(Take(store_, denying, kFlood + i, 1001, now_).error, Code::kOk);
  }
  Use(denying, 1);
}

TEST_F(Fairness, WhoFillsTheHeapLosesFirst) {
  const LimitSlot* shop = Add(kDaily, {}, "shop");
  const LimitSlot* logs = Add(SlidingLog{10'000, hours(1), false}, {}, "logs");
  const LimitSlot* small_logs = Add(SlidingLog{10, hours(1), false}, {}, "small");
  Use(shop, 1);
  for (uint64_t i = 0; i < kSubjects; ++i) Take(store_, small_logs, 5000 + i, 1, now_);
  for (uint64_t i = 0; i < 1'500'000; ++i) {
    Take(store_, logs, kFlood + i % 1000, 1, now_ += Duration(1));
  }
  EXPECT_GT(store_.forgotten(), 0u);
  EXPECT_EQ(Reset(shop, 1000), 0u);
  for (uint64_t i = 0; i < kSubjects; ++i) {
    EXPECT_EQ(testing::Remaining(store_, small_logs, 5000 + i, now_), 9u);
  }
  EXPECT_LE(store_.bytes(), Mib(4) + 65536);
}

// What an owner holds beside its states counts against it.
TEST_F(Fairness, WhatIsHeldOutsideCounts) {
  const LimitSlot* a = Add(kDaily, {}, "a");
  const LimitSlot* b = Add(kDaily, {}, "b");
  store_.AddOutside(a->owner, static_cast<int64_t>(Mib(1)));
  Flood(a, 50'000, 1000);
  Flood(b, 300'000, 1, 2 * kFlood);
  EXPECT_LE(store_.bytes(), Mib(4));
  uint64_t kept = 0;
  for (uint64_t i = 0; i < 50'000; ++i) {
    kept += testing::Remaining(store_, a, kFlood + i, now_) == 0 ? 1 : 0;
  }
  EXPECT_LT(kept * 26, Mib(1) * 6 / 8) << "half of 4 MiB is its own, and it holds one outside";
  store_.AddOutside(a->owner, -static_cast<int64_t>(Mib(1)));
}

// A namespace that is gone gives its number back.
TEST_F(Fairness, NumbersOfOwnersAreUsedAnew) {
  for (int round = 0; round < 50; ++round) {
    const LimitSlot* slot = Add(kDaily, {}, "n" + std::to_string(round));
    EXPECT_LE(slot->owner, 2u);
    store_.limits().Retire(slot);
    for (size_t i = 0; i < 2 * KeyTable::kShards / 8; ++i) store_.Tick(now_);
    EXPECT_LE(store_.limits().owners(), 2u);
  }
}

}  // namespace
}  // namespace weir::fairness_test
