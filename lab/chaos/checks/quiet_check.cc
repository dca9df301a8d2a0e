#include <fmt/core.h>

#include <algorithm>

#include "lab/chaos/checks/checks.h"

namespace weir::chaos {
namespace {

constexpr size_t kIdleBytes = 8'192;  // of a node that knows nothing, for each peer

// Until when a row of this view must be known, on the node's clock: what it says has flowed off,
// and has been remembered since. Epochs are late by up to `slack`, so periods that meet within it
// are one to some nodes and two to others; and what comes so soon after a period's beginning has
// come, and was over, before it to some.
std::vector<Instant> KeptUntil(const std::vector<Row>& rows, const Scenario& s, uint32_t key,
                               Duration slack) {
  const Ticks ticks(s.limits[key]);
  std::vector<size_t> order(rows.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return rows[a].epoch < rows[b].epoch; });
  std::vector<Instant> until(rows.size(), kEndOfTime);
  if (s.kind == EnvelopeKind::kCounter) return until;
  int128 end = 0;  // of the period, as ticks
  for (size_t first = 0, i = 0; i < order.size(); ++i) {
    const Row& row = rows[order[i]];
    const int128 begin = ticks.At(row.epoch);
    if (begin + ticks.In(slack) >= end) first = i, end = begin;
    end += ticks.Of(row.charged - row.refunded);
    if (s.kind == EnvelopeKind::kQueue) end = begin + row.life, first = i;
    const Instant start = rows[order[first]].epoch;
    for (size_t j = first; j <= i; ++j) {
      const Row& of_period = rows[order[j]];
      const int128 alone =
          ticks.At(of_period.epoch) + ticks.Of(of_period.charged - of_period.refunded);
      const int128 over = of_period.epoch <= start + slack && j > first ? alone : end;
      until[order[j]] = After(InstantAt(FloorDiv(over, ticks.per_nano)), s.timing.memory);
    }
  }
  return until;
}

class QuietCheck final : public Observer {
 public:
  explicit QuietCheck(const Truth& truth) : truth_(truth) {}
  const char* name() const override { return "quiet"; }

  void See(const Happening& h, const Cluster& cluster) override {
    if (h.what == What::kConverged) {
      for (uint32_t key = 0; key < cluster.scenario().keys(); ++key) {
        if (cluster.scenario().limits[key].flows()) Compare(h, cluster, key);
      }
    }
    if (h.what != What::kForgotten) return;
    for (uint32_t node = 0; node < cluster.scenario().nodes(); ++node) {
      CheckRest(h, cluster, node);
    }
  }

 private:
  // Whatever one knows, all know.
  void Compare(const Happening& h, const Cluster& cluster, uint32_t key) const {
    const Scenario& s = cluster.scenario();
    const Duration slack =
        s.nodes() * truth_.LongestTravel() + (h.at - kStart) / kMillion * 4 * kMostDriftPpm;
    const Duration lag =
        std::max(truth_.Lag(key, true, h.at, cluster), truth_.Lag(key, false, h.at, cluster));
    for (uint32_t one = 0; one < s.nodes(); ++one) {
      const std::vector<Row>& rows = cluster.rows(one, key);
      const std::vector<Instant> until = KeptUntil(rows, s, key, slack);
      for (size_t i = 0; i < rows.size(); ++i) {
        const bool must = s.clocks[one].Local(h.at) + slack < until[i] && lag < s.timing.memory / 2;
        for (uint32_t other = 0; other < s.nodes(); ++other) {
          CompareRow(h, cluster.rows(other, key), rows[i], one, other, key, must);
        }
      }
    }
  }
  void CompareRow(const Happening& h, const std::vector<Row>& others, const Row& row, uint32_t one,
                  uint32_t other, uint32_t key, bool must) const {
    const Row* there = FindRow(others, row.name);
    // What was refunded whole says nothing, and may be the end of a period to one who dates it first.
    if (!there && (!must || row.charged == row.refunded)) return;
    if (there && there->charged == row.charged && there->refunded == row.refunded) return;
    Fail(h, Differing(key, one, row, other, there));
  }

  void CheckRest(const Happening& h, const Cluster& cluster, uint32_t node) const {
    const Scenario& s = cluster.scenario();
    Replica& replica = cluster.replica(node);
    if (s.kind != EnvelopeKind::kCounter) {
      if (replica.keys() > 0) {
        Fail(h, fmt::format("node {} still keeps {} idle keys", node, replica.keys()));
      }
      if (replica.bytes() > kIdleBytes * s.nodes()) {
        Fail(h, fmt::format("node {} takes {} bytes for nothing", node, replica.bytes()));
      }
    }
    const Instant now = s.clocks[node].Local(h.at);
    for (uint32_t key = 0; key < s.keys(); ++key) {
      const ReplicatedBucket limit = s.limits[key].Asked(now);
      const Ticks ticks(limit);
      const int128 level = replica.Level(KeyOf(key), limit, now);
      if (level != ticks.Of(limit.capacity)) {
        Fail(h, fmt::format("node {} has {:.6f} of {} of key {} after a long rest", node,
                            static_cast<double>(level) / static_cast<double>(ticks.Of(1)),
                            limit.capacity, key));
      }
      if (!replica.Admit(KeyOf(key), limit, limit.capacity, now)) {
        Fail(h, fmt::format("node {} refuses the capacity of key {}", node, key));
      }
    }
  }

  const Truth& truth_;
};

}  // namespace

std::unique_ptr<Observer> MakeQuietCheck(const Truth& truth) {
  return std::make_unique<QuietCheck>(truth);
}

}  // namespace weir::chaos
