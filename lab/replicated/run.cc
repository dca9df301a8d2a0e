#include "lab/replicated/run.h"

#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <map>
#include <optional>

#include "lab/replicated/variants.h"

namespace weir::lab {
namespace {

struct RunOptions {
  std::string name;
  uint64_t seed = 1;
  int runs = 10;
  uint32_t nodes = 30;
  uint64_t capacity = 1000;
  double loss = 0;
  bool json = false;
};

// The mean over the runs, but the greatest over-admission.
struct Summary {
  double precision = 0, wrongful = 0, bytes = 0, peak = 0, mean = 0;
  uint64_t over = 0;
  void Add(const Measured& one, int runs) {
    precision += one.precision() / runs;
    wrongful += static_cast<double>(one.wrongful_refusals) / runs;
    bytes += static_cast<double>(one.bytes_sent) / runs;
    peak += static_cast<double>(one.memory_peak_bytes) / runs;
    mean += one.memory_mean_bytes / runs;
    over = std::max(over, one.over_admission_max);
  }
};

// What the thesis prints, in percent of the central limiter's refusals.
std::optional<double> PaperPrecision(const std::string& experiment, const std::string& variant) {
  static const std::map<std::pair<std::string, std::string>, double> printed = {
      {{"spotify-a", "counter"}, 95.7},
      {{"spotify-b-extreme", "counter"}, 96.9},
      {{"spotify-b-extreme", "queue+frequency"}, 99.7},
      {{"spotify-b-substantial", "counter"}, 96.4},
      {{"spotify-b-substantial", "queue+frequency"}, 98.6},
      {{"spotify-b-barely", "counter"}, 10},
      {{"spotify-b-barely", "queue+frequency"}, 80}};
  const auto found = printed.find({experiment, variant});
  return found == printed.end() ? std::nullopt : std::optional(found->second);
}

void PrintJson(const std::string& experiment, const std::string& variant, const char* metric,
               double value, const char* unit, std::optional<double> paper) {
  fmt::print(
      "{{\"experiment\":\"{}\",\"variant\":\"{}\",\"metric\":\"{}\",\"paper\":{},\"value\":{:.4f},"
      "\"unit\":\"{}\"}}\n",
      experiment, variant, metric, paper ? fmt::format("{}", *paper) : "null", value, unit);
}

void Print(const RunOptions& options, const std::string& variant, const Summary& summary,
           const Summary& baseline) {
  const std::optional<double> paper = PaperPrecision(options.name, variant);
  if (options.json) {
    PrintJson(options.name, variant, "precision", summary.precision, "percent", paper);
    PrintJson(options.name, variant, "wrongful_refusals", summary.wrongful, "requests", {});
    PrintJson(options.name, variant, "over_admission_max", static_cast<double>(summary.over),
              "tokens", {});
    PrintJson(options.name, variant, "bytes_sent", summary.bytes, "bytes", {});
    PrintJson(options.name, variant, "memory_peak_bytes", summary.peak, "bytes", {});
    PrintJson(options.name, variant, "memory_mean_bytes", summary.mean, "bytes", {});
    return;
  }
  fmt::print("{:<18} {:>9} {:>9.2f} {:>9.1f} {:>8} {:>12.0f} {:>7.2f} {:>11.0f} {:>11.0f}\n",
             variant, paper ? fmt::format("{}", *paper) : "-", summary.precision, summary.wrongful,
             summary.over, summary.bytes, summary.bytes / baseline.bytes, summary.peak,
             summary.mean);
}

void ShowProgress(const std::string& what) {
  if (isatty(STDERR_FILENO)) fmt::print(stderr, "\r\x1b[K{} ...", what);
}

int Run(const RunOptions& options) {
  std::vector<std::pair<std::string, Summary>> rows;
  for (int run = 0; run < options.runs; ++run) {
    const uint64_t seed = options.seed + static_cast<uint64_t>(run);
    const SpotifyExperiment experiment = MakeSpotify(options.name, options.capacity, seed);
    SimulationOptions simulation{.nodes = options.nodes, .limit = experiment.limit, .seed = seed};
    simulation.network.loss = options.loss;
    size_t row = 0;
    for (const Variant& variant : VariantsFor(experiment, seed)) {
      ShowProgress(
          fmt::format("{}: {} (run {} of {})", options.name, variant.name, run + 1, options.runs));
      if (rows.size() <= row) rows.emplace_back(variant.name, Summary{});
      rows[row++].second.Add(Simulate(experiment.requests, variant.make, simulation), options.runs);
    }
  }
  if (isatty(STDERR_FILENO)) fmt::print(stderr, "\r\x1b[K");
  if (!options.json) {
    fmt::print("{}: {} nodes, capacity {}, {} runs from seed {}\n\n", options.name, options.nodes,
               options.capacity, options.runs, options.seed);
    fmt::print("{:<18} {:>9} {:>9} {:>9} {:>8} {:>12} {:>7} {:>11} {:>11}\n", "variant", "paper %",
               "precise %", "wrongful", "over", "bytes sent", "ratio", "peak bytes", "mean bytes");
  }
  for (const auto& [name, summary] : rows) Print(options, name, summary, rows.front().second);
  return 0;
}

}  // namespace

int RunCommand(std::span<const std::string> arguments) {
  RunOptions options;
  CLI::App app("Runs an experiment in simulated time.", "weir-lab run");
  app.add_option("NAME", options.name, "weir-lab list lists them")
      ->required()
      ->check(CLI::IsMember(SpotifyNames()));
  app.add_option("--seed", options.seed, "of the first run")->capture_default_str();
  app.add_option("--runs", options.runs, "runs to take the mean of")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  app.add_option("--nodes", options.nodes, "of the cluster")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--capacity", options.capacity, "of the bucket: the thesis' c")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 40))
      ->capture_default_str();
  app.add_option("--loss", options.loss, "of datagrams, from 0 to 1")->check(CLI::Range(0.0, 1.0));
  app.add_flag("--json", options.json, "one object a line");
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
  try {
    app.parse(reversed);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return Run(options);
}

}  // namespace weir::lab
