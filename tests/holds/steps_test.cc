// What a release or the end of a session costs does not depend on how many wait for other pools: counted in
// looks at somebody who waits, not in time.
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <thread>

#include "holds/holds.h"
#include "holds/memory_copy_pools.h"

namespace weir::steps_test {
namespace {

constexpr Instant kNow = FromNanos(1'800'000'000'000'000'000);
constexpr Duration kLong = std::chrono::hours(1);

// Every subject has a pool of its own, with one copy.
class OneEach : public PoolRules {
 public:
  explicit OneEach(MemoryStore& store) : slot_(store.limits().Add(Copies{1}, {}, kNow, "n")) {}
  void Find(const Wanted& wanted, Instant, Needs& needs) override {
    needs.charges.emplace_back(hash_(wanted.subject), slot_, wanted.copies, wanted.min_copies);
    needs.shown_as.push_back(Needs::kOwn);
    needs.owner = slot_->owner;
  }
  std::string_view MessageOf(Code) const override { return "error"; }

 private:
  const KeyedHash hash_{{1, 2}};
  const LimitSlot* const slot_;
};

struct World {
  MemoryStore store{uint64_t{1} << 28, kNow};
  OneEach rules{store};
  MemoryCopyPools pools{store};
  Holds holds{rules, pools, store, {.node = "n", .bytes = uint64_t{1} << 28, .most_sessions = 99}};

  SessionId Open() { return holds.OpenSession(kNever, 0, kNow); }
  void Ask(const SessionId& session, const std::string& subject, ReserveDone done,
           Duration wait = kLong) {
    Wanted wanted;
    wanted.session = session;
    wanted.namespace_name = "n";
    wanted.subject = subject;
    holds.Reserve(std::move(wanted), wait, std::nullopt, kNow, std::move(done));
  }
  // The hold, if there is one at once. For one thread only.
  Ticket Reserve(const SessionId& session, const std::string& subject, Duration wait = kLong) {
    auto hold = std::make_shared<Ticket>();
    const auto note = [hold](const Result<Reservation>& answer) {
      if (answer) *hold = answer->hold;
    };
    Ask(session, subject, note, wait);
    return *hold;
  }
};

struct Cost {
  uint64_t release = 0, disconnect = 0;
};

Cost CostAmong(int others) {
  World world;
  const SessionId holder = world.Open();
  for (int i = 0; i < others; ++i) {
    const std::string subject = "other" + std::to_string(i);
    EXPECT_TRUE(world.Reserve(holder, subject));
    EXPECT_FALSE(world.Reserve(world.Open(), subject));
  }
  const Ticket mine = world.Reserve(holder, "mine");
  const SessionId first = world.Open(), second = world.Open();
  world.Reserve(first, "mine");
  world.Reserve(second, "mine");
  EXPECT_EQ(world.holds.waiting(), static_cast<size_t>(others) + 2);
  Cost cost;
  uint64_t before = world.holds.steps();
  world.holds.EndSession(second, kNow);
  cost.disconnect = world.holds.steps() - before;
  before = world.holds.steps();
  EXPECT_TRUE(world.holds.Release(holder, mine, 0, kNow));
  cost.release = world.holds.steps() - before;
  EXPECT_EQ(world.holds.waiting(), static_cast<size_t>(others));
  return cost;
}

TEST(Steps, AReleaseAndADisconnectCostTheSameHoweverManyWaitForOtherPools) {
  const Cost alone = CostAmong(0);
  EXPECT_GT(alone.release, 0u);
  EXPECT_GT(alone.disconnect, 0u);
  for (const int others : {100, 10'000}) {
    const Cost cost = CostAmong(others);
    EXPECT_EQ(cost.release, alone.release) << others;
    EXPECT_EQ(cost.disconnect, alone.disconnect) << others;
  }
}

// Nobody waits for ever for a copy that came back while he was about to wait: with one copy that many threads
// pass on, each gets it as often as it asked.
TEST(HoldsThread, NoReturnGoesUnseenByWhoIsAboutToWait) {
  World world;
  constexpr int kThreads = 4, kTimes = 3000;
  std::atomic<int> held{0}, most{0}, granted{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      const SessionId session = world.Open();
      for (int i = 0; i < kTimes; ++i) {
        auto hold = std::make_shared<std::atomic<Ticket*>>(nullptr);
        world.Ask(session, "one", [&, hold](const Result<Reservation>& answer) {
          const int now = ++held;
          if (now > most) most = now;
          hold->store(new Ticket(answer->hold));
        });
        while (hold->load() == nullptr) std::this_thread::yield();
        const std::unique_ptr<Ticket> name(hold->load());
        ++granted;
        --held;
        EXPECT_TRUE(world.holds.Release(session, *name, 0, kNow));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(granted.load(), kThreads * kTimes);
  EXPECT_EQ(most.load(), 1);
  EXPECT_EQ(world.holds.waiting(), 0u);
  EXPECT_EQ(world.holds.sizes().holds, 0u);
}

// Sessions end while they wait, hold, and are being granted something: nothing is left behind.
TEST(HoldsThread, SessionsThatEndAtAnyMomentLeaveNothing) {
  World world;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 2000; ++i) {
        const SessionId session = world.Open();
        world.Ask(session, "s" + std::to_string(i % 3), [](const Result<Reservation>&) {});
        if (i % 7 == 0) world.holds.Tick(kNow);
        world.holds.EndSession(session, kNow);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  world.holds.Tick(kNow);
  EXPECT_EQ(world.holds.waiting(), 0u);
  EXPECT_EQ(world.holds.sizes().holds, 0u);
  EXPECT_EQ(world.holds.sizes().sessions, 0u);
  EXPECT_EQ(world.store.keys(), 0u);
}

}  // namespace
}  // namespace weir::steps_test
