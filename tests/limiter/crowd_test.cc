// Very many holds, sessions, transfers and waiters: bounded, in small steps, and nobody takes it all.
#include <gtest/gtest.h>

#include "holds/fair_room.h"
#include "tests/limiter/testing.h"

namespace weir::crowd_test {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::Holder;
using testing::kStart;

constexpr std::string_view kRules = R"(
namespaces:
  n:
    resources:
      box: {copies: {per_subject: 1000000, total: 1000000}}
      pair: {copies: {per_subject: 1, total: 2}}
      lock: {copies: {per_subject: 1}}
  other:
    resources:
      box: {copies: {per_subject: 1000000}}
      lock: {copies: {per_subject: 1}}
)";

class Crowd : public ::testing::Test {
 protected:
  std::unique_ptr<Limiter> limiter_ = testing::Open(kRules);
  uint64_t Held() {
    Holder looker(*limiter_);
    const Result<Reservation> one = looker.Reserve({"n", "box", "looker", 1000000, 0});
    const uint64_t held = 1000000 - one->granted;
    looker.End();
    return held;
  }
};

// The end of a session does not hold up others: what it held comes back in slices, each copy once.
TEST_F(Crowd, VeryManyHoldsComeBackInSlicesAndOnce) {
  constexpr uint64_t kHolds = 100'000;
  Holder ann(*limiter_), bob(*limiter_);
  std::vector<Ticket> holds;
  for (uint64_t i = 0; i < kHolds; ++i) holds.push_back(ann.Reserve({"n", "box", "ann"})->hold);
  bob.Reserve({"n", "box", "bob"});
  ann.End();
  EXPECT_GT(Held(), kHolds / 2) << "not all under one lock";
  EXPECT_EQ(ann.Release(holds[0]).error().code, Code::kNotHeld);
  EXPECT_EQ(limiter_->Transfer(ann.session(), holds[0], 0, seconds(1), kStart).error().code,
            Code::kNotHeld);
  EXPECT_EQ(ann.Reserve({"n", "box", "ann"}).error().code, Code::kNotHeld);
  uint64_t before = Held();
  for (int ticks = 0; Held() > 1 && ticks < 100; ++ticks) {
    limiter_->Tick(kStart);
    ASSERT_LT(Held(), before);
    before = Held();
  }
  EXPECT_EQ(Held(), 1u);
  EXPECT_EQ(limiter_->Stats().holds, 1u);
  ann.End();
  limiter_->Tick(kStart);
  EXPECT_EQ(Held(), 1u);
}

TEST_F(Crowd, AnOrdinaryNumberOfHoldsComesBackAtOnce) {
  Holder ann(*limiter_);
  for (int i = 0; i < 1000; ++i) ann.Reserve({"n", "box", "ann"});
  ann.End();
  EXPECT_EQ(Held(), 0u);
}

TEST_F(Crowd, TransfersLiveForADayAtMostAndLeaveNothingWhenSeized) {
  Holder ann(*limiter_), bob(*limiter_);
  Ticket hold = ann.Reserve({"n", "box", "ann"})->hold;
  const Result<Ticket> for_ever =
      limiter_->Transfer(ann.session(), hold, 0, hours(24) + milliseconds(1), kStart);
  EXPECT_EQ(for_ever.error().code, Code::kBadRequest);
  EXPECT_EQ(for_ever.error().field, "ttl_ms");
  const uint64_t before = limiter_->Stats().bytes;
  for (int i = 0; i < 10'000; ++i) {
    Holder& giver = i % 2 == 0 ? ann : bob;
    Holder& taker = i % 2 == 0 ? bob : ann;
    const Result<Ticket> transfer = limiter_->Transfer(giver.session(), hold, 0, hours(24), kStart);
    ASSERT_TRUE(transfer);
    hold = limiter_->Seize(taker.session(), *transfer, kStart)->hold;
  }
  EXPECT_EQ(limiter_->Stats().transfers, 0u);
  EXPECT_EQ(limiter_->Stats().bytes, before);
}

