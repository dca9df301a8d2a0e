// A store that fails: late, lost, refusing to decide, by chance or as it is told.
//
// It stands before another store. What it passes on is decided there; of what it loses, the store
// decides or does not, and the asker is never told.
#pragma once

#include "base/random.h"
#include "store/store.h"

namespace weir::lab {

class Faulty : public Store {
 public:
  // In a thousand.
  struct Faults {
    uint64_t fails = 0;         // says that it is away: nothing was decided
    uint64_t loses = 0;         // never answers, and did not decide
    uint64_t loses_answer = 0;  // never answers, though it has decided
  };

  Faulty(Store& store, uint64_t seed) : store_(store), random_(seed) {}
  void Set(const Faults& faults) { faults_ = faults; }
  uint64_t decided_unheard() const { return decided_unheard_; }

  bool Admit(Admission& admission) override {
    const uint64_t draw = random_.Below(1000);
    if (draw < faults_.fails) {
      admission.admitted = {.error = Code::kUnavailable};
      return true;
    }
    if (admission.home == nullptr || draw < faults_.fails + faults_.loses) return false;
    if (draw < faults_.fails + faults_.loses + faults_.loses_answer) {
      decided_unheard_ += 1;
      Unheard unheard;
      unheard.charges = admission.charges;
      unheard.want = admission.want;
      unheard.now = admission.now;
      // Its receipts are nobody's.
      std::vector<Charge> copies(admission.charges.begin(), admission.charges.end());
      for (Charge& charge : copies) charge.receipt = nullptr;
      unheard.charges = copies;
      (void)!store_.Admit(unheard);
      return false;
    }
    return store_.Admit(admission);
  }
  void Abandon(Admission& admission) override { store_.Abandon(admission); }
  bool Settle(Settlement& settlement) override {
    const uint64_t draw = random_.Below(1000);
    if (draw < faults_.fails) {
      settlement.error = Code::kUnavailable;
      return true;
    }
    if (draw < faults_.fails + faults_.loses) return false;
    return store_.Settle(settlement);
  }
  void Abandon(Settlement& settlement) override { store_.Abandon(settlement); }
  void Close(std::span<const Receipt> receipts, Instant now) override {
    store_.Close(receipts, now);
  }
  void Cancel(std::span<Receipt> receipts, uint64_t keep, Instant now) override {
    store_.Cancel(receipts, keep, now);
  }
  StoreStats Stats() const override { return store_.Stats(); }

 private:
  class Unheard final : public Admission {
   public:
    void Done(const Turn&) override {}
  };

  Store& store_;
  Random random_;
  Faults faults_;
  uint64_t decided_unheard_ = 0;
};

}  // namespace weir::lab
