#include "clients/cpp/src/backoff.h"

#include <algorithm>
#include <cmath>

namespace weir::client {
namespace {

constexpr int kMostDoublings = 62;

Duration AtMost(double nanoseconds, Duration most) {
  if (nanoseconds >= static_cast<double>(most.count())) return most;
  return Duration(static_cast<int64_t>(nanoseconds));
}

}  // namespace

double Jitter(double value, double chance) { return value * (0.75 + 0.5 * chance); }

Duration Doubled(Duration first, int times, Duration most, double chance) {
  const double away =
      std::ldexp(static_cast<double>(first.count()), std::min(times, kMostDoublings));
  const double bounded = std::min(away, static_cast<double>(most.count()));
  return AtMost(Jitter(bounded, chance), Duration::max());
}

std::optional<Duration> Pause(int refusals_before, Duration left, double chance) {
  if (left <= Duration::zero()) return std::nullopt;
  const double value = std::ldexp(1e9, std::min(refusals_before, kMostDoublings));
  return AtMost(Jitter(value, chance), left);
}

}  // namespace weir::client
