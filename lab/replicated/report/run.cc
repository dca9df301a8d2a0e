#include "lab/replicated/report/run.h"

#include <fmt/core.h>
#include <unistd.h>

#include <stdexcept>

#include "lab/command_line/command_line.h"
#include "lab/print.h"
#include "lab/replicated/experiment.h"
#include "lab/replicated/progress.h"
#include "lab/replicated/report/report.h"
#include "lab/replicated/report/table.h"
#include "lab/replicated/spotify.h"
#include "lab/replicated/trace.h"

namespace weir::lab {
namespace {

struct RunOptions {
  std::string name;
  uint64_t seed = 1;
  int runs = 0;
  std::vector<std::string> sets;
  std::string trace, out;
  bool json = false;
};

std::string CommandOf(const RunOptions& options, const std::string& name) {
  std::string command = fmt::format("weir-lab run {} --seed {}", name, options.seed);
  if (options.runs > 0) command += fmt::format(" --runs {}", options.runs);
  for (const std::string& set : options.sets) command += " --set " + set;
  if (!options.trace.empty()) command += " --trace " + options.trace;
  return command;
}

int Run(const RunOptions& options) {
  ExperimentOptions experiment{.seed = options.seed, .runs = options.runs};
  for (const std::string& set : options.sets) experiment.settings.Set(set);
  if (!options.trace.empty()) experiment.recorded = ReadTrace(options.trace).requests;
  const bool colours = isatty(STDOUT_FILENO) != 0;
  std::vector<ExperimentResult> results;
  for (const std::string& name : ExperimentsNamed(options.name, experiment.settings)) {
    experiment.name = name;
    ProgressBar bar;
    results.push_back(RunExperiment(
        experiment, [&](const std::string& what, double done) { bar.Show(what, done); }));
    bar.Clear();
    results.back().command = CommandOf(options, name);
    fmt::print("{}{}", options.json ? AsJson(results.back()) : AsTable(results.back(), colours),
               options.json ? "" : "\n");
    std::fflush(stdout);
    if (!options.out.empty()) WriteFiles(results.back(), options.out);
  }
  if (options.out.empty()) return 0;
  const std::string report = WriteReport(results, options.out);
  if (!options.json) Print("written: {}\n", report);
  return 0;
}

std::string SettingsHelp() {
  std::string help = "--set takes:\n";
  for (const SettingDescription& one : DescribeSettings()) {
    help += fmt::format("  {:<20} {}\n", one.key, one.meaning);
  }
  return help;
}

}  // namespace

int RunCommand(std::span<const std::string> arguments) {
  RunOptions options;
  CommandLine line("Runs experiments in simulated time.", "weir-lab run");
  line.Word("NAME", options.name, "of an experiment, or all; weir-lab list lists them",
            CommandLine::Need::kRequired);
  line.Number("--seed", options.seed, "of the first run");
  line.Number("--runs", options.runs, "runs to take the mean of; 10, but 1 of spotify-c",
              {1, 10'000});
  line.Words("--set", options.sets, "key=value, as often as needed; see below");
  line.Word("--trace", options.trace, "replays the requests in this file");
  line.Word("--out", options.out, "a directory for CSV, plots and report.html");
  line.Flag("--json", options.json, "one object a line");
  line.Footer(SettingsHelp());
  return line.Run(arguments, [&] { return lab::Run(options); });
}

int ListCommand(std::span<const std::string> arguments) {
  if (!arguments.empty()) {
    fmt::print(stderr, "weir-lab list: takes no arguments\n");
    return 2;
  }
  fmt::print("{:<25} {:<62} {:>4}  {}\n", "name", "what it is", "runs", "a run takes");
  for (const SpotifyDescription& one : SpotifyDescriptions()) {
    fmt::print("{:<25} {:<62} {:>4}  {}\n", one.name, one.what, one.runs, one.takes);
  }
  fmt::print("{:<25} {}\n", "all", "all of them");
  return 0;
}

}  // namespace weir::lab