TEST_F(Crowd, HoldsOfOneNamespaceLeaveRoomForAnother) {
  limiter_ = testing::Open(kRules, {.memory_bytes = uint64_t{8} << 20});
  Holder ann(*limiter_), bob(*limiter_);
  uint64_t held = 0;
  Result<Reservation> answer = ann.Reserve({"n", "box", "ann"});
  for (; answer && held < 1'000'000; ++held) answer = ann.Reserve({"n", "box", "ann"});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Code::kOverloaded);
  EXPECT_GT(held, 5000u);
  EXPECT_LE(limiter_->Stats().bytes, uint64_t{8} << 20);
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(bob.Reserve({"other", "box", "bob"})->allowed);
  ann.End();
  for (int i = 0; i < 10; ++i) limiter_->Tick(kStart);
  EXPECT_TRUE(bob.Reserve({"n", "box", "bob"})->allowed);
}

TEST_F(Crowd, SessionsAreBoundedAndThoseInUseStay) {
  limiter_ = testing::Open(kRules, {.memory_bytes = uint64_t{8} << 20});
  Holder holds(*limiter_, hours(1)), waits(*limiter_, hours(1));
  ASSERT_TRUE(holds.Reserve({"n", "lock", "a"})->allowed);
  waits.Reserve({.namespace_name = "n", .resource = "lock", .subject = "a", .wait = hours(1)});
  ASSERT_TRUE(waits.waits());
  SessionId last;
  for (int i = 0; i < 20'000; ++i) {
    last = limiter_->OpenSession(hours(1), kStart + milliseconds(1));
    ASSERT_TRUE(last);
  }
  EXPECT_LE(limiter_->Stats().sessions, 2048u);
  EXPECT_TRUE(limiter_->RenewSession(holds.session(), kStart));
  EXPECT_TRUE(limiter_->RenewSession(waits.session(), kStart));
  EXPECT_TRUE(limiter_->RenewSession(last, kStart));
  // All expire in their time, whether they were renewed or not.
  EXPECT_TRUE(limiter_->RenewSession(last, kStart + hours(1)));
  for (int i = 0; i < 3; ++i) limiter_->Tick(kStart + hours(1) + milliseconds(1));
  EXPECT_EQ(limiter_->Stats().sessions, 1u);
  EXPECT_EQ(limiter_->Stats().holds, 0u);
  for (int i = 0; i < 3; ++i) limiter_->Tick(kStart + hours(2));
  EXPECT_EQ(limiter_->Stats().sessions, 0u);
}

TEST_F(Crowd, NoSessionWhenAllAreInUse) {
  limiter_ = testing::Open(kRules, {.memory_bytes = uint64_t{4} << 20});
  int opened = 0;
  for (; opened < 5000; ++opened) {
    const SessionId session = limiter_->OpenSession(hours(1), kStart);
    if (!session) break;
    limiter_->Reserve(session, {"n", "box", "ann"}, kStart, [](const Result<Reservation>&) {});
  }
  EXPECT_EQ(opened, 1024);
  EXPECT_TRUE(limiter_->OpenSession(kNever, kStart)) << "a connection's own";
}

// ---- Waiting ----

ReserveRequest Waiting(std::string_view ns, std::string_view subject) {
  return {.namespace_name = ns, .resource = "lock", .subject = subject, .wait = hours(1)};
}

