// What is cancelled was never asked: afterwards a store decides as one does that was not asked.
#include <gtest/gtest.h>

#include "tests/store/testing.h"

namespace weir::cancel_test {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::KeyOf;
using testing::kStart;

// One key of one limit.
class World {
 public:
  explicit World(const Limit& limit)
      : slot_(store_.limits().Add(limit, SlotTraits{.persist = true}, kStart)) {}

  Charge Ask(uint64_t cost, Instant now, Receipt* receipt = nullptr, Want want = Want::kTake) {
    Charge charge(KeyOf(1), slot_, cost, cost);
    charge.receipt = receipt;
    if (want == Want::kTake) {
      store_.AdmitNow({&charge, 1}, now);
    } else {
      store_.PeekNow({&charge, 1}, now);
    }
    return charge;
  }
  Charge Look(uint64_t cost, Instant now) { return Ask(cost, now, nullptr, Want::kLook); }
  // The state, as it would be written down.
  std::string Bytes(Instant now) {
    store_.MarkChanged(KeyOf(1));
    return store_.TakeChanged(now)[0].bytes;
  }
  MemoryStore& store() { return store_; }
  uint32_t tickets() const { return slot_->tickets; }

 private:
  MemoryStore store_{testing::Mib(4), kStart};
  const LimitSlot* const slot_;
};

void ExpectSame(const Charge& a, const Charge& b) {
  const bool tiers = std::holds_alternative<BurstTiers>(a.limit->limit);
  ASSERT_EQ(a.refused, b.refused);
  ASSERT_EQ(a.remaining, b.remaining);
  ASSERT_EQ(a.reset_after, b.reset_after);
  if (a.refused) {
    ASSERT_EQ(a.wait, b.wait);
  }
  ASSERT_EQ(tiers ? a.tier : 0, tiers ? b.tier : 0);
  ASSERT_EQ(tiers ? a.tier_hits : 0, tiers ? b.tier_hits : 0);
}

// Now, and at every later time, whatever is asked then.
void ExpectSameFromNowOn(World& asked, World& never, Instant now, Random& random) {
  for (const Duration after : {Duration(0), Duration(1), Duration(milliseconds(300)),
                               Duration(seconds(2)), Duration(seconds(11))}) {
    for (const uint64_t cost : {0, 1, 5, 30}) {
      ASSERT_NO_FATAL_FAILURE(
          ExpectSame(asked.Look(cost, now + after), never.Look(cost, now + after)));
    }
  }
  for (int i = 0; i < 20; ++i) {
    now += Duration(random.Below(600'000'000));
    const uint64_t cost = random.Below(4);
    ASSERT_NO_FATAL_FAILURE(ExpectSame(asked.Ask(cost, now), never.Ask(cost, now)));
  }
}

// Requests that will be cancelled or reduced, mixed with those of others that stay; the others come to
// `never` too. Others who were refused meanwhile stay refused, so they do not come to `never`.
class Histories {
 public:
  Histories(const Limit& limit, uint64_t seed)
      : asked_(limit),
        never_(limit),
        keeps_rejected_(std::holds_alternative<SlidingLog>(limit) &&
                        std::get<SlidingLog>(limit).keep_rejected),
        tiers_(std::holds_alternative<BurstTiers>(limit)),
        patience_(PatienceOf(limit)),
        random_(seed) {}

