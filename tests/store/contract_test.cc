// What every store must do, whether it answers at once or later.
#include <gtest/gtest.h>

#include <map>
#include <thread>

#include "tests/golden/vectors.h"
#include "tests/store/contract.h"

namespace weir::contract_test {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::KeyOf;
using testing::kStart;
using testing::Question;
using testing::StoreContract;

TYPED_TEST_SUITE(StoreContract, testing::Stores, testing::StoreNames);

// ---- Golden vectors ----

// One key of one limit, in the words of the vectors.
class GoldenKey {
 public:
  GoldenKey(testing::Asker& asker, const LimitSlot* slot, uint64_t key)
      : asker_(asker), slot_(slot), key_(key) {}

  oracle::Answer Ask(const oracle::Event& event) {
    return event.kind == oracle::Event::Kind::kSettle ? Settle(event) : Request(event);
  }

 private:
  oracle::Answer Request(const oracle::Event& event) {
    Receipt receipt;
    Charge charge(KeyOf(key_), slot_, event.cost, event.least);
    if (event.ticket != 0) charge.receipt = &receipt;
    const Admitted admitted = asker_.Admit({&charge, 1}, event.now);
    EXPECT_EQ(admitted.error, Code::kOk);
    if (receipt.limit != nullptr && receipt.rejected == 0) receipts_[event.ticket] = receipt;
    oracle::Answer answer = AnswerOf(charge, event.now);
    answer.allowed = admitted.allowed;
    answer.granted = admitted.granted;
    answer.retry_at = Then(event.now, admitted.retry_after);
    return answer;
  }
  oracle::Answer Settle(const oracle::Event& event) {
    const auto receipt = receipts_.extract(event.ticket);
    if (receipt.empty()) return {.known = false};
    const SettledUse use = asker_.Settle({&receipt.mapped(), 1}, event.cost, event.now);
    Charge look(KeyOf(key_), slot_, 0, 0);
    asker_.Look({&look, 1}, event.now);
    oracle::Answer answer = AnswerOf(look, event.now);
    EXPECT_EQ(answer.remaining, use.remaining);
    const uint64_t taken = receipt.mapped().taken;
    answer.refunded = taken > use.charged ? taken - use.charged : 0;
    return answer;
  }
  static oracle::Answer AnswerOf(const Charge& charge, Instant now) {
    return {.remaining = charge.remaining,
            .reset_at = Then(now, charge.reset_after),
            .tier = {charge.tier, charge.tier_limit, charge.tier_hits, charge.burst}};
  }
  static Instant Then(Instant now, Duration after) {
    return after == kNever ? kEndOfTime : now + after;
  }

