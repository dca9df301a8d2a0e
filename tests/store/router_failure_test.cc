// Whatever the store elsewhere does: a request is decided as one store would decide it, or as the limits
// say for when it is away.
#include <gtest/gtest.h>

#include "tests/store/routing.h"

namespace weir::router_failure_test {
namespace {

using testing::KeyOf;
using testing::kStart;
using testing::RoutedRequest;

enum class Fate { kAnswers, kAnswersLater, kAway, kAwayLater, kLost, kUnheard, kCannotWait, kGone };
constexpr uint64_t kFates = 8;

lab::Faulty::Faults FaultsOf(Fate fate) {
  lab::Faulty::Faults faults;
  switch (fate) {
    case Fate::kAnswers: break;
    case Fate::kCannotWait:
    case Fate::kAnswersLater: faults.late = 1000; break;
    case Fate::kAway: faults.fails = 1000; break;
    case Fate::kAwayLater: faults.fails_late = 1000; break;
    case Fate::kGone:
    case Fate::kLost: faults.loses = 1000; break;
    case Fate::kUnheard: faults.loses_answer = 1000; break;
  }
  return faults;
}
bool IsHeard(Fate fate) { return fate == Fate::kAnswers || fate == Fate::kAnswersLater; }

// One store for everything: the states here, those elsewhere, and, under keys of their own, those by
// which limits are decided here while the other store is away.
class Model {
 public:
  struct Limited {
    const LimitSlot* asked;  // in the stores that are tested
    const LimitSlot* slot;   // in the model
    uint64_t key;
  };
  static constexpr uint64_t kInstead = 1'000'000'000;

  MemoryStore store{testing::Mib(16), kStart};
  std::vector<Limited> limits;

  struct Asked {
    size_t limit;
    Charge charge;
  };
  struct Expected {
    Admitted admitted;
    std::vector<Asked> asked;       // those that a store decided, with its answer
    std::vector<Receipt> receipts;  // of `asked`
  };

  // All at once, each under its own key or that for the meantime.
  Expected Decide(const std::vector<Asked>& asked, bool instead, Want want, Instant now) {
    Expected expected{.admitted = {.allowed = true}, .asked = asked, .receipts = {}};
    if (asked.empty()) return expected;
    expected.receipts.resize(asked.size());
    std::vector<Charge> charges;
    for (size_t i = 0; i < asked.size(); ++i) {
      const Limited& limited = limits[asked[i].limit];
      Charge charge = asked[i].charge;
      charge.limit = limited.slot;
      charge.key = KeyOf(limited.key + (instead && IsRemote(asked[i]) ? kInstead : 0));
      charge.receipt = want == Want::kTake ? &expected.receipts[i] : nullptr;
      charges.push_back(charge);
    }
    expected.admitted =
        want == Want::kTake ? store.AdmitNow(charges, now) : store.PeekNow(charges, now);
    for (size_t i = 0; i < asked.size(); ++i) expected.asked[i].charge = charges[i];
    return expected;
  }
  bool IsRemote(const Asked& one) const { return limits[one.limit].asked->traits.remote; }
  OnFailure OnFailureOf(const Asked& one) const {
    return limits[one.limit].asked->traits.on_failure;
  }

  // Those that are decided here. If quotas are decided elsewhere too, those here refuse nobody alone.
  std::vector<Asked> Here(const std::vector<Asked>& all) const {
    std::vector<Asked> here;
    for (const Asked& one : all) {
      if (!IsRemote(one)) here.push_back(RemoteQuota(all) ? Freed(one) : one);
    }
    return here;
  }
  // A quota here has room.
  bool RoomHere(const std::vector<Asked>& all, Instant now) {
    const std::vector<Asked> here = Here(all);
    const std::vector<Asked> looked = Decide(here, true, Want::kLook, now).asked;
    size_t i = 0;
    bool room = false;
    for (const Asked& one : all) {
      if (IsRemote(one)) continue;
      room = room || (one.charge.quota && !looked[i].charge.refused);
      ++i;
    }
    return room;
  }
  // Asked as if in shadow, if it is a quota.
  static Asked Freed(Asked one) {
    one.charge.shadow = one.charge.shadow || one.charge.quota;
    one.charge.quota = false;
    return one;
  }

