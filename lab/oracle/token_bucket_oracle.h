// The token bucket by its definition: whatever would break no window is admitted.
//
// "For every window T: admitted <= burst + limit*T/per" is all that is known here. Kept is every
// hit since the bucket was last full (no window that begins earlier can be the tightest). n is
// admitted at `now` if, for every hit j, the window from j to now can take it:
//
//     sum of the costs of j and of all after it + n  <=  burst + limit * (now - t_j) / per
//
// and n <= burst (the window that begins now). Debt is what the fullest window has used and not
// refilled. Everything is multiplied by per, so that all numbers are whole.
//
// A refund is a hit with a negative cost. It is at most the least debt since the ticket was issued:
// every debt that was seen since the oldest is remembered. From then on it is as if the ticket had
// taken so much less, so that is taken off all the debts that were seen since.
#pragma once

#include "lab/oracle/model.h"

namespace weir::oracle {

class TokenBucketOracle : public Model {
 public:
  TokenBucketOracle(uint64_t limit, int64_t per_ns, uint64_t burst)
      : limit_(limit), per_(per_ns), burst_(int128{burst} * per_ns) {}

  std::optional<uint64_t> Room(Instant now) const override;
  void Take(uint64_t n, Instant now, uint64_t ticket) override;
  void Charge(uint64_t n, Instant now) override;
  uint128 Refund(uint64_t ticket, uint64_t n, Instant now) override;
  Instant When(uint64_t n, Instant from) const override;
  Instant Reset(Instant now) const override;
  uint64_t Use(Instant now) const override;
  void Observe(Instant now) override;
  void Close(uint64_t ticket) override;

 protected:
  int128 Debt(Instant now) const;  // in tokens * per, like all that follows
  void Add(int128 cost, Instant now);
  int128 per() const { return per_; }

 private:
  struct Hit {
    int64_t at;
    int128 cost;
  };
  struct Ticket {
    uint64_t ticket;
    size_t seen;  // index of the debt right after it was issued
  };

  // The first instant >= from at which the debt is at most `most`.
  Instant Until(int128 most, Instant from) const;

  const int128 limit_;
  const int128 per_;
  const int128 burst_;
  std::vector<Hit> hits_;  // in order of arrival
  std::vector<Ticket> open_;
  std::vector<int128> seen_;  // debts, since a ticket was issued when none was open
};

}  // namespace weir::oracle
