// Holds: never more than the limit, released once, by their owner or by its end.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <thread>

#include "tests/limiter/testing.h"

namespace weir::holds_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::Holder;
using testing::kStart;

class Holds : public ::testing::Test {
 protected:
  std::unique_ptr<Limiter> limiter_ = testing::Open(testing::kHoldRules);
  uint64_t HeldTotal() {
    Holder looker(*limiter_);
    const Result<Reservation> all = looker.Reserve({"n", "box", "looker", 5, 1});
    const uint64_t held = all->allowed ? all->held_total - all->granted : 8;
    looker.End();
    return held;
  }
};

TEST_F(Holds, EveryMistakeHasItsCode) {
  Holder ann(*limiter_), bob(*limiter_);
  EXPECT_EQ(ann.Reserve({"x", "box", "ann"}).error().code, Code::kUnknownNamespace);
  EXPECT_EQ(ann.Reserve({"n", "x", "ann"}).error().code, Code::kUnknownResource);
  EXPECT_EQ(ann.Reserve({"n", "rate", "ann"}).error().code, Code::kWrongKind);
  EXPECT_EQ(ann.Reserve({"n", "box", "ann", 1, 2}).error().code, Code::kBadRequest);
  EXPECT_EQ(ann.Reserve({"n", "box", "ann", 0}).error().code, Code::kBadRequest);
  const Ticket hold = ann.Reserve({"n", "box", "ann", 2})->hold;
  EXPECT_EQ(bob.Release(hold).error().code, Code::kNotHeld) << "only the owner may release";
  EXPECT_EQ(limiter_->Transfer(bob.session(), hold, 1, seconds(1), kStart).error().code,
            Code::kNotHeld);
  EXPECT_EQ(ann.Release(hold, 3).error().code, Code::kBadRequest);
  EXPECT_EQ(limiter_->Transfer(ann.session(), hold, 1, seconds(0), kStart).error().code,
            Code::kBadRequest);
  EXPECT_EQ(limiter_->Seize(ann.session(), hold, kStart).error().code, Code::kUnknownTransfer);
  EXPECT_EQ(*ann.Release(hold), 0u);
  EXPECT_EQ(ann.Release(hold).error().code, Code::kNotHeld) << "once";
  ann.End();
  EXPECT_EQ(ann.Reserve({"n", "box", "ann"}).error().code, Code::kNotHeld);
  EXPECT_EQ(limiter_->Seize(ann.session(), hold, kStart).error().code, Code::kNotHeld);
}

TEST_F(Holds, CountInTheGroupsOfTheirTime) {
  Holder ann(*limiter_), bob(*limiter_);
  const Result<Reservation> held = ann.Reserve({"n", "box", "ann", 5, 1});
  ASSERT_TRUE(held);
  EXPECT_EQ(held->granted, 4u);  // as many as the group has
  ASSERT_EQ(held->groups.size(), 1u);
  EXPECT_EQ(held->groups[0].held, 4u);
  EXPECT_FALSE(ann.Reserve({"n", "box", "ann"})->allowed);
  limiter_->Install(
      testing::Rules("namespaces: {n: {resources: {box: {copies: {per_subject: 5, total: "
                     "8, groups: [{name: trial, limit: 4, subjects: [bob]}]}}}}}"),
      kStart);
  // ann has left the group, her copies have not.
  EXPECT_FALSE(bob.Reserve({"n", "box", "bob"})->allowed);
  EXPECT_EQ(*ann.Release(held->hold, 1), 3u);
  EXPECT_TRUE(bob.Reserve({"n", "box", "bob"})->allowed);
  EXPECT_EQ(*ann.Release(held->hold), 0u);
}

TEST_F(Holds, ASessionThatEndsReleasesWhatItHoldsOnce) {
  Holder ann(*limiter_);
  ann.Reserve({"n", "box", "ann", 2});
  ann.Reserve({"n", "box", "bob", 3});
  EXPECT_EQ(HeldTotal(), 5u);
  ann.End();
  EXPECT_EQ(HeldTotal(), 0u);
  ann.End();
  EXPECT_EQ(HeldTotal(), 0u);
  EXPECT_EQ(limiter_->Stats().holds, 0u);
}