  // False if in `never` somebody was granted hits of other tiers: there is nothing to compare then.
  bool Run() {
    for (int step = 0; step < 40 && same_tiers_ && !::testing::Test::HasFatalFailure(); ++step) {
      Advance(Duration(random_.Below(4) == 0 ? random_.Below(300'000'000) : random_.Below(1000)));
      switch (random_.Below(4)) {
        case 0: Begin(); break;
        case 1:
          if (!pending_.empty()) End(random_.Below(pending_.size()));
          break;
        default: Other();
      }
    }
    while (!pending_.empty()) End(random_.Below(pending_.size()));
    if (!same_tiers_ || ::testing::Test::HasFatalFailure()) return false;
    ExpectSameFromNowOn(asked_, never_, now_, random_);
    EXPECT_EQ(asked_.tickets(), reduced_.size());
    for (auto& [asked, never] : reduced_) {
      const uint64_t cost = random_.Below(6);
      const SettledUse a = asked_.store().SettleNow({&asked, 1}, cost, now_);
      const SettledUse b = never_.store().SettleNow({&never, 1}, cost, now_);
      EXPECT_EQ(a.charged, b.charged);
      EXPECT_EQ(a.remaining, b.remaining);
    }
    EXPECT_EQ(asked_.tickets(), 0u);
    return true;
  }

 private:
  struct Pending {
    Instant begun;
    Receipt asked, never;
    uint64_t keep;  // 0: will be cancelled, and `never` was not asked
  };

  // Tiers forget who came after a request once its hits do not count any more.
  static Duration PatienceOf(const Limit& limit) {
    const auto* tiers = std::get_if<BurstTiers>(&limit);
    if (tiers == nullptr) return kNever;
    const auto shorter = [](const auto& a, const auto& b) { return a.window < b.window; };
    return std::min_element(tiers->tiers.begin(), tiers->tiers.end(), shorter)->window;
  }
  void Advance(Duration by) {
    while (!pending_.empty() && now_ + by - pending_[0].begun > patience_) End(0);
    now_ += by;
  }

  // Whether asking now would leave something that nothing takes back.
  bool WouldKeepARefusal(uint64_t cost) {
    return keeps_rejected_ && asked_.Look(cost, now_).refused;
  }

  void Begin() {
    const uint64_t cost = 1 + random_.Below(6), keep = random_.Below(2) * random_.Below(cost);
    if (WouldKeepARefusal(cost)) return;
    Pending pending{.begun = now_, .asked = {}, .never = {}, .keep = keep};
    if (asked_.Ask(cost, now_, &pending.asked).refused) return;
    pending_.push_back(pending);
    if (keep == 0 || !never_.Ask(keep, now_, &pending_.back().never).refused) return;
    ASSERT_TRUE(tiers_) << "there is more room where less was asked";
    same_tiers_ = false;
  }

  void End(size_t i) {
    Pending one = pending_[i];
    pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(i));
    if (one.keep == 0) {
      asked_.store().Cancel({&one.asked, 1}, now_);
      return;
    }
    asked_.store().Reduce({&one.asked, 1}, one.keep, now_);
    ASSERT_EQ(one.asked.taken, one.keep);
    Compare(one.asked, one.never);
    reduced_.emplace_back(one.asked, one.never);
  }

  void Other() {
    const uint64_t cost = random_.Below(5);
    if (WouldKeepARefusal(cost)) return;
    Receipt asked, never;
    if (asked_.Ask(cost, now_, &asked).refused) return;
    const bool refused = never_.Ask(cost, now_, &never).refused;
    ASSERT_TRUE(tiers_ || !refused) << "there is more room where it was not asked";
    Compare(asked, never);
    asked_.store().Close({&asked, 1}, now_);
    if (!refused) never_.store().Close({&never, 1}, now_);
  }

  void Compare(const Receipt& asked, const Receipt& never) {
    same_tiers_ = same_tiers_ && asked.by_tier == never.by_tier;
  }

  World asked_, never_;
  const bool keeps_rejected_, tiers_;
  const Duration patience_;
  Random random_;
  Instant now_ = kStart;
  std::vector<Pending> pending_;
  std::vector<std::pair<Receipt, Receipt>> reduced_;
  bool same_tiers_ = true;
};

// Whose windows are told apart by who came first; see below.
bool BeginsWithARequest(const Limit& limit) {
  const auto* window = std::get_if<FixedWindow>(&limit);
  return window != nullptr && window->anchor == FixedWindow::Anchor::kFirstRequest;
}

