#include "lab/oracle/fixed_window_oracle.h"

#include <algorithm>

namespace weir::oracle {

FixedWindowOracle::WindowAt FixedWindowOracle::FromEpoch(int64_t per_ns) {
  return [per = int128{per_ns}](Instant now) {
    const int128 into = (ToNanos(now) % per + per) % per;
    return Window{ToNanos(now) - into, ToNanos(now) - into + per};
  };
}

FixedWindowOracle::WindowAt FixedWindowOracle::FromFirstRequest(int64_t per_ns) {
  return [per = int128{per_ns}](Instant now) { return Window{ToNanos(now), ToNanos(now) + per}; };
}

uint128 FixedWindowOracle::Used(Instant now) const {
  uint128 used = 0;
  if (ToNanos(now) < window_.end) {
    for (const Hit& hit : hits_) used += hit.n;
  }
  return used;
}

std::optional<uint64_t> FixedWindowOracle::Room(Instant now) const {
  const uint128 used = Used(now);
  if (used > limit_) return std::nullopt;
  return limit_ - static_cast<uint64_t>(used);
}

void FixedWindowOracle::Take(uint64_t n, Instant now, uint64_t ticket) {
  if (Used(now) == 0) {
    hits_.clear();
    window_ = window_at_(now);
  }
  if (n != 0) hits_.push_back({ticket, n});
}

uint128 FixedWindowOracle::Refund(uint64_t ticket, uint64_t n, Instant now) {
  if (ToNanos(now) >= window_.end) return 0;
  for (Hit& hit : hits_) {
    if (hit.ticket != ticket) continue;
    const uint64_t given = std::min(n, hit.n);
    hit.n -= given;
    return given;
  }
  return 0;
}

Instant FixedWindowOracle::When(uint64_t n, Instant from) const {
  if (n > limit_) return kEndOfTime;
  const std::optional<uint64_t> room = Room(from);
  return room && *room >= n ? from : Clamp(window_.end);
}

Instant FixedWindowOracle::Reset(Instant now) const {
  return Used(now) == 0 ? now : Clamp(window_.end);
}

uint64_t FixedWindowOracle::Use(Instant now) const {
  return static_cast<uint64_t>(std::min<uint128>(Used(now), UINT64_MAX));
}

void FixedWindowOracle::Restart(Instant now) {
  if (ToNanos(now) < window_.start) window_ = window_at_(now);
}

void FixedWindowOracle::Changes(Instant now, std::vector<Instant>* out) const {
  out->push_back(Clamp((Used(now) != 0 ? window_ : window_at_(now)).end));
}

}  // namespace weir::oracle
