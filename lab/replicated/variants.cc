#include "lab/replicated/variants.h"

#include <algorithm>
#include <stdexcept>

#include "lab/replicated/merged_births.h"
#include "replication/counter_replica.h"
#include "replication/queue_replica.h"

namespace weir::lab {
namespace {

struct QueueKind {
  bool linf = false;
  bool frequency = false;
  Duration margin{};
};

MakeReplica Counter(Duration interval, uint64_t seed, uint32_t fan_out, bool whole_buckets) {
  return [=](Origin self, Instant) {
    return std::make_unique<CounterReplica>(self, CounterOptions{.interval = interval,
                                                                 .fan_out = fan_out,
                                                                 .seed = seed * 1000 + self.node,
                                                                 .whole_buckets = whole_buckets});
  };
}

MakeReplica Queue(Duration interval, uint64_t seed, const QueueKind& kind,
                  const Settings& settings) {
  const QueueOptions common{.interval = interval,
                            .fan_out = settings.fan_out,
                            .linf = kind.linf,
                            .frequency = kind.frequency,
                            .frequency_threshold = settings.frequency_threshold,
                            .window = settings.window,
                            .margin = kind.margin,
                            .seed = seed * 1000};
  return [common, births = settings.births](Origin self, Instant) -> std::unique_ptr<Replica> {
    QueueOptions options = common;
    options.seed += self.node;
    auto queue = std::make_unique<QueueReplica>(self, options);
    if (births == Duration::zero()) return queue;
    return std::make_unique<MergedBirths>(std::move(queue), births);
  };
}

std::vector<Variant> Only(std::vector<Variant> all, const std::vector<std::string>& wanted) {
  if (wanted.empty()) return all;
  std::string names;
  for (const Variant& one : all) names += (names.empty() ? "" : ", ") + one.name;
  for (const std::string& name : wanted) {
    if (std::none_of(all.begin(), all.end(), [&](const Variant& v) { return v.name == name; })) {
      throw std::invalid_argument("there is no variant '" + name + "'; there are " + names);
    }
  }
  std::erase_if(all, [&](const Variant& one) {
    return std::find(wanted.begin(), wanted.end(), one.name) == wanted.end();
  });
  return all;
}

}  // namespace

std::vector<Variant> VariantsFor(const SpotifyExperiment& experiment, const Settings& settings,
                                 uint64_t seed) {
  const Duration interval = settings.interval.value_or(experiment.interval);
  const auto queue = [&](const QueueKind& kind) { return Queue(interval, seed, kind, settings); };
  std::vector<Variant> all = {{"counter", Counter(interval, seed, settings.fan_out, true)},
                              {"counter+rows", Counter(interval, seed, settings.fan_out, false)},
                              {"queue", queue({})},
                              {"queue+linf", queue({.linf = true})},
                              {"queue+frequency", queue({.frequency = true})},
                              {"queue+both", queue({.linf = true, .frequency = true})}};
  if (settings.margin || experiment.name.starts_with("spotify-d")) {
    // The time in which a node tells each of its peers once, on average.
    const Duration round = interval * static_cast<int64_t>(settings.nodes);
    const Duration margin = settings.margin.value_or(round);
    all.push_back({"queue+margin", queue({.margin = margin})});
    all.push_back({"queue+frequency+margin", queue({.frequency = true, .margin = margin})});
  }
  all.push_back({"debt", [options = settings.debt](Origin self, Instant start) {
                   return std::make_unique<DebtReplica>(self, options, start);
                 }});
  // The thesis compares these on its largest set, whose every variant takes minutes.
  const std::vector<std::string> compared = {"counter", "queue+frequency", "debt"};
  const bool largest = experiment.name == "spotify-c" && settings.variants.empty();
  return Only(std::move(all), largest ? compared : settings.variants);
}

}  // namespace weir::lab
