#include <fmt/core.h>

#include <algorithm>
#include <bit>

#include "lab/chaos/checks/checks.h"

namespace weir::chaos {
namespace {

class BoundCheck final : public Observer {
 public:
  BoundCheck(const Truth& truth, Margins& margins) : truth_(truth), margins_(margins) {}
  const char* name() const override { return "bound"; }

  void See(const Happening& h, const Cluster& cluster) override {
    if (h.what != What::kRequest || !h.admitted) return;
    if (!cluster.scenario().limits[h.key].flows()) return;  // see counts_check.cc
    ++margins_.checked;
    const int128 debt = truth_.Debt(h.key);
    const int128 full = truth_.Units(h.key, cluster.scenario().limits[h.key].capacity);
    if (debt <= full) return;
    const Duration together = truth_.Lag(h.key, false, h.at, cluster);
    const Duration apart = std::max(together, truth_.Lag(h.key, true, h.at, cluster));
    if (cluster.scenario().kind != EnvelopeKind::kCounter &&
        apart > cluster.scenario().timing.memory) {
      ++margins_.beyond_assumption;
      return;
    }
    CheckKnowledge(h, cluster, debt, full);
    CheckBound(h, cluster, debt, full, together, apart);
  }

 private:
  // Epochs are late by as much as envelopes travel.
  void CheckKnowledge(const Happening& h, const Cluster& cluster, int128 debt, int128 full) const {
    const int64_t hops =
        cluster.scenario().kind == EnvelopeKind::kDebt ? 2 : cluster.scenario().nodes();
    const int128 late = truth_.Inflow(h.key, hops * truth_.LongestTravel());
    int128 unknown = truth_.Unknown(h.key, h.node);
    if (cluster.scenario().kind == EnvelopeKind::kCounter) {
      unknown += truth_.Untold(h.key, h.node, cluster.scenario().limits[h.key].capacity);
    }
    const int128 blind = Blind(h, cluster);
    if (debt <= full + late + unknown + blind) return;
    throw Violation{
        "knowledge",
        fmt::format("node {} admits {} of key {}: the debt is then {:.6f} of {}, and it did not "
                    "know of {:.6f}",
                    h.node, h.cost, h.key, Tokens(h, debt),
                    cluster.scenario().limits[h.key].capacity, Tokens(h, unknown)),
        h.at};
  }

  void CheckBound(const Happening& h, const Cluster& cluster, int128 debt, int128 full,
                  Duration together, Duration apart) {
    const auto n = static_cast<int128>(std::popcount(truth_.Nodes(h.key)));
    const auto k = std::min<int128>(n, truth_.Groups(h.key, apart, h.at));
    const int128 of_one = full + truth_.Inflow(h.key, together);
    const int128 of_component = full + truth_.Inflow(h.key, apart);
    const int128 bound = full + (k - 1) * of_component + (n - k) * of_one +
                         int128{truth_.Ends(h.key)} * of_component + truth_.Taken(h.key) +
                         Blind(h, cluster);
    margins_.longest_lag = std::max(margins_.longest_lag, apart);
    margins_.bound_share =
        std::max(margins_.bound_share, static_cast<double>(debt) / static_cast<double>(bound));
    margins_.over_capacity = std::max(margins_.over_capacity,
                                      static_cast<double>(debt - full) / static_cast<double>(full));
    if (debt <= bound) return;
    Fail(h, fmt::format("{:.6f} tokens of key {} beyond the rate were admitted in a window, the "
                        "bound is {:.6f}: capacity {}, {} nodes in {} components, D {}, cut off "
                        "for {}, {} lives ended",
                        Tokens(h, debt), h.key, Tokens(h, bound),
                        cluster.scenario().limits[h.key].capacity, static_cast<int>(n),
                        static_cast<int>(k), Shown(together), Shown(apart), truth_.Ends(h.key)));
  }

  int128 Blind(const Happening& h, const Cluster& cluster) const {
    return cluster.scenario().kind == EnvelopeKind::kDebt ? truth_.Blind(h.key) : 0;
  }
  double Tokens(const Happening& h, int128 units) const {
    return static_cast<double>(units) / static_cast<double>(truth_.Units(h.key, 1));
  }

  const Truth& truth_;
  Margins& margins_;
};

// The greatest debt that a node may see: nothing is refunded, clocks are slow.
class RefusalCheck final : public Observer {
 public:
  explicit RefusalCheck(const Scenario& scenario) : of_(scenario.keys()) {}
  const char* name() const override { return "refusal"; }

  void See(const Happening& h, const Cluster& cluster) override {
    travel_ = std::max(travel_, h.travelled);
    if (h.what == What::kStart) ++lives_;
    if (h.what != What::kRequest && h.what != What::kTake) return;
    if (!cluster.scenario().limits[h.key].flows()) return;
    const Ticks ticks(cluster.scenario().limits[h.key]);
    OfKey& of = of_[h.key];
    const int128 gone = ticks.In(h.at - of.at) * (kMillion - 2 * kMostDriftPpm);
    of.debt = std::max<int128>(0, of.debt - gone);
    of.at = h.at;
    const int128 cost = ticks.Of(h.cost) * kMillion;
    if (h.admitted || h.what == What::kTake) {
      of.debt += cost;
    } else if (cluster.scenario().kind != EnvelopeKind::kCounter) {
      // Each life passes a row on once.
      const int128 late = ticks.In(lives_ * (travel_ + kAgeStep)) * kMillion;
      const int128 full = ticks.Of(cluster.scenario().limits[h.key].capacity) * kMillion;
      if (of.debt + cost + late > full) return;
      Fail(h, fmt::format("node {} refuses {} of key {} though at most {:.6f} of {} were taken",
                          h.node, h.cost, h.key,
                          static_cast<double>(of.debt) / static_cast<double>(ticks.Of(1)) / 1e6,
                          cluster.scenario().limits[h.key].capacity));
    }
  }

 private:
  struct OfKey {
    int128 debt = 0;
    Instant at = kStart;
  };
  std::vector<OfKey> of_;
  Duration travel_{};
  int64_t lives_ = 0;
};

}  // namespace

std::unique_ptr<Observer> MakeBoundCheck(const Truth& truth, Margins& margins) {
  return std::make_unique<BoundCheck>(truth, margins);
}
std::unique_ptr<Observer> MakeRefusalCheck(const Scenario& scenario) {
  return std::make_unique<RefusalCheck>(scenario);
}

}  // namespace weir::chaos