template <typename A>
void ExpectCancelledAsIfNeverAsked() {
  int compared = 0;
  for (uint64_t seed = 1; seed <= 3000 && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Limit limit = testing::RandomLimit(random);
    if (!std::holds_alternative<A>(limit) || BeginsWithARequest(limit)) continue;
    compared += Histories(limit, seed).Run() ? 1 : 0;
  }
  EXPECT_GT(compared, 100);
}

TEST(Cancel, ABucketOwesWhatItWouldHadItNeverBeenAsked) {
  ExpectCancelledAsIfNeverAsked<TokenBucket>();
}
TEST(Cancel, AFixedWindowCountsWhatItWouldHadItNeverBeenAsked) {
  ExpectCancelledAsIfNeverAsked<FixedWindow>();
}
TEST(Cancel, ASlidingWindowCountsWhatItWouldHadItNeverBeenAsked) {
  ExpectCancelledAsIfNeverAsked<SlidingWindow>();
}
TEST(Cancel, ALogHasWhatItWouldHadItNeverBeenAsked) { ExpectCancelledAsIfNeverAsked<SlidingLog>(); }
TEST(Cancel, TiersAreWhatTheyWouldBeHadTheyNeverBeenAsked) {
  ExpectCancelledAsIfNeverAsked<BurstTiers>();
}

// ---- One by one ----

// But for what has no meaning any more and was dropped; at one instant nothing is.
TEST(Cancel, WhereNobodyCameSinceTheStateIsTheSameToTheBit) {
  Random random(7);
  for (int round = 0; round < 2000; ++round) {
    World world(testing::RandomLimit(random));
    for (uint64_t i = 0; i < random.Below(4); ++i) world.Ask(1 + random.Below(5), kStart);
    const std::string before = world.Bytes(kStart);
    Receipt receipt;
    world.Ask(1 + random.Below(12), kStart, &receipt);
    if (receipt.limit == nullptr || receipt.rejected > 0) continue;
    world.store().Cancel({&receipt, 1}, kStart);
    ASSERT_EQ(world.Bytes(kStart), before) << round;
  }
}

TEST(Cancel, AWindowThatOnlyItBeganIsNotBegun) {
  World world(FixedWindow{5, seconds(1), FixedWindow::Anchor::kFirstRequest, nullptr});
  Receipt receipt;
  world.Ask(5, kStart, &receipt);
  world.store().Cancel({&receipt, 1}, kStart + milliseconds(10));
  const Instant next = kStart + milliseconds(900);
  EXPECT_EQ(world.Ask(5, next).reset_after, seconds(1));
  EXPECT_TRUE(world.Ask(1, kStart + milliseconds(1100)).refused);
}

// Nobody knows who came next: it ends as much earlier as was waited. The limit holds in every window.
TEST(Cancel, AWindowThatItBeganEndsInItsTimeForThoseWhoCameSince) {
  World world(FixedWindow{5, seconds(1), FixedWindow::Anchor::kFirstRequest, nullptr});
  Receipt receipt;
  world.Ask(3, kStart, &receipt);
  world.Ask(2, kStart + milliseconds(10));
  world.store().Cancel({&receipt, 1}, kStart + milliseconds(20));
  EXPECT_EQ(world.Look(0, kStart + milliseconds(20)).remaining, 3u);
  EXPECT_EQ(world.Look(0, kStart + milliseconds(20)).reset_after, milliseconds(980));
}

TEST(Cancel, ATierThatOnlyItEnteredIsLeftAgain) {
  World world(BurstTiers{{{2, seconds(1), seconds(10), seconds(0), false},
                          {4, seconds(1), seconds(5), seconds(20), false}}});
  world.Ask(1, kStart);
  Receipt receipt;
  EXPECT_EQ(world.Ask(3, kStart, &receipt).tier, 2u);
  world.store().Cancel({&receipt, 1}, kStart + milliseconds(5));
  EXPECT_EQ(world.Look(0, kStart + milliseconds(5)).tier, 1u);
  EXPECT_EQ(world.Look(0, kStart + milliseconds(5)).remaining, 5u);
  EXPECT_EQ(world.Look(0, kStart + seconds(8)).tier, 1u) << "and does not cool";
}