TEST_F(Holds, ASessionThatIsNotRenewedEnds) {
  Holder ann(*limiter_, seconds(10));
  ann.Reserve({"n", "box", "ann", 2});
  EXPECT_TRUE(limiter_->RenewSession(ann.session(), kStart + seconds(9)));
  limiter_->Tick(kStart + seconds(18));
  EXPECT_EQ(limiter_->Stats().holds, 1u);
  limiter_->Tick(kStart + seconds(19));
  EXPECT_EQ(limiter_->Stats().holds, 0u);
  EXPECT_FALSE(limiter_->RenewSession(ann.session(), kStart + seconds(19)));
}

TEST_F(Holds, ATransferKeepsTheCountOutlivesItsGiverAndIsSeizedOnce) {
  Holder ann(*limiter_), bob(*limiter_);
  const Ticket hold = ann.Reserve({"n", "box", "ann", 4})->hold;
  const Result<Ticket> transfer = limiter_->Transfer(ann.session(), hold, 3, seconds(5), kStart);
  ASSERT_TRUE(transfer);
  EXPECT_EQ(HeldTotal(), 4u);
  ann.End();
  EXPECT_EQ(HeldTotal(), 3u);
  const Result<Seized> seized = limiter_->Seize(bob.session(), *transfer, kStart + seconds(4));
  ASSERT_TRUE(seized);
  EXPECT_EQ(seized->copies, 3u);
  EXPECT_EQ(seized->namespace_name, "n");
  EXPECT_EQ(seized->resource, "box");
  EXPECT_EQ(seized->subject, "ann");
  EXPECT_EQ(seized->groups, std::vector<std::string>{"trial"});
  EXPECT_EQ(limiter_->Seize(bob.session(), *transfer, kStart).error().code, Code::kUnknownTransfer);
  EXPECT_EQ(*bob.Release(seized->hold), 0u);
  EXPECT_EQ(HeldTotal(), 0u);
}

TEST_F(Holds, ATransferThatNobodySeizesGoesBackToThePool) {
  Holder ann(*limiter_), bob(*limiter_);
  const Ticket hold = ann.Reserve({"n", "box", "ann", 4})->hold;
  const Ticket transfer = *limiter_->Transfer(ann.session(), hold, 0, seconds(5), kStart);
  EXPECT_EQ(ann.Release(hold).error().code, Code::kNotHeld);
  EXPECT_EQ(limiter_->Seize(bob.session(), transfer, kStart + seconds(5)).error().code,
            Code::kUnknownTransfer);
  limiter_->Tick(kStart + seconds(5));
  EXPECT_EQ(HeldTotal(), 0u);
  EXPECT_EQ(limiter_->Stats().transfers, 0u);
}

TEST_F(Holds, ALoweredLimitTakesNothingAwayAndGrantsNothing) {
  Holder ann(*limiter_);
  const Ticket hold = ann.Reserve({"n", "box", "zoe", 5})->hold;
  limiter_->Install(
      testing::Rules("namespaces: {n: {resources: {box: {copies: {per_subject: 2}}}}}"), kStart);
  EXPECT_FALSE(ann.Reserve({"n", "box", "zoe"})->allowed);
  EXPECT_EQ(*ann.Release(hold, 3), 2u);
  EXPECT_FALSE(ann.Reserve({"n", "box", "zoe"})->allowed);
  EXPECT_EQ(*ann.Release(hold, 1), 1u);
  EXPECT_TRUE(ann.Reserve({"n", "box", "zoe"})->allowed);
}

// ---- Waiting ----

TEST_F(Holds, WaitersAreServedInTheOrderOfTheirComing) {
  Holder first(*limiter_), second(*limiter_), third(*limiter_);
  const ReserveRequest lock{
      .namespace_name = "n", .resource = "lock", .subject = "a", .wait = seconds(10)};
  const Ticket hold = first.Reserve(lock)->hold;
  second.Reserve(lock);
  third.Reserve(lock);
  EXPECT_TRUE(second.waits() && third.waits());
  first.Release(hold);
  ASSERT_FALSE(second.waits());
  EXPECT_EQ((*second.answers()[0]).outcome, Outcome::kGranted);
  EXPECT_TRUE(third.waits());
  second.End();
  ASSERT_FALSE(third.waits());
  EXPECT_EQ(limiter_->Stats().waiting, 0u);
}

