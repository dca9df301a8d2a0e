#include "lab/replicated/experiment.h"

#include <fmt/core.h>

#include <map>
#include <stdexcept>

#include "lab/replicated/variants.h"

namespace weir::lab {
namespace {

const SpotifyDescription& Described(const std::string& name) {
  for (const SpotifyDescription& one : SpotifyDescriptions()) {
    if (one.name == name) return one;
  }
  throw std::invalid_argument("there is no experiment '" + name + "'; 'weir-lab list' lists them");
}

SpotifyExperiment Make(const ExperimentOptions& options, uint64_t seed) {
  SpotifyExperiment made = MakeSpotify(options.name, options.settings.capacity, seed);
  if (!options.recorded.empty()) made.requests = options.recorded;
  const Duration births = options.settings.births;
  if (births == Duration::zero()) return made;
  for (SimulatedRequest& request : made.requests) {
    request.at -= request.at.time_since_epoch() % births;
  }
  return made;
}

double Millis(Duration d) { return static_cast<double>(d.count()) / 1e6; }

std::string InWords(const SpotifyExperiment& made, const ExperimentOptions& options, int runs) {
  const Settings& s = options.settings;
  return fmt::format(
      "{} nodes, capacity {}, {:.6g} tokens/s, gossip every {:g} ms, latency {:g} ms, jitter {:g} "
      "ms, loss {:g}, duplication {:g}; {} {}, {} from seed {}",
      s.nodes, made.limit.capacity,
      static_cast<double>(made.limit.limit) * 1e9 / static_cast<double>(made.limit.per.count()),
      Millis(s.interval.value_or(made.interval)), Millis(s.network.latency),
      Millis(s.network.jitter), s.network.loss, s.network.duplication, made.requests.size(),
      options.recorded.empty() ? "requests" : "recorded requests",
      runs == 1 ? "1 run" : fmt::format("mean of {} runs", runs), options.seed);
}

}  // namespace

std::vector<std::string> ExperimentsNamed(const std::string& name, const Settings& settings) {
  std::vector<std::string> names;
  for (const SpotifyDescription& one : SpotifyDescriptions()) {
    const bool d = one.name.starts_with("spotify-d");
    if (settings.interval && d && one.name != "spotify-d") continue;  // all three are the same then
    if (name == "all" || (name == "spotify-d" && d)) names.push_back(one.name);
  }
  if (names.empty()) names.push_back(Described(name).name);
  return names;
}

ExperimentResult RunExperiment(const ExperimentOptions& options, const Progress& progress) {
  const SpotifyDescription& described = Described(options.name);
  const int runs = options.runs > 0 ? options.runs : described.runs;
  ExperimentResult result{.name = described.name, .what = described.what};
  std::vector<std::pair<std::string, std::vector<Measured>>> measured;
  for (int run = 0; run < runs; ++run) {
    const uint64_t seed = options.seed + static_cast<uint64_t>(run);
    const SpotifyExperiment made = Make(options, seed);
    const std::vector<Variant> variants = VariantsFor(made, options.settings, seed);
    SimulationOptions simulation{.nodes = options.settings.nodes,
                                 .limit = made.limit,
                                 .network = options.settings.network,
                                 .seed = seed,
                                 .quiet = options.settings.quiet};
    if (run == 0) result.parameters = InWords(made, options, runs);
    result.capacity = made.limit.capacity;
    result.requests += static_cast<double>(made.requests.size()) / runs;
    for (size_t i = 0; i < variants.size(); ++i) {
      const double one = 1.0 / (runs * static_cast<double>(variants.size()));
      const double before =
          (run * static_cast<double>(variants.size()) + static_cast<double>(i)) * one;
      simulation.progress = [&, what = options.name + ": " + variants[i].name](double done) {
        progress(what, before + done * one);
      };
      if (measured.size() <= i) measured.push_back({variants[i].name, {}});
      measured[i].second.push_back(Simulate(made.requests, variants[i].make, simulation));
    }
  }
  for (const auto& [name, all] : measured) {
    result.step = all.front().step;
    result.variants.push_back(Summarize(name, all));
  }
  AddRatios(result);
  return result;
}

}  // namespace weir::lab
