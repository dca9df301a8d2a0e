// The fixed window from its hits.
//
// Kept are the window that was charged last and every hit in it. The hits count until that window
// ends, also when the clock stands before it. Whatever is charged after the end begins a new list,
// and so does the first hit after all was given back: a window without use is no window. A restart
// under a clock that was set back moves the hits into the window of that clock: "a stored window
// later than the clock's is renumbered to it, use kept".
#pragma once

#include <functional>

#include "lab/oracle/model.h"

namespace weir::oracle {

class FixedWindowOracle : public Model {
 public:
  struct Window {
    int128 start;  // the first nanosecond of it
    int128 end;    // the first one after it
  };
  // The window that begins with, or holds, an instant.
  using WindowAt = std::function<Window(Instant now)>;

  static WindowAt FromEpoch(int64_t per_ns);
  static WindowAt FromFirstRequest(int64_t per_ns);

  FixedWindowOracle(uint64_t limit, WindowAt window_at)
      : limit_(limit), window_at_(std::move(window_at)) {}

  std::optional<uint64_t> Room(Instant now) const override;
  void Take(uint64_t n, Instant now, uint64_t ticket) override;
  void Charge(uint64_t n, Instant now) override { Take(n, now, 0); }
  uint128 Refund(uint64_t ticket, uint64_t n, Instant now) override;
  Instant When(uint64_t n, Instant from) const override;
  Instant Reset(Instant now) const override;
  uint64_t Use(Instant now) const override;
  void Restart(Instant now) override;
  void Changes(Instant now, std::vector<Instant>* out) const override;

 private:
  struct Hit {
    uint64_t ticket;
    uint64_t n;
  };
  uint128 Used(Instant now) const;

  const uint64_t limit_;
  const WindowAt window_at_;
  Window window_{};  // of the hits, if there are any
  std::vector<Hit> hits_;
};

}  // namespace weir::oracle
