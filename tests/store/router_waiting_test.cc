// Who waits for a store elsewhere: until when, how many, and what is left when he goes.
#include <gtest/gtest.h>

#include "tests/store/routing.h"

namespace weir::router_waiting_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::KeyOf;
using testing::RoutedRequest;

class RouterWaitingTest : public testing::RouterTest {};

TEST_F(RouterWaitingTest, TheDeadlineComesByATimerAndWhatIsSaidAfterItIsNotHeard) {
  const LimitSlot* a = Here(Bucket(10));
  const LimitSlot* b = Remote(Bucket(10), OnFailure::kAllow);
  std::vector<Charge> charges = {{KeyOf(1), a, 2, 2}, {KeyOf(2), b, 2, 2}};
  RoutedRequest routing;
  ASSERT_TRUE(Waits(routing, charges, milliseconds(20)));
  clock.Advance(milliseconds(20) - Duration(1));
  executor.RunAll();
  EXPECT_EQ(routing.answers, 0);
  clock.Advance(Duration(1));
  executor.RunAll();
  EXPECT_EQ(routing.answers, 1);
  EXPECT_EQ(remote.abandoned, 1u);
  EXPECT_TRUE(routing.admitted.allowed);
  EXPECT_TRUE(routing.admitted.degraded);
  EXPECT_EQ(Failures(FailureCause::kLate), 1u);
  ExpectNothingLeft();
}

TEST_F(RouterWaitingTest, AnAnswerInTimeCancelsTheTimer) {
  const LimitSlot* b = Remote(Bucket(10));
  std::vector<Charge> charges = {{KeyOf(2), b, 2, 2}};
  RoutedRequest routing;
  ASSERT_TRUE(Waits(routing, charges, milliseconds(20)));
  Answer();
  ExpectNothingLeft();
  clock.Advance(seconds(1));
  executor.RunAll();
  EXPECT_EQ(routing.answers, 1);
}

TEST_F(RouterWaitingTest, WhoIsGoneIsNotToldAndLeavesNothingHere) {
  const LimitSlot* a = Here(Bucket(10));
  const LimitSlot* log = Here(SlidingLog{0, seconds(1), true});
  const LimitSlot* b = Remote(Bucket(10));
  const auto charges_of = [&] {
    return std::vector<Charge>{
        {KeyOf(1), a, 2, 2}, {KeyOf(2), b, 2, 2}, {KeyOf(3), log, 1, 1, true}};
  };
  // Before it was asked, while it waits, after it was answered; twice each.
  RoutedRequest routing;
  router.Abandon(routing, clock.Now());
  for (const bool keeps : {false, true}) {
    std::vector<Charge> charges = charges_of();
    routing.keeps_receipts = keeps;
    ASSERT_TRUE(Waits(routing, charges, milliseconds(20)));
    EXPECT_EQ(Left(a, 1), 8u);
    for (int i = 0; i < 2; ++i) router.Abandon(routing, clock.Now());
    EXPECT_EQ(Left(a, 1), 10u);
    ExpectNothingLeft();
    clock.Advance(seconds(1));
    executor.RunAll();
    EXPECT_EQ(routing.answers, 0);
  }
  std::vector<Charge> charges = charges_of();
  routing.keeps_receipts = false;
  ASSERT_TRUE(Waits(routing, charges, milliseconds(20)));
  Answer();
  router.Abandon(routing, clock.Now());
  EXPECT_EQ(routing.answers, 1);
  EXPECT_TRUE(routing.admitted.allowed) << "and stays what it was";
  EXPECT_EQ(Left(a, 1), 8u);
  ExpectNothingLeft();
}

