#include "lab/chaos/narrator.h"

#include <fmt/core.h>

#include <map>

namespace weir::chaos {
namespace {

std::string Nodes(NodeSet set) {
  std::string text;
  for (uint32_t node = 0; node < kMostNodes; ++node) {
    if (Has(set, node)) text += fmt::format("{}{}", text.empty() ? "" : ",", node);
  }
  return text;
}

std::string Changes(const Happening& h) {
  std::string text;
  std::map<uint32_t, size_t> forgotten;  // rows, by key
  for (const RowChange& change : h.changes) {
    if (change.after == nullptr) {
      ++forgotten[change.key];
      continue;
    }
    text += fmt::format("; key {} {} is {}", change.key, Shown(change.name), change.after->charged);
    if (change.after->refunded > 0) text += fmt::format(" - {}", change.after->refunded);
  }
  for (const auto& [key, rows] : forgotten) {
    text += fmt::format("; {} row{} of key {} forgotten", rows, rows == 1 ? "" : "s", key);
  }
  return text;
}

std::string Sent(const Happening& h) {
  std::string text;
  for (const Envelope& envelope : h.sent) text += fmt::format("{} ", envelope.to);
  return text.empty() ? text : "; sends to " + text.substr(0, text.size() - 1);
}

std::string Of(const Happening& h) {
  std::string text = fmt::format("{} of key {}", h.cost, h.key);
  if (h.window != 0) text += fmt::format(" in window {}", h.window);
  return text;
}

std::string Line(const Happening& h) {
  switch (h.what) {
    case What::kStart: return fmt::format("node {} starts", h.node);
    case What::kEnd: return fmt::format("node {}: {}", h.node, NameOf(h.action->act));
    case What::kAway: return fmt::format("node {}: {}", h.node, NameOf(h.action->act));
    case What::kBack: return fmt::format("node {} is back", h.node);
    case What::kRequest:
      return fmt::format("node {} {} {}", h.node, h.admitted ? "admits" : "refuses", Of(h));
    case What::kTake: return fmt::format("node {} takes {}", h.node, Of(h));
    case What::kRefund: return fmt::format("node {} refunds {}", h.node, Of(h));
    case What::kTick: return fmt::format("node {} ticks", h.node);
    case What::kReceive: return fmt::format("node {} hears node {}", h.node, h.other);
    case What::kCut:
    case What::kMend:
      return fmt::format(
          "{} from {} to {}{}", h.what == What::kCut ? "nothing passes" : "all passes again",
          Nodes(h.action->from), Nodes(h.action->to), h.action->both ? ", nor back" : "");
    case What::kStorm: return fmt::format("a storm for {}", Shown(h.action->lasts));
    case What::kConverged: return "all should know the same now";
    case What::kForgotten: return "all should be full and forgotten now";
  }
  return {};
}

std::string Described(const Limit& limit) {
  if (limit.flows()) return fmt::format("{} per {}", limit.limit, Shown(limit.per));
  if (!limit.windows()) return fmt::format("a log of {}", Shown(limit.per));
  return fmt::format("windows of {}, kept for {}", Shown(limit.length), Shown(limit.per));
}

class Narrator final : public Observer {
 public:
  explicit Narrator(std::vector<std::string>& lines) : lines_(lines) {}
  const char* name() const override { return "narrator"; }
  void See(const Happening& h, const Cluster&) override {
    if (h.what == What::kTick && h.sent.empty() && h.changes.empty()) return;
    lines_.push_back(fmt::format("{:>16}  {}{}{}", Shown(h.at), Line(h), Changes(h), Sent(h)));
  }

 private:
  std::vector<std::string>& lines_;
};

}  // namespace

std::string Described(const Scenario& s) {
  std::string text = fmt::format("{}, {} nodes, latency {}, jitter {}, loss {}, duplication {}\n",
                                 NameOf(s.kind), s.nodes(), Shown(s.weather.latency),
                                 Shown(s.weather.jitter), s.weather.loss, s.weather.duplication);
  const Timing& t = s.timing;
  if (s.kind == EnvelopeKind::kDebt) {
    text += fmt::format("patience {}, heartbeat {}, grace {}\n", Shown(t.patience),
                        Shown(t.heartbeat), Shown(t.memory));
  } else {
    text += fmt::format("gossip every {} to {}{}{}{}, margin {}\n", Shown(t.interval), t.fan_out,
                        t.linf ? ", linf" : "", t.frequency ? ", frequency" : "",
                        t.whole_buckets ? ", whole buckets" : "", Shown(t.memory));
  }
  for (uint32_t key = 0; key < s.keys(); ++key) {
    text += fmt::format("key {}: capacity {}, {}\n", key, s.limits[key].capacity,
                        Described(s.limits[key]));
  }
  for (uint32_t node = 0; node < s.nodes(); ++node) {
    const NodeClock& clock = s.clocks[node];
    if (clock.drift_ppm == 0 && clock.offset == Duration{}) continue;
    text += fmt::format("node {}'s clock is {} ahead and drifts by {} ppm\n", node,
                        Shown(clock.offset), clock.drift_ppm);
  }
  return text;
}

std::unique_ptr<Observer> MakeNarrator(std::vector<std::string>& lines) {
  return std::make_unique<Narrator>(lines);
}

}  // namespace weir::chaos