TEST_F(Crowd, NeitherASessionNorANamespaceFillsTheWaitingRoom) {
  Holder holder(*limiter_);
  holder.Reserve({"n", "lock", "a"});
  holder.Reserve({"other", "lock", "a"});
  uint64_t full = 0;
  const auto count = [&](const Result<Reservation>& answer) {
    full += answer && answer->outcome == Outcome::kQueueFull ? 1 : 0;
  };
  const SessionId one = limiter_->OpenSession(kNever, kStart);
  for (int i = 0; i < 100'000; ++i) limiter_->Reserve(one, Waiting("n", "a"), kStart, count);
  EXPECT_EQ(full, 100'000u - 6'250u);
  for (int s = 0; s < 30; ++s) {
    const SessionId more = limiter_->OpenSession(kNever, kStart);
    for (int i = 0; i < 5'000; ++i) limiter_->Reserve(more, Waiting("n", "a"), kStart, count);
  }
  EXPECT_LT(limiter_->Stats().waiting, 90'000u);
  full = 0;
  const SessionId other = limiter_->OpenSession(kNever, kStart);
  for (int i = 0; i < 5'000; ++i) limiter_->Reserve(other, Waiting("other", "a"), kStart, count);
  EXPECT_EQ(full, 0u);
  // The end of a session takes its waiters along, and their room.
  const uint64_t waiting = limiter_->Stats().waiting;
  limiter_->EndSession(one, kStart);
  limiter_->Tick(kStart);
  EXPECT_EQ(limiter_->Stats().waiting, waiting - 6'250u);
}

TEST_F(Crowd, AClientOfManySessionsDoesNotFillItsNamespacesPart) {
  Holder holder(*limiter_);
  const Ticket hold = holder.Reserve({"n", "lock", "a"})->hold;
  uint64_t full = 0;
  const auto count = [&](const Result<Reservation>& answer) {
    full += answer && answer->outcome == Outcome::kQueueFull ? 1 : 0;
  };
  std::vector<SessionId> sessions;
  for (int s = 0; s < 100; ++s) {
    sessions.push_back(limiter_->OpenSession(hours(1), kStart, "192.0.2.7"));
    for (int i = 0; i < 1'000; ++i) {
      limiter_->Reserve(sessions.back(), Waiting("n", "a"), kStart, count);
    }
  }
  EXPECT_EQ(limiter_->Stats().waiting, 12'500u);
  EXPECT_EQ(full, 100'000u - 12'500u);
  full = 0;
  const SessionId other = limiter_->OpenSession(hours(1), kStart, "192.0.2.8");
  for (int i = 0; i < 5'000; ++i) limiter_->Reserve(other, Waiting("n", "a"), kStart, count);
  EXPECT_EQ(full, 0u);
  // What its sessions leave, it may take again.
  limiter_->EndSession(sessions[0], kStart);
  limiter_->Tick(kStart);
  for (int i = 0; i < 2'000; ++i) limiter_->Reserve(sessions[1], Waiting("n", "a"), kStart, count);
  EXPECT_EQ(full, 1'000u);
  EXPECT_EQ(limiter_->Stats().waiting, 17'500u);
  holder.Release(hold);
}

// ---- Much at once, in slices ----

// Work that is done for all who share it is told to all, once, a slice at a time; those who came after it
// wait for the next.
TEST_F(Crowd, VeryManyWhoShareAreToldInSlices) {
  Holder worker(*limiter_), late(*limiter_), alone(*limiter_);
  ReserveRequest share = Waiting("n", "a");
  share.share = true;
  const Ticket hold = worker.Reserve(share)->hold;
  constexpr uint64_t kSharers = 20'000;
  uint64_t done = 0, others = 0;
  std::vector<SessionId> sessions;
  for (int i = 0; i < 4; ++i) sessions.push_back(limiter_->OpenSession(kNever, kStart));
  for (uint64_t i = 0; i < kSharers; ++i) {
    if (i == kSharers / 2) alone.Reserve(Waiting("n", "a"));
    limiter_->Reserve(sessions[i % 4], share, kStart, [&](const Result<Reservation>& answer) {
      ++(answer && answer->outcome == Outcome::kDone ? done : others);
    });
  }
  ASSERT_TRUE(worker.Release(hold));
  EXPECT_GT(done, 0u);
  EXPECT_LT(done, kSharers / 4) << "not all under one lock";
  late.Reserve(share);
  ASSERT_TRUE(late.waits()) << "behind one who does not share";
  for (int i = 0; i < 10; ++i) limiter_->Tick(kStart);
  EXPECT_EQ(done, kSharers);
  EXPECT_EQ(others, 0u);
  ASSERT_FALSE(alone.waits());
  EXPECT_EQ(alone.answers()[0]->outcome, Outcome::kGranted);
  EXPECT_TRUE(late.waits());
  alone.Release(alone.answers()[0]->hold);
  ASSERT_FALSE(late.waits());
  EXPECT_EQ(late.answers()[0]->outcome, Outcome::kGranted);
}

// Nobody is told, or given anything, after his session has ended, though his turn to be taken out has not come.
TEST_F(Crowd, TheEndOfASessionThatWaitsVeryOftenHoldsUpNobody) {
  constexpr uint64_t kWaits = 6'000;
  Holder holder(*limiter_), bob(*limiter_);
  std::vector<std::string> subjects;
  for (uint64_t i = 0; i < kWaits; ++i) subjects.push_back("s" + std::to_string(i));
  std::vector<Ticket> holds;
  for (const std::string& subject : subjects) {
    holds.push_back(holder.Reserve({"n", "lock", subject})->hold);
  }
  uint64_t told = 0;
  const SessionId ends = limiter_->OpenSession(kNever, kStart);
  for (const std::string& subject : subjects) {
    ReserveRequest soon = Waiting("n", subject);
    soon.wait = seconds(1);
    limiter_->Reserve(ends, soon, kStart, [&](const Result<Reservation>&) { ++told; });
  }
  bob.Reserve(Waiting("n", subjects.back()));
  limiter_->EndSession(ends, kStart);
  EXPECT_GT(limiter_->Stats().waiting, kWaits / 2) << "not all under one lock";
  holder.Release(holds.back());
  EXPECT_FALSE(bob.waits()) << "past one who has gone";
  limiter_->Tick(kStart + seconds(1));
  EXPECT_EQ(limiter_->Stats().waiting, 0u);
  EXPECT_EQ(limiter_->Stats().holds, kWaits);
  EXPECT_EQ(told, 0u);
}

TEST_F(Crowd, MuchRoomAtOnceServesAllWhoWaitForIt) {
  constexpr uint64_t kWaiters = 20'000;
  Holder holder(*limiter_);
  const Ticket hold = holder.Reserve({"n", "box", "a", 1'000'000})->hold;
  uint64_t granted = 0;
  std::vector<SessionId> sessions;
  for (int i = 0; i < 4; ++i) sessions.push_back(limiter_->OpenSession(kNever, kStart));
  for (uint64_t i = 0; i < kWaiters; ++i) {
    limiter_->Reserve(
        sessions[i % 4],
        {.namespace_name = "n", .resource = "box", .subject = "a", .wait = hours(1)}, kStart,
        [&](const Result<Reservation>& answer) { granted += answer && answer->allowed ? 1 : 0; });
  }
  ASSERT_TRUE(holder.Release(hold));
  EXPECT_GT(granted, 0u);
  EXPECT_LT(granted, kWaiters / 4) << "not all under one lock";
  limiter_->Tick(kStart);
  EXPECT_EQ(granted, kWaiters);
}

// However many there are, none is late for long: whether they expire or were renewed.
TEST_F(Crowd, VeryManySessionsExpireTogether) {
  constexpr uint64_t kSessions = 20'000;
  std::vector<SessionId> sessions;
  for (uint64_t i = 0; i < kSessions; ++i) {
    sessions.push_back(limiter_->OpenSession(seconds(1), kStart));
  }
  for (uint64_t i = 0; i < kSessions / 2; ++i) {
    limiter_->RenewSession(sessions[i], kStart + milliseconds(500));
  }
  limiter_->Tick(kStart + seconds(1));
  EXPECT_EQ(limiter_->Stats().sessions, kSessions / 2);
  limiter_->Tick(kStart + milliseconds(1500));
  EXPECT_EQ(limiter_->Stats().sessions, 0u);
}

// Who gives up waiting may have kept others from room that was not enough for him.
TEST_F(Crowd, WhoeverLosesPatienceMakesWayForLesserWants) {
  Holder holder(*limiter_), much(*limiter_), little(*limiter_);
  holder.Reserve({"n", "box", "a", 999'999});
  much.Reserve({.namespace_name = "n",
                .resource = "box",
                .subject = "a",
                .copies = 2,
                .min_copies = 2,
                .wait = seconds(1)});
  little.Reserve({.namespace_name = "n", .resource = "box", .subject = "a", .wait = hours(1)});
  ASSERT_TRUE(much.waits() && little.waits());
  limiter_->Tick(kStart + seconds(1));
  EXPECT_EQ(much.answers()[0]->outcome, Outcome::kTimeout);
  EXPECT_FALSE(little.waits());
}

// With tens of thousands waiting, one step is not a walk through all of them.
TEST_F(Crowd, ManyWaitersAreServedOneByOneInOrder) {
  constexpr int kWaiters = 20'000;
  std::vector<Ticket> holds(1);
  Holder first(*limiter_);
  holds[0] = first.Reserve({"n", "lock", "a"})->hold;
  std::vector<SessionId> sessions = {first.session()};
  for (int i = 0; i < 4; ++i) sessions.push_back(limiter_->OpenSession(kNever, kStart));
  std::vector<int> order;
  std::vector<SessionId> whose(1, first.session());
  for (int i = 1; i <= kWaiters; ++i) {
    const SessionId session = sessions[static_cast<size_t>(i) % sessions.size()];
    limiter_->Reserve(session, Waiting("n", "a"), kStart,
                      [&, i, session](const Result<Reservation>& answer) {
                        order.push_back(i);
                        holds.push_back(answer->hold);
                        whose.push_back(session);
                      });
  }
  for (int i = 0; i < kWaiters; ++i) {
    const auto at = static_cast<size_t>(i);
    ASSERT_TRUE(limiter_->Release(whose[at], holds[at], 0, kStart));
    ASSERT_EQ(order.size(), at + 1);
    ASSERT_EQ(order.back(), i + 1);
  }
}

// Who waits for his subject's pool does not keep others from a pool that all share.
TEST_F(Crowd, AGreedySubjectDoesNotBlockOthers) {
  Holder ann(*limiter_), bob(*limiter_), more(*limiter_), third(*limiter_);
  const auto pair = [](std::string_view subject) {
    return ReserveRequest{
        .namespace_name = "n", .resource = "pair", .subject = subject, .wait = hours(1)};
  };
  const Ticket anns = ann.Reserve(pair("ann"))->hold;
  const Ticket bobs = bob.Reserve(pair("bob"))->hold;
  Holder ann_again(*limiter_), ann_more(*limiter_);
  ann_again.Reserve(pair("ann"));  // blocked by her own pool and by that of all
  ann_more.Reserve(pair("ann"));
  third.Reserve(pair("zoe"));  // blocked by that of all
  bob.Release(bobs);
  EXPECT_FALSE(third.waits());
  EXPECT_TRUE(ann_again.waits() && ann_more.waits());
  ann.Release(anns);
  EXPECT_FALSE(ann_again.waits());
  EXPECT_TRUE(ann_more.waits());
  ann_again.Release(ann_again.answers()[0]->hold);
  EXPECT_FALSE(ann_more.waits());
}

TEST_F(Crowd, WhoeverLosesPatienceIsToldAndMakesWay) {
  Holder ann(*limiter_), bob(*limiter_), zoe(*limiter_);
  const Ticket hold = ann.Reserve({"n", "lock", "a"})->hold;
  ReserveRequest soon = Waiting("n", "a");
  soon.wait = seconds(1);
  bob.Reserve(soon);
  zoe.Reserve(Waiting("n", "a"));
  limiter_->Tick(kStart + seconds(1));
  ASSERT_FALSE(bob.waits());
  EXPECT_EQ(bob.answers()[0]->outcome, Outcome::kTimeout);
  ann.Release(hold, 0, kStart + seconds(1));
  EXPECT_FALSE(zoe.waits());
}

// Rules that make room are noticed, however many wait.
TEST_F(Crowd, AChangeOfRulesServesThoseWhoWait) {
  Holder ann(*limiter_);
  std::vector<std::unique_ptr<Holder>> waiting;
  for (int i = 0; i < 3000; ++i) {
    const std::string subject = "s" + std::to_string(i);
    ann.Reserve({"n", "lock", subject});
    waiting.push_back(std::make_unique<Holder>(*limiter_));
    waiting.back()->Reserve(Waiting("n", subject));
  }
  limiter_->Install(
      testing::Rules("namespaces: {n: {resources: {lock: {copies: {per_subject: 2}}}}}"), kStart);
  for (int i = 0; i < 4; ++i) limiter_->Tick(kStart);
  for (const auto& waiter : waiting) EXPECT_FALSE(waiter->waits());
}

// ---- The room itself ----

TEST(FairRoom, HalfIsAnybodysAndEveryOwnerHasItsPart) {
  LimitTable limits(kStart);
  for (const char* name : {"a", "b", "c"}) limits.Add(Copies{1}, {}, kStart, name);
  FairRoom room(nullptr, limits, 800);  // 400 for all, 100 for each of four
  room.Enter(1, 500);
  EXPECT_FALSE(room.Fits(1, 1));
  for (const uint32_t other : {0u, 2u, 3u}) {
    EXPECT_TRUE(room.Fits(other, 100));
    EXPECT_FALSE(room.Fits(other, 101));
  }
  room.Leave(1, 50);
  EXPECT_TRUE(room.Fits(2, 150));
  room.Enter(2, 150);
  EXPECT_FALSE(room.Fits(1, 1));
  limits.Add(Copies{1}, {}, kStart, "d");  // 80 for each
  EXPECT_TRUE(room.Fits(3, 80));
  EXPECT_FALSE(room.Fits(3, 81));
}

}  // namespace
}  // namespace weir::crowd_test
