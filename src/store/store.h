// Where states live.
//
// A store admits charges: each names a limit, a key and a cost. All of them, or none: it asks every
// limit first and writes only if nobody refuses. It grants the greatest n that every charge admits;
// two charges on one state add up.
//
// Waiting is one convention for every store. Whoever asks owns the question, which is also the place of
// the answer, until it is answered:
//
//   if (store.Admit(admission)) …      the answer is there: nothing was allocated, nobody called back
//   else …                             Done() follows, once, on the thread of `home`
//   store.Abandon(admission)           … or never, if the asker has gone
//
// A store that may have to wait needs to know on whose thread (`home`). An asker that cannot wait has
// none: such a store then answers that it is away.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "algorithms/algorithm.h"
#include "base/executor.h"
#include "base/keyed_hash.h"
#include "weir/error.h"

namespace weir {

struct LimitSlot;  // a limit as a store knows it; limit_table.h

// What was taken from a state and where, so that it can be given back. Opaque to all but stores.
struct Receipt {
  Key key;
  const LimitSlot* limit = nullptr;
  uint64_t taken = 0;
  uint64_t rejected = 0;          // a log kept so many as refused; nothing was taken
  bool shadow = false;            // of a limit that does not count
  bool remote = false;            // left by another store than this process's memory (router.h)
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
  bool degraded = false;   // what a limit does on failure was part of the decision (router.h)
  uint64_t granted = 0;    // of the common cost; with differing costs, each charge's `taken`
  Duration retry_after{};  // the first instant at which all admit their least
};

enum class Want : uint8_t { kTake, kLook };

// What a store is asked, and what it answers.
class Admission {
 public:
  Admission() = default;
  Admission(const Admission&) = delete;
  Admission& operator=(const Admission&) = delete;

  // The question; all of it is the asker's, and stays where it is until it is answered.
  std::span<Charge> charges;
  std::span<Charge> refunds;  // given back afterwards, whatever was decided; not after an error
  Want want = Want::kTake;    // kLook: the same answer, but nothing is taken
  Instant now{};
  Instant deadline =
      kEndOfTime;            // an answer that comes later is of no use: nothing may be taken then
  Executor* home = nullptr;  // null: cannot wait

  // The answer: this, and what is in the charges.
  Admitted admitted;

  // The answer is there. Only if Admit said false.
  virtual void Done(const Turn& now) = 0;

 protected:
  ~Admission() = default;
};

// What stays charged of what was taken, once the cost is known.
struct SettledUse {
  uint64_t charged = 0;             // the most of any limit; shadows do not count
  uint64_t remaining = UINT64_MAX;  // the least
  void Add(const SettledUse& other) {
    charged = std::max(charged, other.charged);
    remaining = std::min(remaining, other.remaining);
  }
};

class Settlement {
 public:
  Settlement() = default;
  Settlement(const Settlement&) = delete;
  Settlement& operator=(const Settlement&) = delete;

  // The question: what was taken under these was `cost` in truth.
  std::span<const Receipt> receipts;
  uint64_t cost = 0;
  Instant now{};
  Instant deadline = kEndOfTime;
  Executor* home = nullptr;

  // The answer.
  Code error = Code::kOk;
  SettledUse use;

  virtual void Done(const Turn& now) = 0;

 protected:
  ~Settlement() = default;
};

struct StoreStats {
  uint64_t keys = 0;
  uint64_t bytes = 0;
  uint64_t forgotten = 0;   // states dropped before their time because memory was full
  uint64_t overloaded = 0;  // newcomers refused because memory was full
};

class Store {
 public:
  virtual ~Store() = default;
  // False: Done() follows. Never both, and never twice. True if there is no `home`.
  [[nodiscard]] virtual bool Admit(Admission& admission) = 0;
  // Done() does not follow any more, and the admission may go. What was under way may be carried out
  // or not.
  virtual void Abandon(Admission& admission) = 0;
  // Closes the receipts, unless it fails. One of which the answer did not come, or was not awaited, may
  // come again: it is carried out once.
  [[nodiscard]] virtual bool Settle(Settlement& settlement) = 0;
  virtual void Abandon(Settlement& settlement) = 0;
  // Nobody will settle these: what was taken stays taken.
  virtual void Close(std::span<const Receipt> receipts, Instant now) = 0;
  // As if no more than `keep` had been asked for under each of these, which stay open.
  virtual void Reduce(std::span<Receipt> receipts, uint64_t keep, Instant now) = 0;
  // As if it had never been asked: what was taken goes back, and a refusal that was kept is forgotten.
  // The receipts are closed. (What was refused to others meanwhile stays refused.)
  virtual void Cancel(std::span<const Receipt> receipts, Instant now) = 0;
  virtual void Tick(Instant /*now*/) {}
  virtual StoreStats Stats() const = 0;
};

}  // namespace weir
