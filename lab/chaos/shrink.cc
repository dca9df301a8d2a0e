#include "lab/chaos/shrink.h"

#include <algorithm>

namespace weir::chaos {
namespace {

class Shrinker {
 public:
  Shrinker(Scenario scenario, const Subject& subject, std::string invariant, int runs,
           const std::function<void(int)>& progress)
      : best_(std::move(scenario)),
        subject_(subject),
        invariant_(std::move(invariant)),
        most_(runs),
        progress_(progress) {}

  Scenario Go(Instant failed_at) {
    Scenario shorter = best_;
    std::erase_if(shorter.actions, [&](const Action& a) { return a.at > failed_at; });
    if (!shorter.actions.empty()) shorter.busy_until = shorter.actions.back().at;
    Try(shorter);
    for (size_t before = SIZE_MAX; runs_ < most_ && best_.actions.size() < before;) {
      before = best_.actions.size();
      DropKeys();
      DropNodes();
      DropActions();
    }
    Simplify();
    return std::move(best_);
  }

 private:
  bool Try(const Scenario& candidate) {
    if (runs_ >= most_) return false;
    progress_(++runs_);
    const Outcome outcome = RunOnce(candidate, subject_);
    if (!outcome.violation || outcome.violation->invariant != invariant_) return false;
    best_ = candidate;
    return true;
  }
  bool Keep(const std::function<bool(const Action&)>& drop) {
    Scenario candidate = best_;
    std::erase_if(candidate.actions, drop);
    return candidate.actions.size() < best_.actions.size() && Try(candidate);
  }
  // A key or node that nothing is asked of stays in the cluster, unless it is the last.
  void DropKeys() {
    for (uint32_t key = best_.keys(); key-- > 0 && best_.keys() > 1;) {
      Keep([&](const Action& a) { return !IsFault(a.act) && a.key == key; });
      Scenario candidate = best_;
      if (key + 1 < best_.keys()) continue;
      std::erase_if(candidate.actions,
                    [&](const Action& a) { return !IsFault(a.act) && a.key == key; });
      candidate.limits.pop_back();
      Try(candidate);
    }
  }
  void DropNodes() {
    for (uint32_t node = best_.nodes(); node-- > 0 && best_.nodes() > 2;) {
      Scenario candidate = best_;
      if (node + 1 < best_.nodes()) continue;
      std::erase_if(candidate.actions, [&](const Action& a) {
        return (a.act != Act::kCut && a.act != Act::kStorm) && a.node == node;
      });
      candidate.clocks.pop_back();
      Try(candidate);
    }
  }
  // Halves, quarters, … of the list.
  void DropActions() {
    for (size_t part = std::max<size_t>(1, best_.actions.size() / 2); part > 0; part /= 2) {
      for (size_t from = 0; from < best_.actions.size() && runs_ < most_;) {
        Scenario candidate = best_;
        const size_t to = std::min(from + part, candidate.actions.size());
        candidate.actions.erase(candidate.actions.begin() + static_cast<ptrdiff_t>(from),
                                candidate.actions.begin() + static_cast<ptrdiff_t>(to));
        if (!Try(candidate)) from += part;
      }
    }
  }
  void Simplify() {
    Scenario candidate = best_;
    for (NodeClock& clock : candidate.clocks) clock = NodeClock{};
    Try(candidate);
    candidate = best_;
    candidate.weather = {.latency = best_.weather.latency};
    Try(candidate);
  }

  Scenario best_;
  const Subject& subject_;
  const std::string invariant_;
  const int most_;
  const std::function<void(int)>& progress_;
  int runs_ = 0;
};

}  // namespace

Scenario Shrink(Scenario scenario, const Subject& subject, const Violation& violation, int runs,
                const std::function<void(int)>& progress) {
  return Shrinker(std::move(scenario), subject, violation.invariant, runs, progress)
      .Go(violation.at);
}

}  // namespace weir::chaos
