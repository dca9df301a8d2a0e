#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "lab/chaos/checks/checks.h"

namespace weir::chaos {
namespace {

// Of limits into which nothing flows: what counts is kept as long as it has to be, and no longer.
// Whoever charges a window says for how long by its own clock, and all who hear of it keep it as long;
// they may be late by the time of travel, and by the second to which it is rounded up, at each hop. A
// hit of a log is dated by each node for itself.
class KeptCheck final : public Observer {
 public:
  const char* name() const override { return "kept"; }

  void See(const Happening& h, const Cluster& cluster) override {
    const Scenario& s = cluster.scenario();
    travel_ = std::max(travel_, h.travelled);
    if (h.what == What::kStart) ++lives_;
    for (const RowChange& change : h.changes) {
      if (s.limits[change.key].flows()) continue;
      if (change.after == nullptr) SeeForgotten(h, change, s);
      if (change.before == nullptr) born_.try_emplace({change.key, change.name}, h.at);
    }
    const bool used = h.what == What::kRequest || h.what == What::kTake || h.what == What::kRefund;
    if (used && !h.changes.empty()) used_[{h.key, h.window}] = h.at;
    if (used || h.what == What::kTick) CheckNothingIsOver(h, cluster);
    if (h.what != What::kConverged) return;
    for (uint32_t key = 0; key < s.keys(); ++key) {
      if (!s.limits[key].flows()) Compare(h, cluster, key);
    }
  }

 private:
  static Duration KeptFor(const Limit& limit) { return limit.length + limit.per; }
  // True time; before it nobody forgets what the row's origin counted in the window.
  static Instant KeptUntil(const Limit& limit, const RowName& name, const Scenario& s) {
    const Instant end = limit.EndOf(name.window) + limit.per;
    return s.clocks[name.origin.node].True(end) - DriftIn(KeptFor(limit));
  }

  // True time, as the node dates the hit.
  static Instant KeptUntil(const Row& hit, uint32_t node, const Scenario& s) {
    return s.clocks[node].True(hit.epoch + Duration(hit.life) + s.timing.memory);
  }

  void SeeForgotten(const Happening& h, const RowChange& change, const Scenario& s) const {
    const Limit& limit = s.limits[change.key];
    const Row& row = *change.before;
    Instant until;
    if (limit.windows()) {
      until = KeptUntil(limit, row.name, s);
    } else if (h.what != What::kReceive) {
      until = KeptUntil(row, h.node, s);
    } else {  // it may just have heard that it is older
      const Duration kept = limit.per + s.timing.memory;
      until = born_.at({change.key, row.name}) + kept - DriftIn(kept);
    }
    if (h.at >= until) return;
    Fail(h, fmt::format("node {} forgets {} of key {} {} too early", h.node, Shown(row.name),
                        change.key, Shown(until - h.at)));
  }

  void CheckNothingIsOver(const Happening& h, const Cluster& cluster) const {
    const Scenario& s = cluster.scenario();
    // What is not told yet is not forgotten: it waits at a node, and at the home that it is handed to.
    const Duration late = lives_ * (travel_ + std::chrono::seconds(1)) + 2 * s.timing.patience +
                          2 * s.timing.heartbeat;
    for (uint32_t key = 0; key < s.keys(); ++key) {
      const Limit& limit = s.limits[key];
      if (!limit.windows()) continue;
      const Duration most = KeptFor(limit) + DriftIn(KeptFor(limit)) + late;
      for (const Row& row : cluster.rows(h.node, key)) {
        const auto used = used_.find({key, row.name.window});
        if (used == used_.end() || h.at <= used->second + most) continue;
        Fail(h, fmt::format("node {} still keeps {} of key {}, {} after its last use", h.node,
                            Shown(row.name), key, Shown(h.at - used->second)));
      }
    }
  }

  // Whatever one knows, all know, until it may be forgotten.
  void Compare(const Happening& h, const Cluster& cluster, uint32_t key) const {
    const Scenario& s = cluster.scenario();
    const Limit& limit = s.limits[key];
    const Duration late = s.nodes() * (travel_ + kAgeStep) + DriftIn(h.at - kStart);
    for (uint32_t one = 0; one < s.nodes(); ++one) {
      for (const Row& row : cluster.rows(one, key)) {
        const Instant until =
            limit.windows() ? KeptUntil(limit, row.name, s) : KeptUntil(row, one, s) - late;
        if (h.at >= until) continue;
        for (uint32_t other = 0; other < s.nodes(); ++other) {
          CompareRow(h, row, one, cluster.rows(other, key), other, key);
        }
      }
    }
  }
  void CompareRow(const Happening& h, const Row& row, uint32_t one, const std::vector<Row>& others,
                  uint32_t other, uint32_t key) const {
    const Row* there = FindRow(others, row.name);
    if (there && there->charged == row.charged && there->refunded == row.refunded) return;
    throw Violation{"quiet", Differing(key, one, row, other, there), h.at};
  }

  std::map<std::pair<uint32_t, int64_t>, Instant> used_;  // by key and window: the last time
  std::map<std::pair<uint32_t, RowName>, Instant> born_;
  Duration travel_{};
  int64_t lives_ = 0;
};

}  // namespace

std::unique_ptr<Observer> MakeKeptCheck() { return std::make_unique<KeptCheck>(); }

}  // namespace weir::chaos