  // What the limits say for when the other store is away.
  Expected Fail(const std::vector<Asked>& all, Want want, Instant now) {
    const std::vector<Asked> here = Here(all);
    const bool room_here = RoomHere(all, now);
    bool room = room_here;
    for (const Asked& one : all) {
      if (!IsRemote(one) || !one.charge.quota) continue;
      room = room || OnFailureOf(one) == OnFailure::kAllow;
    }
    bool denied = false, decides = false;
    std::vector<Asked> decided;
    for (const Asked& one : all) {
      if (!IsRemote(one)) {
        decided.push_back(RemoteQuota(all) ? Freed(one) : one);
        continue;
      }
      const Asked asked = room ? Freed(one) : one;
      const OnFailure on_failure = OnFailureOf(one);
      decides = decides || !(room_here ? Freed(one) : one).charge.shadow;
      denied = denied || (!asked.charge.shadow && on_failure == OnFailure::kDeny);
      if (on_failure == OnFailure::kLocal) decided.push_back(asked);
    }
    const bool refused_here = !Decide(here, true, Want::kLook, now).admitted.allowed;
    if (!refused_here && denied) {
      return {.admitted = {.error = Code::kUnavailable}, .asked = {}, .receipts = {}};
    }
    Expected expected = Decide(decided, true, want, now);
    if (decided.empty()) expected.admitted.granted = all[0].charge.cost;
    expected.admitted.degraded = !refused_here && decides;
    return expected;
  }

 private:
  bool RemoteQuota(const std::vector<Asked>& all) const {
    return std::any_of(all.begin(), all.end(),
                       [&](const Asked& one) { return IsRemote(one) && one.charge.quota; });
  }
};

class Round : testing::TwoStores {
 public:
  explicit Round(uint64_t seed)
      : random_(seed), remote_(there, seed, Duration{}), router_(here, &remote_) {
    for (uint64_t i = 0; i < 5; ++i) {
      Limit limit = testing::RandomLimit(random_);
      if (auto* log = std::get_if<SlidingLog>(&limit)) log->keep_rejected = false;
      const auto on_failure = static_cast<OnFailure>(random_.Below(3));
      const LimitSlot* slot =
          Add(limit, {.on_failure = on_failure, .remote = random_.Below(2) == 0});
      model_.limits.push_back(
          {slot, model_.store.limits().Add(limit, SlotTraits{}, kStart), seed * 10 + i});
    }
  }

  void Run() {
    for (int step = 0; step < 60 && !::testing::Test::HasFatalFailure(); ++step) {
      clock.Advance(
          Duration(random_.Below(3) == 0 ? random_.Below(300'000'000) : random_.Below(1000)));
      Step();
      ASSERT_EQ(Tickets(), 0u);
      ASSERT_EQ(router_.waiting(), 0u);
      ASSERT_TRUE(executor.timers().empty());
    }
  }

 private:
  std::vector<Model::Asked> Draw() {
    const uint64_t cost = random_.Below(5), least = cost == 0 ? 0 : random_.Below(cost + 1);
    const bool quotas = random_.Below(4) == 0, flexible = !quotas && random_.Below(2) == 0;
    std::vector<Model::Asked> asked;
    for (uint64_t i = 1 + random_.Below(4); i > 0; --i) {
      const size_t which = random_.Below(model_.limits.size());
      const bool shadow = random_.Below(5) == 0;
      Charge charge(KeyOf(model_.limits[which].key), model_.limits[which].asked, cost,
                    flexible ? least : cost, shadow);
      charge.quota = quotas && !shadow && random_.Below(2) == 0;
      asked.push_back({which, charge});
    }
    return asked;
  }

