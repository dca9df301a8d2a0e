#include "lab/chaos/command.h"

#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "lab/chaos/generate.h"
#include "lab/chaos/report.h"
#include "lab/chaos/shrink.h"
#include "lab/chaos/subjects.h"
#include "weir/clock.h"

namespace weir::chaos {
namespace {

constexpr int kShrinkRuns = 600;

struct ChaosOptions {
  uint64_t seeds = 100;
  uint64_t first = 1;
  std::string kind = "all";
  double hours = 0.1;
  int failures = 3;
  size_t lines = 200;
  bool json = false;
};

void Show(const std::string& text) {
  if (isatty(STDERR_FILENO)) fmt::print(stderr, "\r\x1b[K{}", text);
}

std::vector<ReplicaKind> KindsOf(const std::string& name) {
  std::vector<ReplicaKind> kinds;
  for (const auto kind : {ReplicaKind::kCounter, ReplicaKind::kQueue, ReplicaKind::kDebt}) {
    if (name == "all" || name == NameOf(kind)) kinds.push_back(kind);
  }
  return kinds;
}

void TellFailure(const Scenario& scenario, const Violation& violation, const Subject& subject,
                 const ChaosOptions& options) {
  const Scenario shrunk = Shrink(scenario, subject, violation, kShrinkRuns, [&](int runs) {
    Show(fmt::format("seed {} fails; shrinking, {} runs", scenario.seed, runs));
  });
  Show("");
  PrintFailure(scenario, violation, shrunk, subject,
               fmt::format("weir-lab chaos --kind {} --seed {} --seeds 1 --hours {}",
                           NameOf(scenario.kind), scenario.seed, options.hours),
               options.lines);
}

Totals RunSeeds(ReplicaKind kind, const ChaosOptions& options, int& failures) {
  Totals totals{.kind = kind};
  const Subject subject = RealSubject(kind);
  const Duration busy(static_cast<int64_t>(options.hours * 3600e9));
  for (uint64_t i = 0; i < options.seeds && failures > 0; ++i) {
    const int bar = static_cast<int>(40 * i / options.seeds);
    Show(fmt::format("{:<8} [{:#<{}}{:<{}}] seed {}", NameOf(kind), "", bar, "", 40 - bar,
                     options.first + i));
    const Scenario scenario = Generate(options.first + i, kind, busy);
    const Outcome outcome = RunOnce(scenario, subject);
    totals.Add(outcome);
    if (!outcome.violation) continue;
    --failures;
    TellFailure(scenario, *outcome.violation, subject, options);
  }
  Show("");
  return totals;
}

int Run(const ChaosOptions& options) {
  SystemClock clock;
  const Instant start = clock.Now();
  std::vector<Totals> all;
  int failures = options.failures;
  for (const ReplicaKind kind : KindsOf(options.kind)) {
    all.push_back(RunSeeds(kind, options, failures));
  }
  const double seconds = std::chrono::duration<double>(clock.Now() - start).count();
  if (options.json) {
    PrintJson(all, seconds);
  } else {
    PrintTable(all, seconds);
  }
  return failures == options.failures ? 0 : 1;
}

}  // namespace

int ChaosCommand(std::span<const std::string> arguments) {
  ChaosOptions options;
  CLI::App app("Random clusters, workloads and faults; invariants checked after every event.",
               "weir-lab chaos");
  app.add_option("--seeds", options.seeds, "how many scenarios of each kind")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 40))
      ->capture_default_str();
  app.add_option("--seed", options.first, "the first")->capture_default_str();
  app.add_option("--kind", options.kind, "of replication")
      ->check(CLI::IsMember({"counter", "queue", "debt", "all"}))
      ->capture_default_str();
  app.add_option("--hours", options.hours, "of requests and faults in each scenario; quiet follows")
      ->check(CLI::Range(0.001, 1000.0))
      ->capture_default_str();
  app.add_option("--failures", options.failures, "after how many to stop")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  app.add_option("--lines", options.lines, "of a shrunk trace, the last")->capture_default_str();
  app.add_flag("--json", options.json, "one object a line");
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
  try {
    app.parse(reversed);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return Run(options);
}

}  // namespace weir::chaos
