// No run may hang: a node that is due again and again at one instant, or after ever shorter times, would keep its
// server's thread busy for nothing, and a simulation for ever. Bounded are the steps at one instant, and those of
// a run by its simulated time.
#pragma once

#include <cstdint>

#include "weir/instant.h"

namespace weir::chaos {

class Progress {
 public:
  static constexpr uint64_t kMostAtOnce = 100'000;
  static constexpr uint64_t kMostASecond = 100'000, kMostInAnyCase = 2'000'000;

  // One more step, at this instant. False: they are too many.
  bool Step(Instant now) {
    if (steps_ == 0) start_ = now;
    at_once_ = now == last_ ? at_once_ + 1 : 1;
    last_ = now;
    steps_ += 1;
    const auto seconds = static_cast<uint64_t>((now - start_) / std::chrono::seconds(1));
    return at_once_ <= kMostAtOnce && steps_ <= kMostInAnyCase + seconds * kMostASecond;
  }
  uint64_t steps() const { return steps_; }

 private:
  Instant start_{}, last_{};
  uint64_t at_once_ = 0, steps_ = 0;
};

}  // namespace weir::chaos