  void Step() {
    const std::vector<Model::Asked> asked = Draw();
    const auto fate = static_cast<Fate>(random_.Below(kFates));
    remote_.Set(FaultsOf(fate));
    std::vector<Charge> charges;
    bool any_remote = false;
    for (const Model::Asked& one : asked) {
      charges.push_back(one.charge);
      any_remote = any_remote || one.charge.limit->traits.remote;
    }
    RoutedRequest routing;
    Ask(routing, charges, Duration{});  // a lost answer is missed at the same instant
    routing.want = random_.Below(5) == 0 ? Want::kLook : Want::kTake;
    routing.keeps_receipts = random_.Below(2) == 0;
    if (fate == Fate::kCannotWait) routing.home = nullptr;
    const Want want = routing.want;
    const Instant now = clock.Now();
    const bool at_once = router_.Admit(routing);
    if (!at_once && fate == Fate::kGone) {
      router_.Abandon(routing, now);
      executor.RunAll();
      ASSERT_EQ(routing.answers, 0);
      return;
    }
    executor.RunAll();
    ASSERT_EQ(routing.answers, at_once ? 0 : 1);

    if (any_remote && fate == Fate::kUnheard) DecideUnheard(asked, want, now);
    Model::Expected expected = any_remote && !IsHeard(fate)
                                   ? model_.Fail(asked, want, now)
                                   : model_.Decide(asked, false, want, now);
    ASSERT_EQ(routing.admitted.error, expected.admitted.error);
    ASSERT_EQ(routing.admitted.degraded, expected.admitted.degraded);
    if (expected.admitted.error == Code::kOk) Compare(routing, charges, asked, expected);
    Settle(routing, expected);
  }

  // The part elsewhere was decided, for what was granted here, and nobody knows.
  void DecideUnheard(const std::vector<Model::Asked>& asked, Want want, Instant now) {
    const std::vector<Model::Asked> here = model_.Here(asked);
    const Admitted granted = model_.Decide(here, true, Want::kLook, now).admitted;
    const bool room = model_.RoomHere(asked, now);
    std::vector<Model::Asked> remote;
    for (const Model::Asked& one : asked) {
      if (!model_.IsRemote(one)) continue;
      Charge& charge = remote.emplace_back(room ? Model::Freed(one) : one).charge;
      if (charge.least < charge.cost && !here.empty() && granted.allowed) {
        charge.cost = std::min(charge.cost, granted.granted);
      }
    }
    const Model::Expected unheard =
        model_.Decide(remote, false, granted.allowed ? want : Want::kLook, now);
    for (const Receipt& receipt : unheard.receipts) {
      if (receipt.limit != nullptr) model_.store.Close({&receipt, 1}, now);
    }
  }

  void Compare(const RoutedRequest& routing, const std::vector<Charge>& charges,
               const std::vector<Model::Asked>& asked, const Model::Expected& expected) {
    ASSERT_EQ(routing.admitted.allowed, expected.admitted.allowed);
    ASSERT_EQ(routing.admitted.granted, expected.admitted.granted);
    const Model::Asked* model = expected.asked.data();
    const Model::Asked* const end = model + expected.asked.size();
    for (size_t i = 0; i < charges.size(); ++i) {
      const Charge& charge = charges[i];
      ASSERT_EQ(charge.cost, asked[i].charge.cost);
      ASSERT_EQ(charge.shadow, asked[i].charge.shadow);
      ASSERT_EQ(charge.quota, asked[i].charge.quota);
      ASSERT_EQ(charge.receipt, nullptr);
      if (model == end || model->limit != asked[i].limit) {  // nobody decided it
        ASSERT_FALSE(charge.refused);
        ASSERT_EQ(charge.remaining, Numbers(charge.limit->limit).capacity);
        continue;
      }
      ASSERT_EQ(charge.refused, model->charge.refused) << i;
      ASSERT_EQ(charge.remaining, model->charge.remaining) << i;
      ASSERT_EQ(charge.reset_after, model->charge.reset_after) << i;
      if (routing.want == Want::kTake) {
        ASSERT_EQ(charge.taken, model->charge.taken) << i;
      }
      ++model;
    }
  }

