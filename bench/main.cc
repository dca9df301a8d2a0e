// weir-bench: measures Weir beside its peers, in one run on one machine.
#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "bench/engine/engine.h"
#include "bench/engine/rivals.h"
#include "bench/huge_pages.h"
#include "bench/workload.h"

namespace {

using weir::bench::EngineOptions;
using weir::bench::Goal;
using weir::bench::Row;

void ShowProgress(const std::string& doing) {
  if (isatty(STDERR_FILENO)) fmt::print(stderr, "\r\x1b[K{} ...", doing);
}

int RunEngine(const EngineOptions& options, bool json) {
  const std::vector<Row> rows = MeasureEngine(options, ShowProgress);
  if (isatty(STDERR_FILENO)) fmt::print(stderr, "\r\x1b[K");
  if (json) {
    PrintJson(rows);
    return 0;
  }
  fmt::print("Names of {} bytes; maps are {}; huge pages on all sides.\n\n",
             weir::bench::Names::kLength, weir::bench::kFlatMap);
  PrintTable(rows);
  fmt::print("\n{:<60} {:>9} {:>8}\n", "goal, at the largest number of keys, uniform", "measured",
             "goal");
  for (const Goal& goal : GoalsOf(rows)) {
    fmt::print("{:<60} {:>9.2f} {:>2} {:>5.2f}  {}\n", goal.what, goal.measured,
               goal.at_most ? "<=" : ">=", goal.goal, goal.met() ? "met" : "NOT MET");
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  weir::bench::UseHugePagesInMalloc(argv);
  CLI::App app("Measures Weir beside its peers, in one run on one machine.", "weir-bench");
  app.require_subcommand(1);
  EngineOptions options;
  bool json = false, quick = false;
  CLI::App* engine = app.add_subcommand("engine", "decisions in this process");
  engine->add_flag("--json", json, "one JSON object per row");
  engine->add_flag("--quick", quick, "100,000 keys, one run: to see that it works");
  engine->add_option("--keys", options.keys, "numbers of keys")->delimiter(',');
  engine->add_option("--operations", options.operations, "operations per run");
  engine->add_option("--runs", options.runs, "runs of which the best counts");
  CLI11_PARSE(app, argc, argv);
  if (quick) options = {.keys = {100'000}, .operations = 500'000, .runs = 1};
  return RunEngine(options, json);
}
