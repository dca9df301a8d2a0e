// A store that fails: late, away, unheard, by chance or as it is told.
//
// It stands before another store, which answers at once. What it passes on is decided there. What it
// loses nobody answers: the asker's own deadline has to come. An answer that is lost was decided: what
// was taken then stays taken, and nobody has its receipts. Settlements are not carried out unheard: a
// settlement that was lost comes again, and a store must carry it out once.
#pragma once

#include <mutex>

#include "base/random.h"
#include "lab/stores/later.h"

namespace weir::lab {

class Faulty : public Store {
 public:
  // In a thousand.
  struct Faults {
    uint64_t fails = 0;         // says at once that it is away: nothing was decided
    uint64_t fails_late = 0;    // says so after a while
    uint64_t late = 0;          // decides after a while
    uint64_t loses = 0;         // never answers, and did not decide
    uint64_t loses_answer = 0;  // never answers, though it has decided
  };

  Faulty(Store& store, uint64_t seed, Duration delay = std::chrono::milliseconds(1))
      : store_(store), late_(store, delay), late_away_(away_, delay), random_(seed) {}

  // From now on, for every question.
  void Set(const Faults& faults) { faults_ = faults; }
  uint64_t decided_unheard() const { return decided_unheard_; }

  bool Admit(Admission& admission) override {
    switch (Draw(admission.home != nullptr)) {
      case Fate::kFails: return away_.Admit(admission);
      case Fate::kFailsLate: return late_away_.Admit(admission);
      case Fate::kLate: return late_.Admit(admission);
      case Fate::kLost: return false;
      case Fate::kUnheard: DecideUnheard(admission); return false;
      case Fate::kHeard: break;
    }
    return store_.Admit(admission);
  }
  void Abandon(Admission& admission) override {
    late_.Abandon(admission);
    late_away_.Abandon(admission);
    store_.Abandon(admission);
  }
  bool Settle(Settlement& settlement) override {
    switch (Draw(settlement.home != nullptr)) {
      case Fate::kFails: return away_.Settle(settlement);
      case Fate::kFailsLate: return late_away_.Settle(settlement);
      case Fate::kLate: return late_.Settle(settlement);
      case Fate::kLost:
      case Fate::kUnheard: return false;
      case Fate::kHeard: break;
    }
    return store_.Settle(settlement);
  }
  void Abandon(Settlement& settlement) override {
    late_.Abandon(settlement);
    late_away_.Abandon(settlement);
    store_.Abandon(settlement);
  }
  void Close(std::span<const Receipt> receipts, Instant now) override {
    store_.Close(receipts, now);
  }
  void Reduce(std::span<Receipt> receipts, uint64_t keep, Instant now) override {
    store_.Reduce(receipts, keep, now);
  }
  void Cancel(std::span<const Receipt> receipts, Instant now) override {
    store_.Cancel(receipts, now);
  }
  void Tick(Instant now) override { store_.Tick(now); }
  StoreStats Stats() const override { return store_.Stats(); }

 private:
  enum class Fate { kHeard, kFails, kFailsLate, kLate, kLost, kUnheard };

  // Decides nothing, and says so at once.
  class Away final : public Store {
   public:
    bool Admit(Admission& admission) override {
      admission.admitted = {.error = Code::kUnavailable};
      return true;
    }
    void Abandon(Admission&) override {}
    bool Settle(Settlement& settlement) override {
      settlement.error = Code::kUnavailable;
      return true;
    }
    void Abandon(Settlement&) override {}
    void Close(std::span<const Receipt>, Instant) override {}
    void Reduce(std::span<Receipt>, uint64_t, Instant) override {}
    void Cancel(std::span<const Receipt>, Instant) override {}
    StoreStats Stats() const override { return {}; }
  };
  class Unheard final : public Admission {
   public:
    void Done(const Turn&) override { assert(false); }
  };

  Fate Draw(bool can_wait) {
    const std::lock_guard lock(mutex_);
    const uint64_t draw = random_.Below(1000);
    uint64_t upto = 0;
    if (draw < (upto += faults_.fails)) return Fate::kFails;
    // Whoever cannot wait is told at once that nothing was decided.
    if (draw < (upto += faults_.fails_late)) return can_wait ? Fate::kFailsLate : Fate::kFails;
    if (draw < (upto += faults_.late)) return can_wait ? Fate::kLate : Fate::kFails;
    if (draw < (upto += faults_.loses)) return can_wait ? Fate::kLost : Fate::kFails;
    if (draw < (upto += faults_.loses_answer)) return can_wait ? Fate::kUnheard : Fate::kFails;
    return Fate::kHeard;
  }

  void DecideUnheard(const Admission& admission) {
    std::vector<Charge> charges(admission.charges.begin(), admission.charges.end());
    for (Charge& charge : charges) charge.receipt = nullptr;
    std::vector<Charge> refunds(admission.refunds.begin(), admission.refunds.end());
    Unheard unheard;
    unheard.charges = charges;
    unheard.refunds = refunds;
    unheard.want = admission.want;
    unheard.now = admission.now;
    if (!store_.Admit(unheard)) assert(false);
    decided_unheard_ += 1;
  }

  Store& store_;
  Away away_;
  Later late_, late_away_;
  Faults faults_;
  std::atomic<uint64_t> decided_unheard_{0};

  std::mutex mutex_;
  Random random_;  // guarded by mutex_
};

}  // namespace weir::lab
