// Requests over two stores: what the tests of the router share.
#pragma once

#include "lab/stores/faulty.h"
#include "store/router.h"
#include "tests/store/asking.h"
#include "tests/store/held_back.h"

namespace weir::testing {

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
