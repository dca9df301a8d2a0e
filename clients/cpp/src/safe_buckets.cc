#include "clients/cpp/src/safe_buckets.h"

#include <algorithm>
#include <cmath>

#include "weir/client/error.h"

namespace weir::client {
namespace {

constexpr double kNanosecondsPerSecond = 1e9;

}  // namespace

SafeBuckets::SafeBuckets(const SafeRate& rate)
    : per_second_(rate.per_second),
      burst_(rate.burst.value_or(std::max(1.0, rate.per_second))),
      most_(std::max<size_t>(1, rate.resources)) {
  if (!(per_second_ >= 0) || !(burst_ >= 0)) {
    throw Error(Code::kBadRequest, "a safe rate and its burst are not negative");
  }
}

std::optional<Duration> SafeBuckets::Take(const Resource& resource, uint64_t amount, Duration now) {
  return Ask(resource, static_cast<double>(amount), now, true);
}

std::optional<Duration> SafeBuckets::Peek(const Resource& resource, uint64_t amount, Duration now) {
  return Ask(resource, static_cast<double>(amount), now, false);
}

std::optional<Duration> SafeBuckets::Ask(const Resource& resource, double amount, Duration now,
                                         bool take) {
  const std::lock_guard lock(mutex_);
  Bucket& bucket = Find(resource, now);
  const double seconds = static_cast<double>(std::max<int64_t>(0, (now - bucket.since).count())) /
                         kNanosecondsPerSecond;
  bucket.tokens = std::min(burst_, bucket.tokens + seconds * per_second_);
  bucket.since = now;
  if (bucket.tokens >= amount) {
    if (take) bucket.tokens -= amount;
    return Duration::zero();
  }
  if (amount > burst_ || per_second_ == 0) return std::nullopt;
  const double wait = std::ceil((amount - bucket.tokens) / per_second_ * kNanosecondsPerSecond);
  if (wait >= static_cast<double>(INT64_MAX)) return std::nullopt;
  return std::max(Duration(1), Duration(static_cast<int64_t>(wait)));
}

SafeBuckets::Bucket& SafeBuckets::Find(const Resource& resource, Duration now) {
  const auto [place, is_new] = places_.try_emplace(resource);
  if (is_new) {
    buckets_.push_front({resource, burst_, now});
    place->second = buckets_.begin();
  } else {
    buckets_.splice(buckets_.begin(), buckets_, place->second);
  }
  if (buckets_.size() > most_) {
    places_.erase(buckets_.back().resource);
    buckets_.pop_back();
  }
  return buckets_.front();
}

}  // namespace weir::client
