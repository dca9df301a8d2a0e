// Asking a store, whichever it is: the asker's thread is run until the answer is there.
#pragma once

#include <gtest/gtest.h>

#include "base/manual_executor.h"
#include "tests/store/testing.h"

namespace weir::testing {

class Question final : public Admission {
 public:
  void Done(const Turn&) override { ++answers; }
  int answers = 0;  // that came later
};
class SettleQuestion final : public Settlement {
 public:
  void Done(const Turn&) override { ++answers; }
  int answers = 0;
};

// One thread that asks, with a clock of its own. Whatever is asked is decided at the instant that is
// told here: it is asked as long before as the store takes.
class Asker {
 public:
  explicit Asker(Store& store, Duration delay = {}) : store_(store), delay_(delay) {}

  Admitted Admit(std::span<Charge> charges, Instant now, Want want = Want::kTake,
                 std::span<Charge> refunds = {}) {
    Question question;
    question.charges = charges;
    question.refunds = refunds;
    question.want = want;
    Begin(question, now);
    if (!store_.Admit(question)) Await(question, now);
    return question.admitted;
  }
  Admitted Take(const LimitSlot* slot, uint64_t key, uint64_t cost, Instant now) {
    Charge charge(KeyOf(key), slot, cost, cost);
    return Admit({&charge, 1}, now);
  }
  // The receipt stays open.
  Receipt TakeWithReceipt(const LimitSlot* slot, uint64_t key, uint64_t cost, Instant now) {
    Receipt receipt;
    Charge charge(KeyOf(key), slot, cost, cost);
    charge.receipt = &receipt;
    Admit({&charge, 1}, now);
    return receipt;
  }
  Admitted Look(std::span<Charge> charges, Instant now) { return Admit(charges, now, Want::kLook); }
  uint64_t Remaining(const LimitSlot* slot, uint64_t key, Instant now) {
    Charge charge(KeyOf(key), slot, 0, 0);
    Look({&charge, 1}, now);
    return charge.remaining;
  }
  SettledUse Settle(std::span<const Receipt> receipts, uint64_t cost, Instant now) {
    SettleQuestion question;
    question.receipts = receipts;
    question.cost = cost;
    Begin(question, now);
    if (!store_.Settle(question)) Await(question, now);
    EXPECT_EQ(question.error, Code::kOk);
    return question.use;
  }

  ManualClock& clock() { return clock_; }
  ManualExecutor& executor() { return executor_; }

 private:
  void Begin(auto& question, Instant now) {
    clock_.Set(now - delay_);
    question.now = now - delay_;
    question.home = &executor_;
  }
  void Await(auto& question, Instant now) {
    EXPECT_EQ(question.answers, 0);
    clock_.Set(now);
    executor_.RunAll();
    EXPECT_EQ(question.answers, 1);
  }

  Store& store_;
  const Duration delay_;
  ManualClock clock_;
  ManualExecutor executor_{clock_};
};

}  // namespace weir::testing
