// The sliding log: the hits of the last `per`, counted.
//
// A hit counts while now - t <= per. A state does not run backwards: an instant before its newest
// hit is taken for that one. With keep_rejected the refused requests count as well, as many as
// `limit` tokens of the newest of them.
#pragma once

#include "lab/oracle/model.h"

namespace weir::oracle {

class SlidingLogOracle : public Model {
 public:
  SlidingLogOracle(uint64_t limit, int64_t per_ns, bool keep_rejected)
      : limit_(limit), per_(per_ns), keep_rejected_(keep_rejected) {}

  std::optional<uint64_t> Room(Instant now) const override;
  void Take(uint64_t n, Instant now, uint64_t ticket) override;
  void Charge(uint64_t n, Instant now) override { Take(n, now, 0); }
  void Reject(uint64_t n, Instant now) override;
  uint128 Refund(uint64_t ticket, uint64_t n, Instant now) override;
  Instant When(uint64_t n, Instant from) const override;
  Instant Reset(Instant now) const override;
  uint64_t Use(Instant now) const override;
  void Changes(Instant now, std::vector<Instant>* out) const override;

 private:
  struct Hit {
    int64_t at;
    uint64_t n;
    uint64_t ticket;
    bool admitted;
  };
  // `now`, or the newest hit's instant if that is later.
  int128 NotBefore(Instant now) const;
  bool Counts(const Hit& hit, int128 now) const { return now - hit.at <= per_; }
  uint128 Count(int128 now) const;
  void Add(uint64_t n, Instant now, uint64_t ticket, bool admitted);

  const uint64_t limit_;
  const int64_t per_;
  const bool keep_rejected_;
  std::vector<Hit> hits_;  // in order of time
};

}  // namespace weir::oracle
