#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

#include "lab/chaos/checks/checks.h"

namespace weir::chaos {
namespace {

// Of limits into which nothing flows: windows and logs. No clock but the asking node's has a say in a
// decision, so it must be exactly what follows from the rows that the node knows. And a life knows its
// own rows: so each admits at most the limit in a window, or in any `per` of a log. That is the bound
// with r = 0, whatever was cut off from whom, and for how long.
class CountsCheck final : public Observer {
 public:
  explicit CountsCheck(Margins& margins) : margins_(margins) {}
  const char* name() const override { return "counts"; }

  void See(const Happening& h, const Cluster& cluster) override {
    travel_ = std::max(travel_, h.travelled);
    if (h.what == What::kStart) ++lives_;
    const bool asked = h.what == What::kRequest;
    if (!asked && h.what != What::kTake && h.what != What::kRefund) return;
    const Limit& limit = cluster.scenario().limits[h.key];
    if (limit.flows()) return;
    Taken& taken = of_[{h.key, h.window}];
    if (!limit.windows()) {
      std::erase_if(taken, [&](const auto& row) { return h.at - row.second.at > Longest(limit); });
    }
    Note(h, taken);
    if (h.what == What::kRefund && limit.windows()) CheckRefund(h, cluster);
    if (asked) CheckDecision(h, limit, cluster);
    if (asked && h.admitted) CheckBound(h, limit, taken);
    if (asked && !h.admitted) CheckRefusal(h, limit, taken);
  }

 private:
  struct Row {
    Instant at;
    uint64_t charged = 0, refunded = 0;
    uint64_t settled = 0;  // of what was charged: nobody asked whether there was room
  };
  using Taken = std::map<RowName, Row>;

  // For how long a hit of a log counts, on any clock: by how it was dated at the latest.
  Duration Longest(const Limit& limit) const {
    return limit.per + DriftIn(limit.per) + lives_ * (travel_ + kAgeStep);
  }

  static void Note(const Happening& h, Taken& taken) {
    for (const RowChange& change : h.changes) {
      if (change.after == nullptr || change.name.origin.node != h.node) continue;
      if (change.before == nullptr) taken[change.name].at = h.at;
      const auto row = taken.find(change.name);
      if (row == taken.end()) continue;  // it does not count any more
      row->second.charged = change.after->charged;
      row->second.refunded = change.after->refunded;
      if (h.what == What::kTake) row->second.settled += h.cost;
    }
  }

  // Of a window that the node still knows, all is given back.
  void CheckRefund(const Happening& h, const Cluster& cluster) const {
    uint64_t given = 0;
    for (const RowChange& change : h.changes) {
      if (change.after == nullptr || change.before == nullptr) continue;
      given += change.after->refunded - change.before->refunded;
    }
    const auto& rows = cluster.rows(h.node, h.key);
    const bool known = std::any_of(rows.begin(), rows.end(), [&](const chaos::Row& row) {
      return row.name.window == h.window && row.name.origin == cluster.origin(h.node);
    });
    if (!known || given == h.cost) return;
    Fail(h, fmt::format("node {} gives back {} of {} to window {} of key {}", h.node, given, h.cost,
                        h.window, h.key));
  }

  void CheckDecision(const Happening& h, const Limit& limit, const Cluster& cluster) const {
    const Instant now = cluster.scenario().clocks[h.node].Local(h.at);
    uint64_t known = 0;
    for (const chaos::Row& row : cluster.rows(h.node, h.key)) {
      const bool over =
          limit.windows() ? row.name.window != h.window : row.epoch + Duration(row.life) <= now;
      if (!over) known += row.charged - row.refunded;
    }
    if (h.admitted) known -= h.cost;
    if (h.admitted == (known + h.cost <= limit.capacity)) return;
    throw Violation{"knowledge",
                    fmt::format("node {} {} {} of key {}, window {}, though it knows of {} of {}",
                                h.node, h.admitted ? "admits" : "refuses", h.cost, h.key, h.window,
                                known, limit.capacity),
                    h.at};
  }

  void CheckBound(const Happening& h, const Limit& limit, const Taken& taken) const {
    const Duration shortest = limit.per - DriftIn(limit.per);
    uint64_t count = 0, settled = 0;
    std::set<Origin> lives;
    for (const auto& [name, row] : taken) {
      if (!limit.windows() && h.at - row.at > shortest) continue;
      count += row.charged - row.refunded;
      settled += row.settled;
      lives.insert(name.origin);
    }
    const uint64_t bound = lives.size() * limit.capacity + settled;
    const auto full = static_cast<double>(limit.capacity), all = static_cast<double>(count);
    ++margins_.checked;
    margins_.bound_share = std::max(margins_.bound_share, all / static_cast<double>(bound));
    margins_.over_capacity = std::max(margins_.over_capacity, (all - full) / full);
    if (count <= bound) return;
    throw Violation{
        "bound",
        fmt::format("{} of key {} were admitted in window {}, the bound is {}: {} for "
                    "each of {} lives, and {} settled",
                    count, h.key, h.window, bound, limit.capacity, lives.size(), settled),
        h.at};
  }

  // Even if nothing had been refunded.
  void CheckRefusal(const Happening& h, const Limit& limit, const Taken& taken) const {
    uint64_t count = h.cost;
    for (const auto& [name, row] : taken) count += row.charged;
    if (count > limit.capacity) return;
    throw Violation{"refusal",
                    fmt::format("node {} refuses {} of key {}, window {}, though at most {} of {} "
                                "were taken",
                                h.node, h.cost, h.key, h.window, count - h.cost, limit.capacity),
                    h.at};
  }

  Margins& margins_;
  std::map<std::pair<uint32_t, int64_t>, Taken> of_;  // by key and window
  Duration travel_{};
  int64_t lives_ = 0;
};

}  // namespace

std::unique_ptr<Observer> MakeCountsCheck(Margins& margins) {
  return std::make_unique<CountsCheck>(margins);
}

}  // namespace weir::chaos