  // What was taken can be settled, wherever it was.
  void Settle(RoutedRequest& routing, Model::Expected& expected) {
    std::erase_if(expected.receipts, [](const Receipt& one) { return one.limit == nullptr; });
    const Instant now = clock.Now();
    if (!routing.keeps_receipts) {
      ASSERT_TRUE(routing.receipts.empty());
      model_.store.Close(expected.receipts, now);
      return;
    }
    ASSERT_EQ(routing.receipts.size(), expected.receipts.size());
    const uint64_t cost = random_.Below(6);
    for (size_t i = 0; i < expected.receipts.size(); ++i) {
      const Receipt& receipt = routing.receipts[i];
      const SettledUse use = (receipt.remote ? there : here).SettleNow({&receipt, 1}, cost, now);
      const SettledUse same = model_.store.SettleNow({&expected.receipts[i], 1}, cost, now);
      ASSERT_EQ(use.charged, same.charged);
      ASSERT_EQ(use.remaining, same.remaining);
    }
  }

  Random random_;
  lab::Faulty remote_;
  Router router_;
  Model model_;
};

class OnFailureTest : public testing::RouterTest {
 protected:
  Admitted AskWhileAway(std::span<Charge> charges, Code code = Code::kUnavailable) {
    RoutedRequest routing;
    EXPECT_TRUE(Waits(routing, charges));
    remote.AnswerAway(Turn(clock), code);
    ExpectNothingLeft();
    return routing.admitted;
  }
};

TEST_F(OnFailureTest, IsAppliedForEachLimitByItself) {
  using enum OnFailure;
  const LimitSlot* beside = Here(Bucket(1000));
  uint64_t used = 0, key = 0;
  for (const OnFailure a : {kAllow, kDeny, kLocal}) {
    for (const OnFailure b : {kAllow, kDeny, kLocal}) {
      for (const bool room : {true, false}) {
        const LimitSlot* first = Remote(Bucket(5), a);
        const LimitSlot* second = Remote(Bucket(5), b);
        const uint64_t k = key += 10;
        if (!room) testing::Take(here, second, k + 2, 5, clock.Now());  // of what is local
        std::vector<Charge> charges = {
            {KeyOf(k + 1), first, 2, 2}, {KeyOf(1), beside, 2, 2}, {KeyOf(k + 2), second, 2, 2}};
        const Admitted admitted = AskWhileAway(charges);
        const bool denied = a == kDeny || b == kDeny, refused = b == kLocal && !room;
        EXPECT_EQ(admitted.error, denied ? Code::kUnavailable : Code::kOk);
        EXPECT_EQ(admitted.allowed, !denied && !refused);
        EXPECT_EQ(admitted.degraded, !denied) << "also if it was refused";
        used += admitted.allowed ? 2 : 0;
        EXPECT_EQ(Left(beside, 1), 1000 - used);
        EXPECT_EQ(LeftHere(first, k + 1), a == kLocal && admitted.allowed ? 3u : 5u);
        EXPECT_EQ(Left(first, k + 1), 5u) << "elsewhere nothing was taken";
      }
    }
  }
}

TEST_F(OnFailureTest, DenyTellsWhatTheStoreSaid) {
  const LimitSlot* b = Remote(Bucket(5), OnFailure::kDeny);
  std::vector<Charge> charges = {{KeyOf(2), b, 1, 1}};
  EXPECT_EQ(AskWhileAway(charges, Code::kOverloaded).error, Code::kOverloaded);
}

TEST_F(OnFailureTest, ALimitInShadowNeitherDeniesNorDegrades) {
  const LimitSlot* a = Here(Bucket(5));
  const LimitSlot* b = Remote(Bucket(5), OnFailure::kDeny);
  const LimitSlot* c = Remote(Bucket(5), OnFailure::kLocal);
  std::vector<Charge> charges = {
      {KeyOf(1), a, 1, 1}, {KeyOf(2), b, 1, 1, true}, {KeyOf(3), c, 1, 1, true}};
  const Admitted admitted = AskWhileAway(charges);
  EXPECT_TRUE(admitted.allowed);
  EXPECT_FALSE(admitted.degraded);
  EXPECT_EQ(LeftHere(c, 3), 4u) << "it counts here meanwhile";
}

TEST_F(OnFailureTest, WhatIsRefusedHereIsRefusedAndNotDegraded) {
  const LimitSlot* a = Here(Bucket(1));
  const LimitSlot* b = Remote(Bucket(5), OnFailure::kDeny);
  testing::Take(here, a, 1, 1, clock.Now());
  std::vector<Charge> charges = {{KeyOf(1), a, 1, 1}, {KeyOf(2), b, 1, 1}};
  const Admitted admitted = AskWhileAway(charges);
  EXPECT_EQ(admitted.error, Code::kOk);
  EXPECT_FALSE(admitted.allowed || admitted.degraded);
}

TEST_F(OnFailureTest, RefundsOfAStoreThatIsAwayAreLostAndThoseHereAreNot) {
  const LimitSlot* a = Here(Bucket(5));
  const LimitSlot* b = Remote(Bucket(5), OnFailure::kDeny);
  testing::Take(here, a, 1, 3, clock.Now());
  std::vector<Charge> refunds = {{KeyOf(1), a, 2, 2}, {KeyOf(2), b, 2, 2}};
  RoutedRequest routing;
  routing.refunds = refunds;
  ASSERT_TRUE(Waits(routing, {}));
  remote.AnswerAway(Turn(clock));
  EXPECT_EQ(routing.admitted.error, Code::kOk) << "giving back is never refused";
  EXPECT_EQ(Left(a, 1), 4u);
  EXPECT_EQ(refunds[1].remaining, 5u);
  ExpectNothingLeft();
}

TEST_F(OnFailureTest, WhatEndsInAnErrorGivesNothingBack) {
  const LimitSlot* a = Here(Bucket(5));
  const LimitSlot* b = Remote(Bucket(5), OnFailure::kDeny);
  testing::Take(here, a, 1, 3, clock.Now());
  std::vector<Charge> refunds = {{KeyOf(1), a, 2, 2}}, charges = {{KeyOf(2), b, 1, 1}};
  RoutedRequest routing;
  routing.refunds = refunds;
  ASSERT_TRUE(Waits(routing, charges));
  remote.AnswerAway(Turn(clock));
  EXPECT_EQ(routing.admitted.error, Code::kUnavailable);
  EXPECT_EQ(Left(a, 1), 2u);
}

// Between asking and the deadline time passes: what is local is decided then.
TEST_F(OnFailureTest, LocalIsDecidedWhenTheDeadlineComes) {
  const LimitSlot* b = Remote(TokenBucket(1, std::chrono::milliseconds(20), 1), OnFailure::kLocal);
  testing::Take(here, b, 2, 1, clock.Now());
  for (const bool allowed : {false, true}) {
    std::vector<Charge> charges = {{KeyOf(2), b, 1, 1}};
    RoutedRequest routing;
    ASSERT_TRUE(Waits(routing, charges, std::chrono::milliseconds(allowed ? 20 : 10)));
    clock.Advance(std::chrono::milliseconds(allowed ? 20 : 10));
    executor.RunAll();
    EXPECT_EQ(routing.admitted.allowed, allowed);
    EXPECT_EQ(routing.admitted.retry_after, std::chrono::milliseconds(allowed ? 0 : 10));
  }
  ExpectNothingLeft();
}

TEST(RouterFailure, WhateverHappensElsewhereTheLimitsAreKeptAsTheySay) {
  for (uint64_t seed = 1; seed <= 1500 && !::testing::Test::HasFatalFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Round(seed).Run();
  }
}

}  // namespace
}  // namespace weir::router_failure_test
