#include "lab/oracle/sliding_window_oracle.h"

#include <algorithm>

namespace weir::oracle {

int128 SlidingWindowOracle::SliceOf(Instant now) const {
  const int128 scaled = ToNanos(now) * slices_;
  return scaled / per_ - (scaled % per_ < 0 ? 1 : 0);
}

int128 SlidingWindowOracle::StartOf(int128 slice) const {
  const int128 scaled = slice * per_;
  return scaled / slices_ + (scaled % slices_ > 0 ? 1 : 0);
}

Instant SlidingWindowOracle::NotBefore(Instant now) const {
  return hits_.empty() ? now : std::max(now, Clamp(StartOf(newest_)));
}

SlidingWindowOracle::Sums SlidingWindowOracle::SumsIn(int128 slice) const {
  Sums sums;
  for (const Hit& hit : hits_) {
    const int128 age = slice - hit.slice;
    if (age < slices_) sums.whole += hit.n;
    if (age == slices_) sums.edge += hit.n;
  }
  return sums;
}

int128 SlidingWindowOracle::Used(const Sums& sums, Instant now) const {
  if (edge_ == SlidingWindow::Edge::kDrop) return sums.whole * per_;
  if (edge_ == SlidingWindow::Edge::kStrict) return (sums.whole + sums.edge) * per_;
  const int128 into = ToNanos(now) * slices_ - SliceOf(now) * per_;
  return sums.whole * per_ + sums.edge * (per_ - into);
}

std::optional<uint64_t> SlidingWindowOracle::Room(Instant instant) const {
  const Instant now = NotBefore(instant);
  const int128 left = limit_ * per_ - Used(SumsIn(SliceOf(now)), now);
  if (left < 0) return std::nullopt;
  return static_cast<uint64_t>(left / per_);
}

void SlidingWindowOracle::Take(uint64_t n, Instant now, uint64_t ticket) {
  if (n == 0 && hits_.empty()) return;
  newest_ = SliceOf(NotBefore(now));
  std::erase_if(hits_, [&](const Hit& hit) { return newest_ - hit.slice > slices_; });
  hits_.push_back({newest_, n, ticket});
}

uint128 SlidingWindowOracle::Refund(uint64_t ticket, uint64_t n, Instant now) {
  const int128 slice = SliceOf(NotBefore(now));
  const int128 oldest = edge_ == SlidingWindow::Edge::kDrop ? slices_ - 1 : slices_;
  for (Hit& hit : hits_) {
    if (hit.ticket != ticket) continue;
    if (slice - hit.slice > oldest) return 0;
    const uint64_t given = std::min(n, hit.n);
    hit.n -= given;
    return given;
  }
  return 0;
}

void SlidingWindowOracle::Restart(Instant now) {
  if (hits_.empty() || SliceOf(now) >= newest_) return;
  for (Hit& hit : hits_) hit.slice -= newest_ - SliceOf(now);
  newest_ = SliceOf(now);
}

int128 SlidingWindowOracle::FirstFit(const Sums& sums, uint64_t n, int128 from, int128 end) const {
  const auto fits = [&](int128 at) { return Used(sums, Clamp(at)) + n * per_ <= limit_ * per_; };
  if (!fits(end - 1)) return end;
  int128 low = from;
  int128 high = end - 1;
  while (low < high) {
    const int128 middle = low + (high - low) / 2;
    if (fits(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

Instant SlidingWindowOracle::When(uint64_t n, Instant instant) const {
  if (n > limit_) return kEndOfTime;
  const std::optional<uint64_t> room = Room(instant);
  if (room && *room >= n) return instant;
  const Instant from = NotBefore(instant);
  const int128 current = SliceOf(from);
  // The sums change only where hits come to lie at the edge, and where they leave it.
  std::vector<int128> slices = {current};
  for (const Hit& hit : hits_) {
    if (hit.slice + slices_ > current) slices.push_back(hit.slice + slices_);
    if (hit.slice + slices_ + 1 > current) slices.push_back(hit.slice + slices_ + 1);
  }
  std::sort(slices.begin(), slices.end());
  slices.erase(std::unique(slices.begin(), slices.end()), slices.end());
  for (const int128 slice : slices) {
    const int128 end = StartOf(slice + 1);
    const int128 begin = std::max<int128>(ToNanos(from), StartOf(slice));
    const int128 then = FirstFit(SumsIn(slice), n, begin, end);
    if (then < end) return Clamp(then);
  }
  return kEndOfTime;
}

Instant SlidingWindowOracle::Reset(Instant now) const {
  const int128 counts = edge_ == SlidingWindow::Edge::kDrop ? slices_ : slices_ + 1;
  const int128 from = ToNanos(NotBefore(now));
  int128 reset = from;
  for (const Hit& hit : hits_) {
    if (hit.n != 0) reset = std::max(reset, StartOf(hit.slice + counts));
  }
  return reset == from ? now : Clamp(reset);
}

uint64_t SlidingWindowOracle::Use(Instant instant) const {
  const Instant now = NotBefore(instant);
  const int128 used = Used(SumsIn(SliceOf(now)), now);
  const int128 tokens = used / per_ + (used % per_ > 0 ? 1 : 0);
  return tokens > UINT64_MAX ? UINT64_MAX : static_cast<uint64_t>(tokens);
}

void SlidingWindowOracle::Changes(Instant now, std::vector<Instant>* out) const {
  const int128 current = SliceOf(now);
  out->push_back(Clamp(StartOf(current + 1)));
  for (const Hit& hit : hits_) {
    for (const int128 slice : {hit.slice + slices_, hit.slice + slices_ + 1}) {
      if (slice > current) out->push_back(Clamp(StartOf(slice)));
    }
  }
}

}  // namespace weir::oracle
