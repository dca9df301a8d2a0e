// Many threads on the same states.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <thread>

#include "tests/store/testing.h"

namespace weir::threads_test {
namespace {

using std::chrono::hours;
using testing::KeyOf;
using testing::kStart;

void InThreads(size_t count, const std::function<void(size_t)>& work) {
  std::vector<std::thread> threads;
  for (size_t i = 0; i < count; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
}

TEST(Threads, TakeExactlyWhatThereIs) {
  MemoryStore store(testing::Mib(16), kStart);
  const LimitSlot* slot = store.limits().Add(TokenBucket(1, hours(1), 10'000), false, kStart);
  std::atomic<uint64_t> admitted{0};
  InThreads(4, [&](size_t) {
    for (int i = 0; i < 5000; ++i) admitted += testing::Take(store, slot, 1, 1, kStart).allowed;
  });
  EXPECT_EQ(admitted, 10'000u);
}

// Pairs of keys in both orders, while shards are rebuilt underneath by a flood of newcomers.
TEST(Threads, AreAllOrNothingWithoutDeadlock) {
  MemoryStore store(testing::Mib(16), kStart);
  const LimitSlot* slot = store.limits().Add(TokenBucket(1, hours(1), 3000), false, kStart);
  const LimitSlot* flood = store.limits().Add(TokenBucket(10, hours(1), 10), false, kStart);
  constexpr uint64_t kKeys = 8;
  std::array<std::atomic<uint64_t>, kKeys> taken{};
  InThreads(4, [&](size_t thread) {
    Random random(thread);
    for (uint64_t i = 0; i < 8000; ++i) {
      const uint64_t a = random.Below(kKeys), b = random.Below(kKeys);
      std::array<Charge, 3> charges = {Charge(KeyOf(a), slot, 1, 1), Charge(KeyOf(b), slot, 1, 1),
                                       Charge(KeyOf(1'000'000 * (thread + 1) + i), flood, 1, 1)};
      if (store.AdmitNow(charges, kStart).allowed) ++taken[a], ++taken[b];
      if (i % 64 == 0) store.Tick(kStart);
    }
  });
  for (uint64_t key = 0; key < kKeys; ++key) {
    EXPECT_EQ(taken[key] + testing::Remaining(store, slot, key, kStart), 3000u) << key;
  }
}

TEST(Threads, KeepEveryKeyWhileTheTableGrowsAndShrinks) {
  MemoryStore store(testing::Mib(64), kStart);
  const LimitSlot* lasting = store.limits().Add(TokenBucket(10, hours(1), 10), false, kStart);
  const LimitSlot* fleeting =
      store.limits().Add(TokenBucket(10, std::chrono::milliseconds(10), 10), false, kStart);
  constexpr uint64_t kEach = 30'000;
  InThreads(4, [&](size_t thread) {
    for (uint64_t i = 0; i < kEach; ++i) {
      const uint64_t key = thread * kEach + i;
      const Instant now = kStart + Duration(static_cast<int64_t>(i) * 100);
      ASSERT_TRUE(testing::Take(store, lasting, key, 3, now).allowed);
      testing::Take(store, fleeting, 10'000'000 + key, 1, now);
      if (i % 16 == 0) store.Tick(now);
    }
  });
  const Instant end = kStart + std::chrono::milliseconds(10);
  for (uint64_t key = 0; key < 4 * kEach; ++key) {
    ASSERT_EQ(testing::Remaining(store, lasting, key, end), 7u) << key;
  }
}

// ---- Linearizability of decisions on one key ----

struct Operation {
  uint64_t cost;
  Instant now;
  uint64_t begun = 0, ended = 0;  // ticks of a common counter
  bool allowed = false;
  uint64_t remaining = 0;
};

// Whether some order of the operations that respects real time gives every one its answer when
// they are decided one after the other (Wing and Gong).
bool Linearizable(const TokenBucket& bucket, const std::vector<Operation>& history) {
  std::set<std::pair<uint32_t, uint128>> tried;
  const std::function<bool(uint32_t, TokenBucket::State)> search = [&](uint32_t done,
                                                                       TokenBucket::State state) {
    if (done == (1u << history.size()) - 1) return true;
    if (!tried.emplace(done, state.full_at).second) return false;
    uint64_t first_end = UINT64_MAX;
    for (size_t i = 0; i < history.size(); ++i) {
      if ((done >> i & 1) == 0) first_end = std::min(first_end, history[i].ended);
    }
    for (size_t i = 0; i < history.size(); ++i) {
      const Operation& operation = history[i];
      if ((done >> i & 1) != 0 || operation.begun > first_end) continue;
      TokenBucket::State next = state;
      const std::optional<uint64_t> room = bucket.Room(state, operation.now);
      const bool allowed = room && *room >= operation.cost;
      if (allowed) bucket.Take(next, operation.cost, operation.now);
      const uint64_t remaining = bucket.Room(next, operation.now).value_or(0);
      if (allowed == operation.allowed && remaining == operation.remaining &&
          search(done | 1u << i, next)) {
        return true;
      }
    }
    return false;
  };
  return search(0, {});
}

TEST(Threads, DecisionsOnOneKeyAreLinearizable) {
  const TokenBucket bucket(1000, std::chrono::seconds(1), 6);
  for (uint64_t round = 0; round < 400; ++round) {
    MemoryStore store(testing::Mib(4), kStart);
    const LimitSlot* slot = store.limits().Add(bucket, false, kStart);
    std::atomic<uint64_t> tick{0};
    std::atomic<int> ready{0};
    std::vector<std::vector<Operation>> histories(3);
    InThreads(3, [&](size_t thread) {
      Random random(round * 3 + thread);
      ++ready;
      while (ready < 3) {
      }
      for (int i = 0; i < 4; ++i) {
        Operation operation{.cost = 1 + random.Below(3),
                            .now = kStart + Duration(random.Below(4'000'000))};
        Charge charge(KeyOf(1), slot, operation.cost, operation.cost);
        operation.begun = tick++;
        operation.allowed = store.AdmitNow({&charge, 1}, operation.now).allowed;
        operation.ended = tick++;
        operation.remaining = charge.remaining;
        histories[thread].push_back(operation);
      }
    });
    std::vector<Operation> history;
    for (const auto& one : histories) history.insert(history.end(), one.begin(), one.end());
    ASSERT_TRUE(Linearizable(bucket, history)) << "round " << round;
  }
}

TEST(Threads, TheCheckerSeesADoubleGrant) {
  const TokenBucket bucket(1, hours(1), 1);
  const auto one = [](uint64_t begun, uint64_t ended, bool allowed) {
    return Operation{.cost = 1,
                     .now = kStart,
                     .begun = begun,
                     .ended = ended,
                     .allowed = allowed,
                     .remaining = 0};
  };
  EXPECT_TRUE(Linearizable(bucket, {one(0, 3, true), one(1, 2, false)}));
  EXPECT_FALSE(Linearizable(bucket, {one(0, 3, true), one(1, 2, true)}));
  EXPECT_FALSE(Linearizable(bucket, {one(2, 3, true), one(0, 1, false)}));
}

}  // namespace
}  // namespace weir::threads_test