TEST_F(Holds, NobodyOvertakesOnThePoolThatAnotherWaitsFor) {
  Holder big(*limiter_), small(*limiter_), other(*limiter_);
  Holder owner(*limiter_);
  const Ticket five = owner.Reserve({"n", "box", "x", 5})->hold;
  const Ticket two = owner.Reserve({"n", "box", "y", 2})->hold;
  big.Reserve({"n", "box", "z", 3, std::nullopt, seconds(10)});  // the total has room for 1
  ASSERT_TRUE(big.waits());
  EXPECT_FALSE(small.Reserve({"n", "box", "w", 1})->allowed) << "there is room, but for big";
  owner.Release(two);
  ASSERT_FALSE(big.waits());
  EXPECT_EQ((*big.answers()[0]).granted, 3u);
  owner.Release(five);
  EXPECT_TRUE(small.Reserve({"n", "box", "w", 1})->allowed);
}

TEST_F(Holds, OnesOwnLimitDoesNotHoldUpOthers) {
  Holder ann(*limiter_), bob(*limiter_);
  ann.Reserve({"n", "lock", "ann"});
  Holder again(*limiter_);
  again.Reserve({"n", "lock", "ann", 1, std::nullopt, seconds(10)});
  EXPECT_TRUE(again.waits());
  EXPECT_TRUE(bob.Reserve({"n", "lock", "bob"})->allowed);
}

TEST_F(Holds, WaitingEndsByItself) {
  Holder ann(*limiter_), bob(*limiter_);
  ann.Reserve({"n", "lock", "a"});
  bob.Reserve({"n", "lock", "a", 1, std::nullopt, milliseconds(500)});
  limiter_->Tick(kStart + milliseconds(499));
  EXPECT_TRUE(bob.waits());
  limiter_->Tick(kStart + milliseconds(500));
  ASSERT_EQ(bob.answers().size(), 1u);
  EXPECT_EQ((*bob.answers()[0]).outcome, Outcome::kTimeout);
  EXPECT_FALSE((*bob.answers()[0]).allowed);
}

TEST_F(Holds, TheQueueIsBounded) {
  Holder ann(*limiter_), bob(*limiter_), eve(*limiter_);
  const ReserveRequest lock{"n", "lock", "a", 1, std::nullopt, seconds(10), 1};
  ann.Reserve(lock);
  bob.Reserve(lock);
  EXPECT_TRUE(bob.waits());
  EXPECT_EQ(eve.Reserve(lock)->outcome, Outcome::kQueueFull);
}

TEST_F(Holds, ASessionThatEndsWaitsNoLonger) {
  Holder ann(*limiter_), bob(*limiter_);
  const Ticket hold = ann.Reserve({"n", "lock", "a"})->hold;
  bob.Reserve({"n", "lock", "a", 1, std::nullopt, seconds(10)});
  bob.End();
  ann.Release(hold);
  EXPECT_TRUE(bob.answers().empty());
  EXPECT_EQ(limiter_->Stats().holds, 0u);
}

TEST_F(Holds, SharersAreToldWhenTheHolderIsDone) {
  Holder ann(*limiter_), bob(*limiter_), eve(*limiter_), alone(*limiter_);
  const ReserveRequest share{"n", "lock", "page", 1, std::nullopt, seconds(10), std::nullopt, true};
  ReserveRequest mine = share;
  mine.share = false;
  const Ticket hold = ann.Reserve(share)->hold;
  bob.Reserve(share);
  alone.Reserve(mine);
  eve.Reserve(share);
  ann.Release(hold);
  ASSERT_FALSE(bob.waits());
  EXPECT_EQ((*bob.answers()[0]).outcome, Outcome::kDone);
  EXPECT_EQ((*eve.answers()[0]).outcome, Outcome::kDone);
  EXPECT_EQ((*alone.answers()[0]).outcome, Outcome::kGranted);
}

TEST_F(Holds, RaisedLimitsServeThoseWhoWait) {
  Holder ann(*limiter_), bob(*limiter_);
  ann.Reserve({"n", "lock", "a"});
  bob.Reserve({"n", "lock", "a", 1, std::nullopt, seconds(10)});
  limiter_->Install(
      testing::Rules("namespaces: {n: {resources: {lock: {copies: {per_subject: 2}}}}}"), kStart);
  limiter_->Tick(kStart + milliseconds(100));
  ASSERT_FALSE(bob.waits());
  EXPECT_TRUE((*bob.answers()[0]).allowed);
}