  testing::Asker& asker_;
  const LimitSlot* const slot_;
  const uint64_t key_;
  std::map<uint64_t, Receipt> receipts_;
};

TYPED_TEST(StoreContract, AnswersTheGoldenVectors) {
  uint64_t keys = 0;
  const auto make = [&](const Limit& limit) -> golden::Answerer {
    const auto key = std::make_shared<GoldenKey>(this->asker_, this->Add(limit, Instant{}), ++keys);
    return [key](const oracle::Event& event) { return key->Ask(event); };
  };
  EXPECT_GE(golden::ReplayAll("hand.jsonl", make), 30u);
  EXPECT_GE(golden::ReplayAll("vectors.jsonl", make), 250u);
}

// ---- Several charges ----

TYPED_TEST(StoreContract, TakesOfAllLimitsOrOfNone) {
  const LimitSlot* wide = this->Bucket(100);
  const LimitSlot* narrow = this->Add(TokenBucket(1, seconds(1), 1));
  std::vector<Charge> charges = {{KeyOf(1), wide, 1, 1}, {KeyOf(2), narrow, 1, 1}};
  EXPECT_TRUE(this->asker_.Admit(charges, kStart).allowed);
  const Admitted refused = this->asker_.Admit(charges, kStart);
  EXPECT_FALSE(refused.allowed);
  EXPECT_EQ(refused.granted, 0u);
  EXPECT_EQ(refused.retry_after, seconds(1));
  EXPECT_FALSE(charges[0].refused);
  EXPECT_TRUE(charges[1].refused);
  EXPECT_EQ(charges[0].taken, 0u) << "of charges that are asked again, too";
  EXPECT_EQ(charges[1].taken, 0u);
  EXPECT_EQ(this->Remaining(wide, 1), 99u);
}

TYPED_TEST(StoreContract, GrantsTheMostThatAllHaveRoomForBetweenLeastAndCost) {
  const LimitSlot* a = this->Bucket(10);
  const LimitSlot* b = this->Bucket(4);
  std::vector<Charge> charges = {{KeyOf(1), a, 8, 2}, {KeyOf(2), b, 8, 2}};
  EXPECT_EQ(this->asker_.Admit(charges, kStart).granted, 4u);
  EXPECT_EQ(charges[0].taken, 4u);
  EXPECT_EQ(charges[0].remaining, 6u);
  EXPECT_EQ(charges[1].remaining, 0u);
  EXPECT_FALSE(this->asker_.Admit(charges, kStart).allowed);
  EXPECT_EQ(this->Remaining(a, 1), 6u);
}

TYPED_TEST(StoreContract, AShadowTakesWhatItWouldAdmitAndNeverRefuses) {
  const LimitSlot* a = this->Bucket(10);
  const LimitSlot* b = this->Bucket(2);
  for (int i = 0; i < 3; ++i) {
    std::vector<Charge> charges = {{KeyOf(1), a, 1, 1}, {KeyOf(2), b, 1, 1, true}};
    EXPECT_TRUE(this->asker_.Admit(charges, kStart).allowed);
    EXPECT_EQ(charges[1].refused, i == 2);
  }
  EXPECT_EQ(this->Remaining(a, 1), 7u);
  EXPECT_EQ(this->Remaining(b, 2), 0u);
  // Alone, it is told of the whole cost.
  Charge alone(KeyOf(2), b, 5, 1, true);
  const Admitted admitted = this->asker_.Admit({&alone, 1}, kStart);
  EXPECT_TRUE(admitted.allowed);
  EXPECT_EQ(admitted.granted, 5u);
}

TYPED_TEST(StoreContract, QuotasRefuseOnlyTogether) {
  const LimitSlot* a = this->Bucket(1);
  const LimitSlot* b = this->Bucket(2);
  const auto ask = [&] {
    std::vector<Charge> charges = {{KeyOf(1), a, 1, 1}, {KeyOf(2), b, 1, 1}};
    for (Charge& charge : charges) charge.quota = true;
    return this->asker_.Admit(charges, kStart).allowed;
  };
  EXPECT_TRUE(ask());
  EXPECT_TRUE(ask()) << "one is used up, the other is not";
  EXPECT_EQ(this->Remaining(b, 2), 0u);
  EXPECT_FALSE(ask());
}

TYPED_TEST(StoreContract, ChargesOnOneStateAddUp) {
  const LimitSlot* a = this->Bucket(10);
  std::vector<Charge> charges(3, Charge(KeyOf(1), a, 4, 4));
  EXPECT_FALSE(this->asker_.Admit(charges, kStart).allowed);
  EXPECT_EQ(charges[0].wait, kNever) << "12 never fit into 10";
  for (Charge& charge : charges) charge = Charge(KeyOf(1), a, 4, 1);
  EXPECT_EQ(this->asker_.Admit(charges, kStart).granted, 3u);
  EXPECT_EQ(this->Remaining(a, 1), 1u);
}

// ---- Looking, giving back ----

TYPED_TEST(StoreContract, LookingAnswersTheSameAndTakesNothing) {
  const LimitSlot* log = this->Add(SlidingLog{3, seconds(1), true});
  this->asker_.Take(log, 1, 3, kStart);
  for (int i = 0; i < 3; ++i) {
    Charge charge(KeyOf(1), log, 1, 1);
    const Admitted looked = this->asker_.Look({&charge, 1}, kStart + milliseconds(500));
    EXPECT_FALSE(looked.allowed);
    EXPECT_EQ(looked.retry_after, milliseconds(500) + Duration(1)) << "no refusal is kept";
  }
  std::vector<Charge> charges = {{KeyOf(2), log, 2, 1}, {KeyOf(3), log, 2, 1}};
  for (const size_t count : {1, 2}) {
    EXPECT_EQ(this->asker_.Look({charges.data(), count}, kStart).granted, 2u);
    EXPECT_EQ(charges[0].taken, 0u);
    EXPECT_EQ(charges[0].remaining, 3u);
  }
  EXPECT_TRUE(this->asker_.Take(log, 1, 3, kStart + seconds(1) + Duration(1)).allowed);
}

TYPED_TEST(StoreContract, RefundsComeAfterTheDecisionWhateverItWas) {
  const LimitSlot* a = this->Bucket(10);
  const LimitSlot* b = this->Bucket(3);
  this->asker_.Take(a, 1, 8, kStart);
  for (const bool allowed : {true, false}) {
    Charge charge(KeyOf(2), b, 3, 3);
    Charge back(KeyOf(1), a, 5, 5);
    const Admitted admitted = this->asker_.Admit({&charge, 1}, kStart, Want::kTake, {&back, 1});
    EXPECT_EQ(admitted.allowed, allowed);
    EXPECT_EQ(back.remaining, allowed ? 7u : 10u) << "no more than was used";
    EXPECT_FALSE(back.refused);
  }
  Charge back(KeyOf(2), b, 1, 1);
  EXPECT_TRUE(this->asker_.Admit({}, kStart, Want::kTake, {&back, 1}).allowed);
  EXPECT_EQ(this->Remaining(b, 2), 1u) << "without any charge";
}

TYPED_TEST(StoreContract, RefundsAreNotGivenBeforeTheDecision) {
  const LimitSlot* a = this->Bucket(5);
  this->asker_.Take(a, 1, 5, kStart);
  Charge charge(KeyOf(1), a, 5, 5), back(KeyOf(1), a, 5, 5);
  EXPECT_FALSE(this->asker_.Admit({&charge, 1}, kStart, Want::kTake, {&back, 1}).allowed);
  EXPECT_EQ(this->Remaining(a, 1), 5u);
}

// ---- Settling ----

TYPED_TEST(StoreContract, SettlesUpAndDownAndClosesTheReceipt) {
  const LimitSlot* a = this->Bucket(10);
  const Receipt down = this->asker_.TakeWithReceipt(a, 1, 6, kStart);
  const Receipt up = this->asker_.TakeWithReceipt(a, 2, 2, kStart);
  EXPECT_EQ(a->tickets, 2u);
  const SettledUse less = this->asker_.Settle({&down, 1}, 1, kStart);
  EXPECT_EQ(less.charged, 1u);
  EXPECT_EQ(less.remaining, 9u);
  const SettledUse more = this->asker_.Settle({&up, 1}, 13, kStart);
  EXPECT_EQ(more.charged, 13u);
  EXPECT_EQ(more.remaining, 0u);
  EXPECT_EQ(a->tickets, 0u);
  EXPECT_FALSE(this->asker_.Take(a, 2, 0, kStart).allowed) << "it is overdrawn";
}

TYPED_TEST(StoreContract, OfSeveralReceiptsTheMostIsChargedAndShadowsDoNotCount) {
  const LimitSlot* bucket = this->Add(TokenBucket(10, seconds(10), 10));
  const LimitSlot* window =
      this->Add(FixedWindow{100, seconds(10), FixedWindow::Anchor::kFirstRequest, nullptr});
  for (const bool shadow : {false, true}) {
    const uint64_t key = shadow ? 3 : 1;
    std::vector<Receipt> receipts(2);
    std::vector<Charge> charges = {{KeyOf(key), bucket, 8, 8, shadow},
                                   {KeyOf(key + 1), window, 8, 8}};
    for (size_t i = 0; i < 2; ++i) charges[i].receipt = &receipts[i];
    EXPECT_TRUE(this->asker_.Admit(charges, kStart).allowed);
    // Five of the bucket have come back by themselves.
    const SettledUse use = this->asker_.Settle(receipts, 2, kStart + seconds(5));
    EXPECT_EQ(use.charged, shadow ? 2u : 5u);
    EXPECT_EQ(use.remaining, 10u);
  }
}

TYPED_TEST(StoreContract, WhatIsClosedStaysTakenAndWhatWasAskedForNothingHarmsNobody) {
  const LimitSlot* a = this->Bucket(10);
  const Receipt nothing = this->asker_.TakeWithReceipt(a, 1, 0, kStart);
  const Receipt some = this->asker_.TakeWithReceipt(a, 1, 5, kStart);
  EXPECT_EQ(a->tickets, 2u);
  this->store().Close({&nothing, 1}, kStart);
  EXPECT_EQ(this->Remaining(a, 1), 5u);
  // The other's receipt of the same instant is what it was.
  EXPECT_EQ(this->asker_.Settle({&some, 1}, 2, kStart).charged, 2u);
  EXPECT_EQ(this->Remaining(a, 1), 8u);
  EXPECT_EQ(a->tickets, 0u);
}

TYPED_TEST(StoreContract, WhatWasAskedForNothingCanBeSettledUp) {
  const LimitSlot* a = this->Bucket(10);
  const Receipt nothing = this->asker_.TakeWithReceipt(a, 1, 0, kStart);
  EXPECT_EQ(this->asker_.Settle({&nothing, 1}, 7, kStart).charged, 7u);
  EXPECT_EQ(this->Remaining(a, 1), 3u);
}

TYPED_TEST(StoreContract, SettlingTellsWhatIsLeftThoughTheStateIsGone) {
  const LimitSlot* a = this->Add(TokenBucket(5, seconds(1), 20));
  const Receipt receipt = this->asker_.TakeWithReceipt(a, 1, 4, kStart);
  const Instant later = kStart + hours(1);
  for (size_t i = 0; i < KeyTable::kShards / 8; ++i) this->store().Tick(later);
  const SettledUse use = this->asker_.Settle({&receipt, 1}, 1, later);
  EXPECT_EQ(use.charged, 4u) << "it has come back by itself";
  EXPECT_EQ(use.remaining, 20u);
}

TYPED_TEST(StoreContract, CancelIsAsIfNeverAskedAndReduceAsIfLess) {
  const LimitSlot* a = this->Bucket(10);
  const Receipt gone = this->asker_.TakeWithReceipt(a, 1, 4, kStart);
  Receipt less = this->asker_.TakeWithReceipt(a, 1, 5, kStart);
  this->store().Cancel({&gone, 1}, kStart);
  EXPECT_EQ(this->Remaining(a, 1), 5u);
  this->store().Reduce({&less, 1}, 3, kStart);
  EXPECT_EQ(less.taken, 3u);
  this->store().Reduce({&less, 1}, 8, kStart);
  EXPECT_EQ(less.taken, 3u) << "it never becomes more";
  EXPECT_EQ(this->Remaining(a, 1), 7u);
  EXPECT_EQ(a->tickets, 1u) << "it can still be settled";
  this->store().Reduce({&less, 1}, 0, kStart);
  EXPECT_EQ(this->Remaining(a, 1), 10u);
  EXPECT_EQ(this->asker_.Settle({&less, 1}, 6, kStart).charged, 6u);
  EXPECT_EQ(this->Remaining(a, 1), 4u);
  EXPECT_EQ(a->tickets, 0u);
}

// ---- Changing limits ----

TYPED_TEST(StoreContract, WhatWasUsedStaysUsedWhenALimitIsReplaced) {
  const LimitSlot* old = this->Bucket(10);
  const Receipt receipt = this->asker_.TakeWithReceipt(old, 1, 8, kStart);
  const LimitSlot* next = this->Bucket(20);
  this->memory_.limits().Replace(old, old->serial, next, kStart);
  EXPECT_EQ(this->Remaining(next, 1), 12u);
  EXPECT_TRUE(this->asker_.Take(old, 1, 2, kStart).allowed) << "who has not heard of it yet";
  EXPECT_EQ(this->asker_.Settle({&receipt, 1}, 3, kStart).charged, 3u);
  EXPECT_EQ(this->Remaining(next, 1), 15u);
}

// ---- Waiting ----

TYPED_TEST(StoreContract, WhoCannotWaitIsAnsweredAtOnce) {
  const LimitSlot* a = this->Bucket(10);
  Charge charge(KeyOf(1), a, 4, 4);
  Question question;
  question.charges = {&charge, 1};
  question.now = kStart;
  ASSERT_TRUE(this->store().Admit(question));
  const bool decided = question.admitted.error == Code::kOk;
  EXPECT_EQ(this->Remaining(a, 1), decided ? 6u : 10u) << "an error takes nothing";
  EXPECT_EQ(question.admitted.error, decided ? Code::kOk : Code::kUnavailable);

  const Receipt receipt = this->asker_.TakeWithReceipt(a, 2, 4, kStart);
  testing::SettleQuestion settle;
  settle.receipts = {&receipt, 1};
  settle.cost = 1;
  settle.now = kStart;
  ASSERT_TRUE(this->store().Settle(settle));
  EXPECT_EQ(a->tickets, settle.error == Code::kOk ? 0u : 1u) << "one that fails can be tried again";
  if (settle.error != Code::kOk) {
    EXPECT_EQ(this->asker_.Settle({&receipt, 1}, 1, kStart).charged, 1u);
  }
  EXPECT_EQ(this->Remaining(a, 2), 9u);
}

TYPED_TEST(StoreContract, ManyQuestionsAreAnsweredOnceEachAndNoneThatIsAbandoned) {
  const LimitSlot* a = this->Bucket(1000);
  std::vector<Charge> charges(100, Charge(KeyOf(1), a, 1, 1));
  std::vector<Question> questions(100);
  testing::Asker& asker = this->asker_;
  asker.clock().Set(kStart);
  std::vector<bool> late;
  for (size_t i = 0; i < questions.size(); ++i) {
    questions[i].charges = {&charges[i], 1};
    questions[i].now = kStart;
    questions[i].home = &asker.executor();
    late.push_back(!this->store().Admit(questions[i]));
  }
  for (size_t i = 0; i < questions.size(); i += 3) this->store().Abandon(questions[i]);
  asker.clock().Advance(seconds(1));
  asker.executor().RunAll();
  uint64_t answered = 0;
  for (size_t i = 0; i < questions.size(); ++i) {
    EXPECT_EQ(questions[i].answers, late[i] && i % 3 != 0 ? 1 : 0) << i;
    if (!late[i] || i % 3 != 0) {
      EXPECT_TRUE(questions[i].admitted.allowed);
      ++answered;
    }
  }
  const uint64_t taken = 1000 - this->Remaining(a, 1);
  EXPECT_GE(taken, answered);
  EXPECT_LE(taken, 100u);
}

TYPED_TEST(StoreContract, AnAnswerPastItsDeadlineTakesNothing) {
  const LimitSlot* a = this->Bucket(10);
  Charge charge(KeyOf(1), a, 4, 4);
  Question question;
  question.charges = {&charge, 1};
  question.now = kStart;
  question.deadline = kStart + milliseconds(20);
  testing::Asker& asker = this->asker_;
  question.home = &asker.executor();
  asker.clock().Set(kStart);
  if (this->store().Admit(question)) return;
  asker.clock().Set(kStart + milliseconds(21));  // its thread was busy
  asker.executor().RunAll();
  EXPECT_EQ(question.answers, 1);
  EXPECT_EQ(question.admitted.error, Code::kUnavailable);
  EXPECT_EQ(this->Remaining(a, 1), 10u);
}

// ---- Threads ----

TYPED_TEST(StoreContract, ThreadsTogetherGetWhatThereIs) {
  const LimitSlot* a = this->Bucket(2000);
  const LimitSlot* b = this->Bucket(1500);
  std::atomic<uint64_t> admitted{0}, cancelled{0};
  const auto work = [&](uint64_t seed) {
    Random random(seed);
    testing::Asker asker(this->store(), TypeParam::kDelay);
    for (int i = 0; i < 1000; ++i) {
      std::vector<Receipt> receipts(2);
      std::vector<Charge> charges = {{KeyOf(1), a, 1, 1}, {KeyOf(2), b, 1, 1}};
      if (random.Below(2) == 0) std::swap(charges[0], charges[1]);
      const bool settles = random.Below(2) == 0;
      for (size_t j = 0; settles && j < 2; ++j) charges[j].receipt = &receipts[j];
      if (!asker.Admit(charges, kStart).allowed) continue;
      ++admitted;
      if (!settles) continue;
      switch (random.Below(3)) {
        case 0: asker.Settle(receipts, 1, kStart); break;
        case 1: this->store().Close(receipts, kStart); break;
        default: this->store().Cancel(receipts, kStart); ++cancelled;
      }
    }
  };
  std::vector<std::thread> threads;
  for (uint64_t i = 0; i < 4; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(this->Remaining(a, 1), 2000 - (admitted - cancelled));
  EXPECT_EQ(this->Remaining(b, 2), 1500 - (admitted - cancelled));
  EXPECT_GE(admitted - cancelled, 1400u);
  EXPECT_EQ(a->tickets + b->tickets, 0u);
}

}  // namespace
}  // namespace weir::contract_test
