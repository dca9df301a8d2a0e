// The oracle: what LIMITS.md says, computed the slow way, and the code that it is held against.
//
// A Model answers requests for one key of one limit. There are two of each kind: an oracle, which
// keeps every hit that may still matter in a plain vector and works each answer out anew from the
// sentences of the specification, and the implementation (implementation.h) behind the same
// interface. Both are asked the same events by a Session; their answers must be equal in every
// number. A planted bug is a third Model.
//
//   Event +--> Session(oracle)         --> Answer --+
//         |                                         +--> equal?
//         +--> Session(implementation) --> Answer --+
//
// An oracle shares no arithmetic with the implementation: where that keeps a number up to date, the
// oracle sums up history; where that solves for an instant, the oracle tries, in order, the ones at
// which anything can change.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "algorithms/algorithm.h"
#include "weir/instant.h"

namespace weir::oracle {

class Model {
 public:
  virtual ~Model() = default;

  // The functions of algorithms/algorithm.h, over a state that the model keeps.
  virtual std::optional<uint64_t> Room(Instant now) const = 0;
  // `ticket`: by which it will be settled; 0 if it will not.
  virtual void Take(uint64_t n, Instant now, uint64_t ticket) = 0;
  virtual void Charge(uint64_t n, Instant now) = 0;
  // How much was given back: tokens, for the token bucket tokens * per in nanoseconds (exact).
  virtual uint128 Refund(uint64_t ticket, uint64_t n, Instant now) = 0;
  virtual Instant When(uint64_t n, Instant from) const = 0;
  virtual Instant Reset(Instant now) const = 0;
  virtual uint64_t Use(Instant now) const = 0;

  // Burst tiers only: the current tier, and whether the last Take entered one.
  struct TierView {
    uint64_t tier = 0;
    uint64_t limit = 0;
    uint64_t hits = 0;
    bool burst = false;
    bool operator==(const TierView&) const = default;
  };
  virtual TierView Tier(Instant /*now*/) const { return {}; }

  // A request for n was refused.
  virtual void Reject(uint64_t /*n*/, Instant /*now*/) {}
  // It is `now`, and a request or a settlement follows.
  virtual void Observe(Instant /*now*/) {}
  // The ticket is settled.
  virtual void Close(uint64_t /*ticket*/) {}
  // What was kept is used again under a clock that may stand anywhere. Only for algorithms whose
  // states can be renumbered.
  virtual void Restart(Instant /*now*/) {}
  // Adds instants after `now` at which an answer may change: where to aim requests at.
  virtual void Changes(Instant /*now*/, std::vector<Instant>* /*out*/) const {}
};

// The last instant that can be told: an answer that lies later is this one, and never kEndOfTime,
// which says that waiting does not help.
inline constexpr Instant kLastInstant = FromNanos(INT64_MAX - 1);

// `nanos` as an Instant, or the last one there is.
constexpr Instant Clamp(int128 nanos) {
  return nanos >= INT64_MAX - 1 ? kLastInstant : FromNanos(static_cast<int64_t>(nanos));
}

struct Event {
  enum class Kind { kRequest, kSettle, kRestart };
  Kind kind = Kind::kRequest;
  Instant now{};
  uint64_t ticket = 0;  // request: its number if it will be settled; settlement: of the request
  uint64_t cost = 1;    // settlement: the true cost
  uint64_t least = 1;
};

struct Answer {
  bool known = true;  // settlement: of a ticket that is open
  bool allowed = false;
  uint64_t granted = 0;
  uint64_t remaining = 0;
  Instant retry_at{};      // now if allowed, kEndOfTime for never
  bool retry_true = true;  // it would be admitted then, and not a nanosecond earlier
  Instant reset_at{};
  uint128 refunded = 0;
  uint64_t use = 0;
  Model::TierView tier{};
  bool operator==(const Answer&) const = default;
};

// One key's requests and settlements, in order.
class Session {
 public:
  explicit Session(std::unique_ptr<Model> model) : model_(std::move(model)) {}
  Answer Ask(const Event& event);

  struct Open {
    uint64_t ticket;
    uint64_t granted;
  };
  const std::vector<Open>& open() const { return open_; }
  const Model& model() const { return *model_; }

 private:
  Answer Request(const Event& event);
  Answer Settle(const Event& event);
  Answer Restart(const Event& event);
  bool IsEarliest(Instant retry_at, const Event& event) const;
  void Finish(Instant now, Answer* answer) const;

  std::unique_ptr<Model> model_;
  std::vector<Open> open_;
};

}  // namespace weir::oracle
