// A store elsewhere that answers when it is told to, and notes what it was asked.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "store/store.h"

namespace weir::testing {

class HeldBack final : public Store {
 public:
  explicit HeldBack(Store& store) : store_(store) {}

  bool Admit(Admission& admission) override {
    asked.push_back(admission.want);
    if (on_ask) on_ask();
    if (admission.home == nullptr) {
      admission.admitted = {.error = Code::kUnavailable};
      return true;
    }
    held_.push_back(&admission);
    return false;
  }
  void Abandon(Admission& admission) override {
    EXPECT_EQ(std::erase(held_, &admission), 1u) << "it does not wait";
    ++abandoned;
  }
  bool Settle(Settlement& settlement) override {
    if (away) {
      settlement.error = Code::kUnavailable;
      return true;
    }
    if (settlement.home == nullptr) return store_.Settle(settlement);
    settled_.push_back(&settlement);
    return false;
  }
  void Abandon(Settlement& settlement) override {
    EXPECT_EQ(std::erase(settled_, &settlement), 1u) << "it does not wait";
    ++abandoned;
  }
  void Close(std::span<const Receipt> receipts, Instant now) override {
    closed += receipts.size();
    store_.Close(receipts, now);
  }
  void Reduce(std::span<Receipt> receipts, uint64_t keep, Instant now) override {
    store_.Reduce(receipts, keep, now);
  }
  void Cancel(std::span<const Receipt> receipts, Instant now) override {
    store_.Cancel(receipts, now);
  }
  StoreStats Stats() const override { return store_.Stats(); }

  // The oldest question is decided now.
  void Answer(const Turn& now) {
    if (!held_.empty()) {
      Admission& one = *held_.front();
      held_.erase(held_.begin());
      ASSERT_TRUE(store_.Admit(one));
      one.Done(now);
    } else {
      ASSERT_FALSE(settled_.empty());
      Settlement& one = *settled_.front();
      settled_.erase(settled_.begin());
      ASSERT_TRUE(store_.Settle(one));
      one.Done(now);
    }
  }
  // Or it says that it is away.
  void AnswerAway(const Turn& now, Code code = Code::kUnavailable) {
    if (!held_.empty()) {
      Admission& one = *held_.front();
      held_.erase(held_.begin());
      one.admitted = {.error = code};
      one.Done(now);
    } else {
      Settlement& one = *settled_.front();
      settled_.erase(settled_.begin());
      one.error = code;
      one.Done(now);
    }
  }
  // The oldest settlement: the caller answers it.
  Settlement* TakeSettlement() {
    Settlement* const one = settled_.front();
    settled_.erase(settled_.begin());
    return one;
  }
  size_t held() const { return held_.size() + settled_.size(); }

  std::vector<Want> asked;
  size_t closed = 0, abandoned = 0;
  bool away = false;
  std::function<void()> on_ask;

 private:
  Store& store_;
  std::vector<Admission*> held_;
  std::vector<Settlement*> settled_;
};

}  // namespace weir::testing
