#include "lab/live/live_run.h"
#include "lab/print.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cmath>
#include <thread>

#include "cluster/replicated_limits.h"
#include "lab/command_line/command_line.h"
#include "lab/live/live_cluster.h"
#include "lab/replicated/placement.h"
#include "lab/replicated/simulation.h"
#include "lab/replicated/spotify.h"

namespace weir::lab {
namespace {

constexpr double kMostDifference = 2;  // points of precision
constexpr int kSimulations = 10;       // with other gossip each; the requests are the same

struct PlayOptions {
  std::string name;
  std::string weir;
  uint32_t nodes = 8;
  uint64_t capacity = 1000;
  int64_t speed = 1;
  uint64_t seed = 1;
  bool json = false;
};

// The replicas as a server has them.
struct Way {
  std::string name;
  std::function<std::unique_ptr<Replica>(Origin self, Instant now, uint64_t seed)> make;
};

std::vector<Way> Ways() {
  using cluster::ReplicationOptions;
  return {{"counter",
           [](Origin self, Instant, uint64_t seed) {
             return std::make_unique<CounterReplica>(
                 self, cluster::CounterOf(ReplicationOptions{.seed = seed}));
           }},
          {"queue",
           [](Origin self, Instant, uint64_t seed) {
             return std::make_unique<QueueReplica>(
                 self, cluster::QueueOf(ReplicationOptions{.seed = seed}));
           }},
          {"debt", [](Origin self, Instant now, uint64_t) {
             return std::make_unique<DebtReplica>(self, ReplicationOptions{}.debt, now);
           }}};
}

SpotifyExperiment Made(const PlayOptions& options) {
  SpotifyExperiment made = MakeSpotify(options.name, options.capacity, options.seed);
  const Instant start = made.requests.front().at;
  for (SimulatedRequest& request : made.requests) {
    request.at = start + (request.at - start) / options.speed;
  }
  made.limit.per /= options.speed;
  return made;
}

void ShowPlayed(size_t done, size_t all) {
  if (!isatty(STDERR_FILENO)) return;
  constexpr size_t kWidth = 40;
  const size_t full = done * kWidth / all;
  fmt::print(stderr, "\r[{}{}] {} of {} requests", std::string(full, '#'),
             std::string(kWidth - full, '.'), done, all);
  if (done == all) fmt::print(stderr, "\r\x1b[K");
}

// Refusals of each variant.
std::vector<uint64_t> Play(const PlayOptions& options, const SpotifyExperiment& experiment,
                           const std::vector<Way>& ways) {
  LiveOptions live{.weir = options.weir, .nodes = options.nodes, .limit = experiment.limit};
  for (const Way& way : ways) live.variants.push_back(way.name);
  const LiveCluster cluster(live);
  std::vector<std::unique_ptr<LiveConnection>> nodes;
  for (uint32_t i = 0; i < options.nodes; ++i) nodes.push_back(cluster.Connect(i));
  std::vector<uint64_t> refused(ways.size(), 0);
  const Instant first = experiment.requests.front().at;
  const auto start = std::chrono::steady_clock::now();
  size_t done = 0;
  for (const SimulatedRequest& request : experiment.requests) {
    std::this_thread::sleep_until(start + (request.at - first));
    const uint32_t node = NodeFor(request, options.nodes, options.seed);
    for (size_t i = 0; i < ways.size(); ++i) {
      const std::string user = fmt::format("u{}", request.user);
      refused[i] += nodes[node]->Ask(ways[i].name, user, request.cost) ? 0 : 1;
    }
    if (++done % 100 == 0 || done == experiment.requests.size()) {
      ShowPlayed(done, experiment.requests.size());
    }
  }
  if (!options.json) PrintLines(cluster.Status() + "\n");
  return refused;
}

// How precise the simulated ones were: gossip goes by chance.
struct Simulated {
  double mean = 0, least = 1000, most = 0;
  uint64_t refused_centrally = 0;
};

Simulated SimulateAll(const PlayOptions& options, const SpotifyExperiment& experiment,
                      const Way& way) {
  Simulated all;
  for (int i = 0; i < kSimulations; ++i) {
    SimulationOptions simulation{
        .nodes = options.nodes, .limit = experiment.limit, .seed = options.seed};
    simulation.network.latency = std::chrono::microseconds(200);
    const auto make = [&](Origin self, Instant now) {
      return way.make(self, now, static_cast<uint64_t>(i) * 1000 + self.node);
    };
    const Measured measured = Simulate(experiment.requests, make, simulation);
    all.mean += measured.precision() / kSimulations;
    all.least = std::min(all.least, measured.precision());
    all.most = std::max(all.most, measured.precision());
    all.refused_centrally = measured.refused_centrally;
  }
  return all;
}

// Within two points of what the simulations gave.
bool PrintVerdict(const PlayOptions& options, const std::string& name, const Simulated& simulated,
                  uint64_t refused) {
  const Measured played{.refused = refused, .refused_centrally = simulated.refused_centrally};
  const double live = played.precision();
  const bool ok =
      live >= simulated.least - kMostDifference && live <= simulated.most + kMostDifference;
  if (options.json) {
    fmt::print(
        "{{\"experiment\":\"live-{}\",\"variant\":\"{}\",\"metric\":\"precision\",\"paper\":null,"
        "\"value\":{:.3f},\"simulated\":{:.3f},\"unit\":\"percent\",\"ok\":{}}}\n",
        options.name, name, live, simulated.mean, ok);
  } else {
    fmt::print("{:<10} {:>10.2f} {:>10.2f} {:>10.2f} {:>10.2f}   {}\n", name, live, simulated.mean,
               simulated.least, simulated.most, ok ? "agrees" : "DIFFERS");
  }
  return ok;
}

int RunLive(const PlayOptions& options) {
  const SpotifyExperiment experiment = Made(options);
  const std::vector<Way> ways = Ways();
  const std::vector<uint64_t> refused = Play(options, experiment, ways);
  if (!options.json) {
    fmt::print(
        "{} on {} servers over loopback, {} times as fast, {} requests; simulated {} times\n\n",
        options.name, options.nodes, options.speed, experiment.requests.size(), kSimulations);
    fmt::print("{:<10} {:>10} {:>10} {:>10} {:>10}\n", "precise %", "live", "simulated", "least",
               "most");
  }
  bool all_agree = true;
  for (size_t i = 0; i < ways.size(); ++i) {
    all_agree = PrintVerdict(options, ways[i].name, SimulateAll(options, experiment, ways[i]),
                             refused[i]) &&
                all_agree;
  }
  return all_agree ? 0 : 1;
}

}  // namespace

int LiveCommand(std::span<const std::string> arguments) {
  PlayOptions options;
  options.weir = NeighbourServer();
  CommandLine line("Runs an experiment on real servers over loopback, and in simulated time.",
                   "weir-lab live");
  line.Word("NAME", options.name, "weir-lab list lists them", CommandLine::Need::kRequired);
  line.Number("--nodes", options.nodes, "servers", {1, 64});
  line.Number("--capacity", options.capacity, "of the bucket: the thesis' c",
              {1, uint64_t{1} << 40});
  line.Number("--speed", options.speed, "so many times as fast", {1, 1000});
  line.Number("--seed", options.seed, "of the requests");
  line.Word("--weir", options.weir, "the server's program");
  line.Flag("--json", options.json, "one object a line");
  return line.Run(arguments, [&] { return RunLive(options); });
}

}  // namespace weir::lab
