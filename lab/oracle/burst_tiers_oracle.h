// Burst tiers, read aloud from Charon, section 2.1, and LIMITS.md.
//
// Each tier has its list of hits and the instant at which it was last entered. A request walks: it
// stands in the current tier, takes what that one has left, looks at the next tier, and so on. The
// walk is made once with an endless request to learn the room, and once to take. A tier that was
// settled above its limit is a full one.
//
// Room changes only where a hit leaves its window or a tier changes its state. When() tries these
// instants one after the other, since room may also shrink.
#pragma once

#include <algorithm>
#include <array>

#include "algorithms/burst_tiers.h"
#include "lab/oracle/model.h"

namespace weir::oracle {

class BurstTiersOracle : public Model {
 public:
  explicit BurstTiersOracle(std::vector<BurstTiers::Tier> tiers);

  std::optional<uint64_t> Room(Instant now) const override;
  void Take(uint64_t n, Instant now, uint64_t ticket) override;
  void Charge(uint64_t n, Instant now) override;
  uint128 Refund(uint64_t ticket, uint64_t n, Instant now) override;
  Instant When(uint64_t n, Instant from) const override;
  Instant Reset(Instant now) const override;
  uint64_t Use(Instant now) const override;
  TierView Tier(Instant now) const override;
  void Changes(Instant now, std::vector<Instant>* out) const override;

 protected:
  struct Hit {
    int64_t at;
    uint64_t n;
    uint64_t ticket;
  };
  struct TierHistory {
    BurstTiers::Tier numbers;
    std::optional<int64_t> entry;
    std::vector<Hit> hits;  // in order of time
  };
  enum class State { kInactive, kActive, kCooling };
  using Grants = std::array<uint64_t, BurstTiers::kMost>;

  // `now`, or the instant of the newest hit or entry if that is later.
  int64_t NotBefore(Instant now) const;
  static State StateOf(const TierHistory& tier, int64_t now);
  static uint128 Count(const TierHistory& tier, int64_t now);
  // Index into tiers_, -1 for the fictitious tier 0.
  int Current(int64_t now) const;
  // What each tier would grant of a request for n.
  Grants Walk(uint64_t n, int64_t now) const;
  virtual void Record(size_t tier, uint64_t n, int64_t now, uint64_t ticket);

  std::vector<TierHistory> tiers_;
  bool burst_ = false;  // the last request entered a tier
};

}  // namespace weir::oracle
