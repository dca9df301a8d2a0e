// Which envelopes arrive, when, and how often.
#pragma once

#include <array>

#include "base/random.h"
#include "lab/chaos/scenario.h"

namespace weir::chaos {

class Network {
 public:
  explicit Network(const Scenario& scenario) : seed_(scenario.seed), weather_(scenario.weather) {}

  void Cut(const Action& cut, int change) {
    for (uint32_t from = 0; from < kMostNodes; ++from) {
      for (uint32_t to = 0; to < kMostNodes; ++to) {
        const bool there = Has(cut.from, from) && Has(cut.to, to);
        const bool back = cut.both && Has(cut.from, to) && Has(cut.to, from);
        if (there || back) links_[from][to].cuts += change;
      }
    }
  }
  void Storm(int change) { storms_ += change; }
  void Clear() { weather_.loss = weather_.duplication = 0; }

  bool Passes(uint32_t from, uint32_t to) const { return links_[from][to].cuts == 0; }
  Duration latency() const { return weather_.latency; }

  // Calls arrive(delay) for each copy that arrives.
  template <typename Arrive>
  void Carry(uint32_t from, uint32_t to, Arrive arrive) {
    Link& link = links_[from][to];
    Random chance(((seed_ * 16 + from) * 16 + to) * 1'000'003 + ++link.envelopes);
    const double loss = storms_ > 0 ? std::max(0.6, weather_.loss) : weather_.loss;
    const double twice = storms_ > 0 ? 0.3 : weather_.duplication;
    const Duration jitter = storms_ > 0
                                ? std::max<Duration>(std::chrono::seconds(1), weather_.jitter)
                                : weather_.jitter;
    const int copies = chance.Unit() < twice ? 2 : 1;
    for (int i = 0; i < copies; ++i) {
      const bool lost = chance.Unit() < loss || link.cuts > 0;
      const auto late =
          static_cast<int64_t>(chance.Below(static_cast<uint64_t>(jitter.count()) + 1));
      if (!lost) arrive(weather_.latency + Duration(late));
    }
  }

 private:
  struct Link {
    int cuts = 0;
    uint64_t envelopes = 0;
  };
  const uint64_t seed_;
  Weather weather_;
  int storms_ = 0;
  std::array<std::array<Link, kMostNodes>, kMostNodes> links_;
};

}  // namespace weir::chaos
