// Waiting for a grant: asking again, ever less often, within a budget (3.2 of the paper on Charon).
//
// After the i-th refusal, counted from 0, the client sleeps min(max_wait - elapsed, jitter(2^i))
// seconds; elapsed is the true time since the first question. Once nothing of the budget is left the
// last refusal is the answer.
#pragma once

#include <optional>
#include <utility>

#include "clients/cpp/src/tally.h"
#include "weir/client/clock.h"

namespace weir::client {

// Uniform in [value - value/4, value + value/4), for a chance in [0, 1).
double Jitter(double value, double chance);

// first * 2^times but at most `most`, with jitter.
Duration Doubled(Duration first, int times, Duration most, double chance);

// How long to sleep after this many refusals and one more; nothing: give up.
std::optional<Duration> Pause(int refusals_before, Duration left, double chance);

template <typename T>
struct Waited {
  T answer;
  Duration waited;
  int attempts;
};

// Attempts until an answer is final or the budget is spent. attempt(left) -> T, final(T) -> bool.
template <typename Attempt, typename Final>
auto Patiently(Clock& clock, Tally& tally, Duration max_wait, const Attempt& attempt,
               const Final& final) -> Waited<decltype(attempt(max_wait))> {
  const Duration start = clock.Now();
  for (int refusals = 0;; ++refusals) {
    auto answer = attempt(max_wait - (clock.Now() - start));
    const Duration waited = clock.Now() - start;
    std::optional<Duration> pause;
    if (!final(answer)) pause = Pause(refusals, max_wait - waited, clock.Chance());
    if (!pause) return {std::move(answer), waited, refusals + 1};
    tally.Add(&Counters::retries);
    clock.Sleep(*pause);
  }
}

}  // namespace weir::client
