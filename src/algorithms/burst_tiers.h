// Burst tiers (Charon, section 2.1): windows stacked on one another, the higher the shorter-lived.
//
// Each tier is a sliding log (closed window: a hit counts while now - t <= window, whatever becomes
// of the tier's state) with a state of its own:
//
//      inactive --first hit--> active --after `active`--> cooling --after `cooldown`--> inactive
//
//      active:  now - entry < active          cooling: active <= now - entry < active + cooldown
//
// The current tier is the active one with the greatest index; with none active it is the fictitious
// tier 0, whose limit is 0. A request fills the current tier and then bursts upwards: a full tier
// that is not cooling is passed (and not entered, since it grants nothing), a cooling one only if
// it is skippable, else the way is blocked. Only tiers that grant hits are entered. A hit is kept
// in exactly one tier, the one that grants it. Erratum 8.
//
// Room is not monotone in time: when the current tier falls back, room may shrink. When() searches
// the intervals between changes of tier states, in each of which it is monotone. A tier that was
// charged beyond its limit has room 0, and the way up is open: tiers are never overdrawn.
//
// An instant before the latest hit or entry is treated as that one.
//
// The hard limit and the global limit of a resource are not here: they are sliding logs of one
// second beside the tiers, admitted together with them.
#pragma once

#include <array>
#include <vector>

#include "algorithms/algorithm.h"
#include "algorithms/log.h"

namespace weir {

struct BurstTiers {
  static constexpr size_t kMost = 16;

  struct Tier {
    uint64_t limit = 0;
    Duration window{1};
    Duration active{1};
    Duration cooldown{0};
    bool skippable = false;
    bool operator==(const Tier&) const = default;
  };
  std::vector<Tier> tiers;  // at most kMost

  struct TierState {
    Instant entry{};  // when it was last entered; meaningless if it never was
    bool entered = false;
    Log hits;
    bool operator==(const TierState&) const = default;
  };
  struct State {
    std::vector<TierState> tiers;  // empty (unused) or one for each tier
    size_t bytes() const;
    bool operator==(const State&) const = default;
  };

  struct Receipt {
    Instant at{};                           // under which the hits were recorded
    std::array<uint64_t, kMost> by_tier{};  // how many each tier granted
    bool burst = false;                     // a tier was entered, tier 1 included
  };

  // What section 3.1 wants told about the tiers; index 0 is the fictitious tier.
  struct View {
    size_t tier = 0;
    uint64_t limit = 0;
    uint64_t hits = 0;
  };
  View Current(const State& state, Instant now) const;
  // Hits of the last second, over all tiers (of a tier with a shorter window: of that).
  uint64_t LastSecond(const State& state, Instant now) const;

  uint64_t Capacity() const;  // the sum of the tiers' limits, saturating
  std::optional<uint64_t> Room(const State& state, Instant now) const;
  Receipt Take(State& state, uint64_t n, Instant now) const;
  // To the current tier (tier 1 if none is active, which is then entered only if it is not cooling;
  // otherwise the hits are recorded there and its state stays), without bursting.
  Receipt Charge(State& state, uint64_t n, Instant now) const;
  // From the greatest tier charged downwards; the tiers' states stay.
  uint64_t Refund(State& state, const Receipt& receipt, uint64_t n, Instant now) const;
  // As if n fewer had been asked for: of the greatest tier charged first, the hits go, and a tier that
  // it had entered for these alone is left again; if others have hit it since, it was the first of them
  // who entered it. A tier that has forgotten the hits since stays as it is. Others stay in the tiers
  // that they were granted, though there might have been room in a lower one.
  uint64_t Cancel(State& state, const Receipt& receipt, uint64_t n, Instant now) const;
  Instant When(const State& state, uint64_t n, Instant from) const;
  // When nothing counts, nothing is active and nothing is cooling any more.
  Instant Reset(const State& state, Instant now) const;
  uint64_t Use(const State& state, Instant now) const;  // hits that count, over all tiers
  State Start(uint64_t use, Instant now) const;         // cannot be expressed: unused
  // The fullest tier; a tier entered beyond the first, or cooling, counts as full.
  uint32_t Fill(const State& state, Instant now) const;

 private:
  // The functions below are told an instant that is not before the state's latest.
  uint64_t RoomAt(const State& state, Instant now) const;
  // Index from 1; 0 if none is active.
  size_t CurrentAt(const State& state, Instant now) const;
  // Calls visit(i, room) for the tiers (from 0) that a request fills, in order.
  template <typename Visit>
  void Climb(const State& state, Instant now, Visit visit) const;
  uint64_t RoomIn(const State& state, size_t i, Instant now) const;
  // True if the tier was entered, being inactive.
  bool Record(State& state, size_t i, uint64_t n, Instant now) const;
  // The first instant after `now` at which a tier's state changes.
  Instant NextChange(const State& state, Instant now) const;
  // When no hit counts any more.
  Instant Empty(const State& state) const;
};

}  // namespace weir
