// Where states live.
//
// A store admits charges: each names a limit, a key and a cost. All of them, or none: it asks every
// limit first and writes only if nobody refuses. It grants the greatest n that every charge admits;
// two charges on one state add up.
//
// Waiting has one signature for every store: `done` is called once, on the caller's loop, and
// before the call returns if nothing has to be waited for.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "algorithms/algorithm.h"
#include "base/keyed_hash.h"
#include "weir/error.h"

namespace weir {

struct LimitSlot;  // a limit as a store knows it; limit_table.h

// What was taken from a state and where, so that it can be given back. Opaque to all but stores.
struct Receipt {
  Key key;
  const LimitSlot* limit = nullptr;
  uint64_t taken = 0;
  bool shadow = false;            // of a limit that does not count
  int64_t at = 0;                 // bucket: its ticket; window, slice: its number; log: instant
  int64_t born = 0;               // bucket: since when it has been counting tickets
  std::vector<uint64_t> by_tier;  // burst tiers: how many each tier granted
};

struct Charge {
  Charge() : refused(false), taken(0), burst(false) {}
  Charge(const Key& the_key, const LimitSlot* the_limit, uint64_t most, uint64_t at_least,
         bool in_shadow = false)
      : key(the_key),
        limit(the_limit),
        cost(most),
        least(at_least),
        shadow(in_shadow),
        refused(false),
        taken(0),
        burst(false) {}

  // The question.
  Key key;
  const LimitSlot* limit = nullptr;
  uint64_t cost = 1;           // take this much,
  uint64_t least = 1;          // or as little as this
  Receipt* receipt = nullptr;  // where to leave one, if somebody will settle
  bool shadow = false;         // is charged what it would admit, and never refuses
  bool quota = false;          // likewise, unless all of the quotas would refuse

  // The answer. Not set before there is one: this is on the way of every request.
  bool refused;  // had not room for `least` (a shadow limit: would have refused)
  uint64_t taken;
  uint64_t remaining;
  Duration reset_after;
  Duration wait;  // for `least`, if refused: kNever when it can never fit
  uint64_t used;  // hits that count (logs), copies that are held, hits of the last second (tiers)
  // Of burst tiers only: the tier after the decision.
  uint64_t tier, tier_limit, tier_hits;
  bool burst;
};

struct Admitted {
  Code error = Code::kOk;  // kOverloaded, kUnavailable: nothing was decided
  bool allowed = false;
  uint64_t granted = 0;    // of the common cost; with differing costs, each charge's `taken`
  Duration retry_after{};  // the first instant at which all admit their least
};

using AdmitDone = std::function<void(const Admitted&)>;

class Store {
 public:
  virtual ~Store() = default;
  virtual void Admit(std::span<Charge> charges, Instant now, AdmitDone done) = 0;
  // The same answer; nothing is taken.
  virtual void Peek(std::span<Charge> charges, Instant now, AdmitDone done) = 0;
};

}  // namespace weir