TEST_F(Holds, APoolMayBeDescribedByTheRequest) {
  const SessionId ann = limiter_->OpenSession(kNever, kStart);
  const SessionId bob = limiter_->OpenSession(kNever, kStart);
  std::vector<Reservation> answers;
  const auto keep = [&](const Result<Reservation>& answer) { answers.push_back(*answer); };
  limiter_->ReservePool(ann, {"page", 1, 1, seconds(5)}, kStart, keep);
  limiter_->ReservePool(bob, {"page", 1, 1, seconds(5)}, kStart, keep);
  ASSERT_EQ(answers.size(), 1u);
  limiter_->ReservePool(bob, {"page", 1, 1, seconds(5)}, kStart, keep);
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_EQ(answers[1].outcome, Outcome::kQueueFull);
  limiter_->Release(ann, answers[0].hold, 0, kStart);
  ASSERT_EQ(answers.size(), 3u);
  EXPECT_EQ(answers[2].outcome, Outcome::kGranted);
}

// Whatever happens, what is held is what the holders hold, and never more than the limit.
RC_GTEST_PROP(HoldsProperty, NothingLeaksAndNothingIsGrantedTwice, ()) {
  auto limiter = testing::Open("namespaces: {n: {resources: {box: {copies: {per_subject: 6}}}}}");
  struct Client {
    std::unique_ptr<Holder> holder;
    std::map<uint64_t, std::pair<Ticket, uint64_t>> holds;
  };
  std::vector<Client> clients(3);
  for (Client& client : clients) client.holder = std::make_unique<Holder>(*limiter);
  std::vector<std::pair<Ticket, uint64_t>> transfers;
  uint64_t in_transfer = 0;
  for (int step = 0; step < 60; ++step) {
    Client& client = clients[*rc::gen::inRange<size_t>(0, clients.size())];
    switch (*rc::gen::inRange(0, 5)) {
      case 0: {
        const uint64_t copies = *rc::gen::inRange<uint64_t>(1, 4);
        const Result<Reservation> got = client.holder->Reserve({"n", "box", "s", copies, 1});
        if (got->allowed) client.holds[got->hold.low] = {got->hold, got->granted};
        break;
      }
      case 1:
        if (client.holds.empty()) break;
        {
          auto& [hold, copies] = client.holds.begin()->second;
          const uint64_t back = *rc::gen::inRange<uint64_t>(1, copies + 1);
          RC_ASSERT(*client.holder->Release(hold, back) == copies - back);
          copies -= back;
          if (copies == 0) client.holds.erase(client.holds.begin());
        }
        break;
      case 2:
        if (client.holds.empty()) break;
        {
          const auto [hold, copies] = client.holds.begin()->second;
          transfers.emplace_back(
              *limiter->Transfer(client.holder->session(), hold, 0, seconds(1), kStart), copies);
          in_transfer += copies;
          client.holds.erase(client.holds.begin());
        }
        break;
      case 3:
        if (transfers.empty()) break;
        {
          const Result<Seized> seized =
              limiter->Seize(client.holder->session(), transfers.back().first, kStart);
          RC_ASSERT(seized.ok());
          RC_ASSERT(seized->copies == transfers.back().second);
          client.holds[seized->hold.low] = {seized->hold, seized->copies};
          in_transfer -= seized->copies;
          transfers.pop_back();
        }
        break;
      default:
        client.holder->End();
        client.holds.clear();
        client.holder = std::make_unique<Holder>(*limiter);
    }
    uint64_t held = in_transfer;
    for (const Client& one : clients) {
      for (const auto& [name, hold] : one.holds) held += hold.second;
    }
    RC_ASSERT(held <= 6);
    Holder looker(*limiter);
    const Result<Reservation> rest = looker.Reserve({"n", "box", "s", 6, 1});
    RC_ASSERT((rest->allowed ? rest->granted : 0) == 6 - held);
    looker.End();
  }
}

TEST(HoldsThread, SessionsOfManyThreadsNeverExceedTheLimit) {
  auto limiter = testing::Open("namespaces: {n: {resources: {box: {copies: {per_subject: 3}}}}}");
  std::atomic<int> held{0}, most{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 2000; ++i) {
        const SessionId session = limiter->OpenSession(kNever, kStart);
        limiter->Reserve(session, {"n", "box", "s"}, kStart, [&](const Result<Reservation>& got) {
          if (!got->allowed) return;
          const int now = ++held;
          int seen = most.load();
          while (now > seen && !most.compare_exchange_weak(seen, now)) {
          }
          --held;
        });
        limiter->EndSession(session, kStart);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(most.load(), 3);
  EXPECT_EQ(limiter->Stats().holds, 0u);
  EXPECT_EQ(limiter->Stats().keys, 0u);
}

}  // namespace
}  // namespace weir::holds_test
