#include "lab/oracle/token_bucket_oracle.h"

#include <algorithm>

namespace weir::oracle {
namespace {

// ceil(a / b), b > 0.
int128 Ceil(int128 a, int128 b) { return a / b + (a % b > 0 ? 1 : 0); }

}  // namespace

int128 TokenBucketOracle::Debt(Instant now) const {
  int128 debt = 0;
  int128 sum = 0;
  for (auto hit = hits_.rbegin(); hit != hits_.rend(); ++hit) {
    sum += hit->cost;
    debt = std::max(debt, sum - limit_ * (int128{ToNanos(now)} - hit->at));
  }
  return debt;
}

std::optional<uint64_t> TokenBucketOracle::Room(Instant now) const {
  const int128 left = burst_ - Debt(now);
  if (left < 0) return std::nullopt;
  return static_cast<uint64_t>(left / per_);
}

void TokenBucketOracle::Take(uint64_t n, Instant now, uint64_t ticket) {
  Charge(n, now);
  if (ticket == 0) return;
  seen_.push_back(Debt(now));
  open_.push_back({ticket, seen_.size() - 1});
}

void TokenBucketOracle::Charge(uint64_t n, Instant now) {
  if (n != 0) Add(n * per_, now);
}

void TokenBucketOracle::Add(int128 cost, Instant now) {
  if (Debt(now) == 0) hits_.clear();
  hits_.push_back({ToNanos(now), cost});
}

void TokenBucketOracle::Observe(Instant now) {
  if (!open_.empty()) seen_.push_back(Debt(now));
}

uint128 TokenBucketOracle::Refund(uint64_t ticket, uint64_t n, Instant now) {
  const auto open = std::find_if(open_.begin(), open_.end(),
                                 [&](const Ticket& one) { return one.ticket == ticket; });
  int128 most = n * per_;
  for (size_t i = open->seen; i < seen_.size(); ++i) most = std::min(most, seen_[i]);
  if (most == 0) return 0;
  Add(-most, now);
  for (size_t i = open->seen; i < seen_.size(); ++i) seen_[i] -= most;
  return static_cast<uint128>(most);
}

void TokenBucketOracle::Close(uint64_t ticket) {
  std::erase_if(open_, [&](const Ticket& open) { return open.ticket == ticket; });
  if (open_.empty()) seen_.clear();
}

Instant TokenBucketOracle::Until(int128 most, Instant from) const {
  if (limit_ == 0) return Debt(from) <= most ? from : kEndOfTime;
  int128 then = ToNanos(from);
  int128 sum = 0;
  for (auto hit = hits_.rbegin(); hit != hits_.rend(); ++hit) {
    sum += hit->cost;
    then = std::max(then, hit->at + Ceil(sum - most, limit_));
  }
  return Clamp(then);
}

Instant TokenBucketOracle::When(uint64_t n, Instant from) const {
  if (n * per_ > burst_) return kEndOfTime;
  return Until(burst_ - n * per_, from);
}

Instant TokenBucketOracle::Reset(Instant now) const { return Until(0, now); }

uint64_t TokenBucketOracle::Use(Instant now) const {
  const int128 tokens = Ceil(Debt(now), per_);
  return tokens > UINT64_MAX ? UINT64_MAX : static_cast<uint64_t>(tokens);
}

}  // namespace weir::oracle
