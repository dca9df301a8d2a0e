#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "lab/chaos/checks/checks.h"

namespace weir::chaos {
namespace {

class RowsCheck final : public Observer {
 public:
  explicit RowsCheck(const Scenario& scenario) : written_(scenario.keys()) {}
  const char* name() const override { return "rows"; }

  void See(const Happening& h, const Cluster& cluster) override {
    if (h.what == What::kStart && !lives_.insert(cluster.origin(h.node)).second) {
      Fail(h, fmt::format("node {} starts under the name of an earlier life", h.node));
    }
    travel_ = std::max(travel_, h.travelled);
    uint64_t charged = 0, refunded = 0;
    for (const RowChange& change : h.changes) {
      if (change.after == nullptr) continue;  // forgotten: others see whether it was too early
      if (h.what == What::kReceive) {
        SeeTold(h, change, cluster);
      } else {
        SeeWritten(h, change, cluster, charged, refunded);
      }
    }
    SeeSums(h, charged, refunded);
  }

 private:
  struct Written {
    uint64_t charged = 0, refunded = 0;
    Instant epoch{};  // true time
  };

  // By the node itself, when it was asked to.
  void SeeWritten(const Happening& h, const RowChange& change, const Cluster& cluster,
                  uint64_t& charged, uint64_t& refunded) {
    if (change.name.origin != cluster.origin(h.node)) {
      Fail(h, fmt::format("node {} writes {}, which is not its own", h.node, Shown(change.name)));
    }
    if (change.name.window != h.window) {
      Fail(h, fmt::format("node {} writes {}, it was asked for window {}", h.node,
                          Shown(change.name), h.window));
    }
    const auto [at, fresh] = written_[change.key].try_emplace(change.name);
    Written& written = at->second;
    const Row& now = *change.after;
    if (change.before == nullptr && !fresh) {
      Fail(h, fmt::format("node {} uses the name of {} again", h.node, Shown(change.name)));
    }
    if (now.charged < written.charged || now.refunded < written.refunded) {
      Fail(h, fmt::format("{} shrinks", Shown(change.name)));
    }
    charged += now.charged - written.charged;
    refunded += now.refunded - written.refunded;
    if (fresh) written.epoch = h.at;
    written.charged = now.charged;
    written.refunded = now.refunded;
  }

  void SeeSums(const Happening& h, uint64_t charged, uint64_t refunded) const {
    const bool took = h.what == What::kTake || (h.what == What::kRequest && h.admitted);
    const uint64_t due = took ? h.cost : 0;
    if (charged != due) {
      Fail(h, fmt::format("node {} charges {} instead of {}", h.node, charged, due));
    }
    const uint64_t most = h.what == What::kRefund ? h.cost : 0;
    if (refunded > most) {
      Fail(h, fmt::format("node {} refunds {} instead of {}", h.node, refunded, most));
    }
  }

  // By an envelope.
  void SeeTold(const Happening& h, const RowChange& change, const Cluster& cluster) const {
    const auto found = written_[change.key].find(change.name);
    if (found == written_[change.key].end()) {
      Fail(h, fmt::format("node {} hears of {}, which nobody wrote", h.node, Shown(change.name)));
    }
    const Written& written = found->second;
    const Row& now = *change.after;
    if (now.charged > written.charged || now.refunded > written.refunded) {
      Fail(h, fmt::format("node {} knows {} charged and {} refunded of {}, written were {} and {}",
                          h.node, now.charged, now.refunded, Shown(change.name), written.charged,
                          written.refunded));
    }
    if (change.before != nullptr &&
        (now.charged < change.before->charged || now.refunded < change.before->refunded)) {
      Fail(h, fmt::format("node {} unlearns some of {}", h.node, Shown(change.name)));
    }
    if (now.epoch == Instant{}) return;
    const Instant epoch = cluster.scenario().clocks[h.node].True(now.epoch);
    const Duration drift = DriftIn(h.at - written.epoch);
    const auto hops = static_cast<int64_t>(lives_.size());  // each life passes it on once
    if (epoch < written.epoch - drift ||
        epoch > written.epoch + drift + hops * (travel_ + kAgeStep)) {
      Fail(h,
           fmt::format("node {} dates {} to {}, it began at {}; envelopes took at most {}", h.node,
                       Shown(change.name), Shown(epoch), Shown(written.epoch), Shown(travel_)));
    }
  }

  std::vector<absl::flat_hash_map<RowName, Written>> written_;  // by key
  std::set<Origin> lives_;
  Duration travel_{};  // the longest of an envelope
};

}  // namespace

std::unique_ptr<Observer> MakeRowsCheck(const Scenario& scenario) {
  return std::make_unique<RowsCheck>(scenario);
}

}  // namespace weir::chaos
