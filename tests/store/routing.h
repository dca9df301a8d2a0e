// Requests over two stores: what the tests of the router share.
#pragma once

#include <functional>
#include <list>

#include "lab/stores/faulty.h"
#include "store/router.h"
#include "tests/store/asking.h"

namespace weir::testing {

// A remote store that answers when it is told to, and notes what it was asked.
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

// A request that notes its answer.
class RoutedRequest final : public Routing {
 public:
  void Routed(const Turn&) override { ++answers; }
  int answers = 0;  // that came later
};

// Memory here, memory elsewhere, and a thread that asks. Limits have the same numbers in both.
class TwoStores {
 public:
  MemoryStore here{Mib(16), kStart}, there{Mib(16), kStart};
  ManualClock clock{kStart};
  ManualExecutor executor{clock};

  const LimitSlot* Add(const Limit& limit, SlotTraits traits) {
    const LimitSlot* slot = here.limits().Add(limit, traits, clock.Now());
    const LimitSlot* same = there.limits().Add(limit, traits, clock.Now());
    EXPECT_EQ(slot->number, same->number);
    slots_.push_back(slot);
    return slot;
  }
  const LimitSlot* Here(const Limit& limit) { return Add(limit, {.persist = true}); }
  const LimitSlot* Remote(const Limit& limit, OnFailure on_failure = OnFailure::kAllow) {
    return Add(limit, {.on_failure = on_failure, .remote = true});
  }
  static Limit Bucket(uint64_t burst) { return TokenBucket(burst, std::chrono::hours(1), burst); }

  // In the store that decides it.
  uint64_t Left(const LimitSlot* slot, uint64_t key) {
    return Remaining(slot->traits.remote ? there : here, slot, key, clock.Now());
  }
  uint64_t LeftHere(const LimitSlot* slot, uint64_t key) {
    return Remaining(here, slot, key, clock.Now());
  }
  // The state of a key here, as it would be written down.
  std::string Bytes(uint64_t key) {
    here.MarkChanged(KeyOf(key));
    for (const SavedCell& saved : here.TakeChanged(clock.Now())) {
      if (saved.key == KeyOf(key)) return saved.bytes;
    }
    return {};
  }
  // Receipts that are open, and limits that are waited for.
  uint64_t Tickets() const {
    uint64_t sum = 0;
    for (const LimitSlot* slot : slots_) sum += slot->tickets;
    return sum;
  }
  const std::vector<const LimitSlot*>& slots() const { return slots_; }

  void Ask(Routing& routing, std::span<Charge> charges, Duration patience = kNever) {
    routing.charges = charges;
    routing.now = clock.Now();
    routing.deadline = patience == kNever ? kEndOfTime : clock.Now() + patience;
    routing.home = &executor;
  }

 private:
  std::vector<const LimitSlot*> slots_;
};

struct RouterTest : ::testing::Test, TwoStores {
  HeldBack remote{there};
  Router router{here, &remote};

  // What was counted of a cause.
  uint64_t Failures(FailureCause cause) const {
    return router.Failures()[static_cast<size_t>(cause)].count;
  }
  // Asks, and says whether it waits.
  bool Waits(RoutedRequest& routing, std::span<Charge> charges, Duration patience = kNever) {
    Ask(routing, charges, patience);
    return !router.Admit(routing);
  }
  void Answer() { remote.Answer(Turn(clock)); }
  // Nothing is left behind: no receipt, no timer, nobody who waits.
  void ExpectNothingLeft() {
    EXPECT_EQ(Tickets(), 0u);
    EXPECT_TRUE(executor.timers().empty());
    EXPECT_EQ(router.waiting(), 0u);
    EXPECT_EQ(remote.held(), 0u);
  }
};

}  // namespace weir::testing