// A routing is used again, also from within its own answer.
TEST_F(RouterWaitingTest, AnAnswerMayAskTheNextQuestion) {
  const LimitSlot* b = Remote(Bucket(10));
  lab::Later later(there);
  Router over_later(here, &later);
  struct Again final : Routing {
    Router& over;
    int left;
    Again(Router& the_router, int times) : over(the_router), left(times) {}
    void Routed(const Turn& turn) override {
      EXPECT_TRUE(admitted.allowed);
      if (--left == 0) return;
      now = turn;
      EXPECT_FALSE(over.Admit(*this));
    }
  } again(over_later, 5);
  std::vector<Charge> charges = {{KeyOf(2), b, 1, 1}};
  Ask(again, charges, milliseconds(20));
  ASSERT_FALSE(over_later.Admit(again));
  executor.RunAll();
  EXPECT_EQ(again.left, 0);
  EXPECT_EQ(Left(b, 2), 5u);
  ExpectNothingLeft();
}

TEST_F(RouterWaitingTest, BeyondTooManyWaitingItIsAFailureAtOnce) {
  Router small(here, &remote, 2);
  const LimitSlot* b = Remote(Bucket(10), OnFailure::kDeny);
  std::vector<Charge> charges(3, Charge(KeyOf(2), b, 1, 1));
  std::vector<RoutedRequest> routings(3);
  for (size_t i = 0; i < 3; ++i) {
    Ask(routings[i], {&charges[i], 1});
    EXPECT_EQ(small.Admit(routings[i]), i == 2);
  }
  EXPECT_EQ(routings[2].admitted.error, Code::kUnavailable);
  EXPECT_EQ(small.Failures()[static_cast<size_t>(FailureCause::kTooMany)].count, 1u);
  Answer();
  RoutedRequest again;
  Ask(again, {&charges[2], 1});
  EXPECT_FALSE(small.Admit(again)) << "one has gone";
  small.Abandon(again, clock.Now());
  small.Abandon(routings[1], clock.Now());
  ExpectNothingLeft();
}

TEST_F(RouterWaitingTest, WhoCannotWaitGetsWhatHappensOnFailure) {
  const LimitSlot* a = Here(Bucket(10));
  const LimitSlot* b = Remote(Bucket(10), OnFailure::kAllow);
  std::vector<Charge> charges = {{KeyOf(1), a, 2, 2}, {KeyOf(2), b, 2, 2}};
  RoutedRequest routing;
  Ask(routing, charges);
  routing.home = nullptr;
  EXPECT_TRUE(router.Admit(routing));
  EXPECT_TRUE(routing.admitted.allowed && routing.admitted.degraded);
  EXPECT_EQ(Left(a, 1), 8u);
  EXPECT_EQ(Failures(FailureCause::kCannotWait), 1u);
  ExpectNothingLeft();
}

TEST_F(RouterWaitingTest, WithoutAStoreElsewhereItIsAFailure) {
  Router alone(here, nullptr);
  const LimitSlot* b = Remote(Bucket(10), OnFailure::kLocal);
  std::vector<Charge> charges = {{KeyOf(2), b, 4, 4}};
  RoutedRequest routing;
  Ask(routing, charges);
  EXPECT_TRUE(alone.Admit(routing));
  EXPECT_TRUE(routing.admitted.allowed && routing.admitted.degraded);
  EXPECT_EQ(LeftHere(b, 2), 6u);
  ExpectNothingLeft();
}

// A limit that is waited for is not given to another, though its rule is gone.
TEST_F(RouterWaitingTest, TheSlotOfALimitIsNotFreedWhileItIsWaitedFor) {
  const LimitSlot* b = Remote(Bucket(10));
  std::vector<Charge> charges = {{KeyOf(2), b, 1, 1}};
  RoutedRequest routing;
  ASSERT_TRUE(Waits(routing, charges));
  here.limits().Retire(b);
  const auto sweep = [&] {
    for (size_t i = 0; i < 2 * KeyTable::kShards / 8; ++i) here.Tick(clock.Now());
  };
  sweep();
  EXPECT_EQ(here.limits().in_use(), 1u);
  Answer();
  EXPECT_TRUE(routing.admitted.allowed);
  sweep();
  EXPECT_EQ(here.limits().in_use(), 0u);
}

}  // namespace
}  // namespace weir::router_waiting_test
