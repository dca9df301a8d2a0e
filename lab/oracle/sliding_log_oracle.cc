#include "lab/oracle/sliding_log_oracle.h"

#include <algorithm>

namespace weir::oracle {

int128 SlidingLogOracle::NotBefore(Instant now) const {
  return hits_.empty() ? ToNanos(now) : std::max(ToNanos(now), hits_.back().at);
}

uint128 SlidingLogOracle::Count(int128 now) const {
  uint128 admitted = 0;
  uint128 rejected = 0;
  for (const Hit& hit : hits_) {
    if (Counts(hit, now)) (hit.admitted ? admitted : rejected) += hit.n;
  }
  return admitted + std::min<uint128>(rejected, limit_);
}

std::optional<uint64_t> SlidingLogOracle::Room(Instant now) const {
  const uint128 count = Count(NotBefore(now));
  if (count > limit_) return std::nullopt;
  return limit_ - static_cast<uint64_t>(count);
}

void SlidingLogOracle::Add(uint64_t n, Instant now, uint64_t ticket, bool admitted) {
  const int128 at = NotBefore(now);
  std::erase_if(hits_, [&](const Hit& hit) { return !Counts(hit, at); });
  if (n != 0) hits_.push_back({static_cast<int64_t>(at), n, ticket, admitted});
}

void SlidingLogOracle::Take(uint64_t n, Instant now, uint64_t ticket) { Add(n, now, ticket, true); }

void SlidingLogOracle::Reject(uint64_t n, Instant now) {
  if (keep_rejected_) Add(std::min(n, limit_), now, 0, false);
}

uint128 SlidingLogOracle::Refund(uint64_t ticket, uint64_t n, Instant now) {
  for (Hit& hit : hits_) {
    if (hit.ticket != ticket) continue;
    if (!Counts(hit, NotBefore(now))) return 0;
    const uint64_t given = std::min(n, hit.n);
    hit.n -= given;
    std::erase_if(hits_, [](const Hit& empty) { return empty.n == 0; });
    return given;
  }
  return 0;
}

Instant SlidingLogOracle::When(uint64_t n, Instant from) const {
  if (n > limit_) return kEndOfTime;
  const auto admits = [&](int128 now) { return Count(now) + n <= limit_; };
  if (admits(NotBefore(from))) return from;
  // Count falls only where a hit leaves, the oldest first: the first departure that suffices.
  const auto hit = std::partition_point(hits_.begin(), hits_.end(), [&](const Hit& oldest) {
    return !admits(std::max(NotBefore(from), int128{oldest.at} + per_ + 1));
  });
  return Clamp(int128{hit->at} + per_ + 1);
}

Instant SlidingLogOracle::Reset(Instant now) const {
  for (auto hit = hits_.rbegin(); hit != hits_.rend(); ++hit) {
    if (Counts(*hit, NotBefore(now))) return Clamp(int128{hit->at} + per_ + 1);
  }
  return now;
}

uint64_t SlidingLogOracle::Use(Instant now) const {
  return static_cast<uint64_t>(std::min<uint128>(Count(NotBefore(now)), UINT64_MAX));
}

void SlidingLogOracle::Changes(Instant now, std::vector<Instant>* out) const {
  for (const Hit& hit : hits_) {
    const Instant leaves = Clamp(int128{hit.at} + per_ + 1);
    if (leaves > now) out->push_back(leaves);
  }
}

}  // namespace weir::oracle