TEST(Cancel, ATierThatIsNotNeededForWhatIsKeptIsLeftAgain) {
  World world(BurstTiers{{{2, seconds(1), seconds(10), seconds(0), false},
                          {4, seconds(1), seconds(5), seconds(20), false}}});
  Receipt receipt;
  EXPECT_EQ(world.Ask(5, kStart, &receipt).tier, 2u);
  world.store().Reduce({&receipt, 1}, 2, kStart + milliseconds(5));
  EXPECT_EQ(world.Look(0, kStart + milliseconds(5)).tier, 1u);
  EXPECT_EQ(receipt.by_tier[0], 2u);
  EXPECT_EQ(receipt.by_tier[1], 0u);
}

TEST(Cancel, ATierThatOthersHaveUsedSinceIsEnteredByTheFirstOfThem) {
  World world(BurstTiers{{{2, seconds(1), seconds(10), seconds(0), false},
                          {4, seconds(1), seconds(5), seconds(20), false}}});
  world.Ask(2, kStart);
  Receipt first, second;
  world.Ask(1, kStart + milliseconds(1), &first);
  world.Ask(1, kStart + milliseconds(3), &second);
  world.Ask(1, kStart + milliseconds(7));
  const auto active_at = [&](Duration after) { return world.Look(0, kStart + after).tier == 2; };
  EXPECT_FALSE(active_at(seconds(5) + milliseconds(1)));
  world.store().Cancel({&first, 1}, kStart + milliseconds(9));
  EXPECT_TRUE(active_at(seconds(5) + milliseconds(2)));
  EXPECT_FALSE(active_at(seconds(5) + milliseconds(3)));
  world.store().Cancel({&second, 1}, kStart + milliseconds(9));
  EXPECT_TRUE(active_at(seconds(5) + milliseconds(6)));
  EXPECT_FALSE(active_at(seconds(5) + milliseconds(7)));
}

TEST(Cancel, ATierThatHasForgottenWhoCameSinceStaysAsItIs) {
  World world(BurstTiers{{{9, seconds(1), seconds(10), seconds(0), false}}});
  Receipt receipt;
  world.Ask(1, kStart, &receipt);
  world.Ask(1, kStart + milliseconds(500));
  world.Ask(1, kStart + seconds(3));
  world.store().Cancel({&receipt, 1}, kStart + seconds(3));
  EXPECT_EQ(world.Look(0, kStart + seconds(10) - Duration(1)).tier, 1u);
  EXPECT_EQ(world.Look(0, kStart + seconds(10)).tier, 0u);
}

TEST(Cancel, ARefusalThatWasKeptIsForgotten) {
  World asked(SlidingLog{5, seconds(1), true}), never(SlidingLog{5, seconds(1), true});
  for (World* world : {&asked, &never}) world->Ask(4, kStart);
  Receipt receipt;
  EXPECT_TRUE(asked.Ask(3, kStart + milliseconds(300), &receipt).refused);
  EXPECT_EQ(asked.tickets(), 1u);
  for (World* world : {&asked, &never}) {
    EXPECT_TRUE(world->Ask(2, kStart + milliseconds(500)).refused);
  }
  asked.store().Cancel({&receipt, 1}, kStart + milliseconds(600));
  EXPECT_EQ(asked.tickets(), 0u);
  Random random(1);
  ExpectSameFromNowOn(asked, never, kStart + milliseconds(600), random);
}

TEST(Cancel, CopiesAreReturned) {
  World world(Copies{5});
  Receipt receipt;
  EXPECT_FALSE(world.Ask(3, kStart, &receipt).refused);
  world.store().Cancel({&receipt, 1}, kStart);
  EXPECT_EQ(world.Look(0, kStart).remaining, 5u);
}

}  // namespace
}  // namespace weir::cancel_test
