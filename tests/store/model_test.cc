// The store against a model: one state per key in a plain map, the algorithms called directly.
#include <gtest/gtest.h>

#include <map>

#include "tests/store/testing.h"

namespace weir::model_test {
namespace {

using testing::KeyOf;
using testing::kStart;

template <typename A>
class Comparison {
 public:
  Comparison(const A& algorithm, uint64_t seed)
      : algorithm_(algorithm),
        seed_(seed),
        random_(seed),
        store_(testing::Mib(64), kStart),
        slot_(store_.limits().Add(algorithm, false, kStart)) {}

  void Run(int steps, uint64_t keys) {
    for (int i = 0; i < steps && !::testing::Test::HasFatalFailure(); ++i) {
      now_ += Duration(random_.Below(3) == 0 ? random_.Below(200'000'000) : random_.Below(1000));
      Step(random_.Below(keys));
      if (random_.Below(50) == 0) store_.Tick(now_);
    }
    // What has expired goes away by itself.
    now_ += std::chrono::hours(1);
    for (size_t i = 0; i <= KeyTable::kShards / 8; ++i) store_.Tick(now_);
    EXPECT_EQ(store_.keys(), 0u);
  }

 private:
  void Step(uint64_t key) {
    const uint64_t cost = random_.Below(6), least = cost == 0 ? 0 : random_.Below(cost + 1);
    const bool peek = random_.Below(4) == 0;
    Charge charge(KeyOf(key), slot_, cost, least);
    const Admitted admitted =
        peek ? store_.PeekNow({&charge, 1}, now_) : store_.AdmitNow({&charge, 1}, now_);

    typename A::State& state = states_[key];
    const std::optional<uint64_t> room = algorithm_.Room(state, now_);
    const uint64_t granted = std::min(cost, room.value_or(0));
    const bool allowed = room && granted >= least;
    ASSERT_EQ(admitted.allowed, allowed) << "seed " << seed_;
    ASSERT_EQ(admitted.granted, allowed ? granted : 0) << "seed " << seed_;
    if (allowed && !peek) algorithm_.Take(state, granted, now_);
    if constexpr (std::is_same_v<A, SlidingLog>) {
      if (!allowed && !peek) algorithm_.Reject(state, cost, now_);
    }
    ASSERT_EQ(charge.remaining, algorithm_.Room(state, now_).value_or(0)) << "seed " << seed_;
    ASSERT_EQ(charge.reset_after, Wait(now_, algorithm_.Reset(state, now_))) << "seed " << seed_;
    ASSERT_EQ(charge.refused, !allowed);
    if (!allowed) {
      ASSERT_EQ(admitted.retry_after, Wait(now_, algorithm_.When(state, least, now_)));
    }
  }

  const A algorithm_;
  const uint64_t seed_;
  Random random_;
  MemoryStore store_;
  const LimitSlot* slot_;
  std::map<uint64_t, typename A::State> states_;
  Instant now_ = kStart;
};

TEST(MemoryStore, AnswersLikeTheAlgorithmOnAStateOfItsOwn) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    Random random(seed);
    std::visit(
        [&](const auto& algorithm) {
          using A = std::decay_t<decltype(algorithm)>;
          if constexpr (!std::is_same_v<A, Copies>) {
            Comparison<A>(algorithm, seed).Run(3000, 1 + seed * 37 % 3000);
          }
        },
        testing::RandomLimit(random));
  }
}

TEST(MemoryStore, KeepsNumbersThatDoNotFitIntoACell) {
  MemoryStore store(testing::Mib(8), kStart);
  // A prime number of tokens: a nanosecond is 2^53 - 111 ticks, far more than 72 bits can hold.
  const TokenBucket bucket((uint64_t{1} << 53) - 111, std::chrono::seconds(1),
                           (uint64_t{1} << 53) - 111);
  const LimitSlot* slot = store.limits().Add(bucket, false, kStart);
  const LimitSlot* window = store.limits().Add(
      FixedWindow{uint64_t{1} << 53, std::chrono::hours(1), FixedWindow::Anchor::kEpoch, nullptr},
      false, kStart);
  EXPECT_TRUE(testing::Take(store, slot, 1, 1000, kStart).allowed);
  EXPECT_EQ(testing::Remaining(store, slot, 1, kStart), bucket.burst - 1000);
  EXPECT_TRUE(testing::Take(store, window, 2, uint64_t{1} << 52, kStart).allowed);
  EXPECT_EQ(testing::Remaining(store, window, 2, kStart), uint64_t{1} << 52);
}

TEST(MemoryStore, DoesNotStoreWhatIsUnused) {
  MemoryStore store(testing::Mib(8), kStart);
  const LimitSlot* slot =
      store.limits().Add(TokenBucket(5, std::chrono::seconds(1), 5), false, kStart);
  EXPECT_FALSE(testing::Take(store, slot, 1, 6, kStart).allowed);  // never fits
  EXPECT_TRUE(testing::Take(store, slot, 2, 0, kStart).allowed);   // takes nothing
  EXPECT_EQ(testing::Remaining(store, slot, 3, kStart), 5u);
  std::vector<Receipt> receipts(2);
  std::vector<Charge> charges = {{KeyOf(4), slot, 0, 0}, {KeyOf(5), slot, 0, 0}};
  for (size_t i = 0; i < 2; ++i) charges[i].receipt = &receipts[i];
  EXPECT_TRUE(store.AdmitNow(charges, kStart).allowed);
  EXPECT_EQ(store.keys(), 0u);
  EXPECT_TRUE(testing::Take(store, slot, 1, 1, kStart).allowed);
  EXPECT_EQ(store.keys(), 1u);
}

}  // namespace
}  // namespace weir::model_test
