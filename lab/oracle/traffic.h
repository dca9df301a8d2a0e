// One key's requests and settlements, drawn at random where it hurts: at, just before and just
// after every instant at which an answer may change, with costs around the room that is left.
#pragma once

#include "algorithms/limit.h"
#include "base/random.h"
#include "lab/oracle/model.h"

namespace weir::oracle {

class Traffic {
 public:
  Traffic(const Limit& limit, Random* random);

  // `oracle` has answered all events so far, the latest with `last`.
  Event Next(const Session& oracle, const Answer& last);

 private:
  Event Restart();
  Event Settle(const Session::Open& open);
  Instant NextInstant(const Session& oracle, const Answer& last);
  Instant Within(int128 nanos) const;
  uint64_t NextCost(std::optional<uint64_t> room);
  uint64_t TrueCost(uint64_t granted);
  bool OneIn(uint64_t n) { return random_->Below(n) == 0; }

  // Constant after construction.
  Random* const random_;
  uint64_t capacity_ = 0;
  uint64_t span_ns_ = 1;   // of a window, or the like
  uint64_t token_ns_ = 1;  // between two tokens
  uint64_t most_back_ns_ = 0;
  Instant first_{};
  Instant last_{};
  bool settles_ = false;
  bool restarts_ = false;  // under a clock that was set back, by 68 years at most
  uint128 most_charged_ = 0;
  bool huge_ = false;  // true costs may lie far beyond the limit

  Instant now_{};
  Instant latest_{};
  uint64_t next_ticket_ = 1;
  uint128 charged_ = 0;  // beyond the estimates
  std::vector<Instant> changes_;
};

}  // namespace weir::oracle
