#include "lab/chaos/command.h"

#include <fmt/core.h>
#include <unistd.h>

#include <optional>

#include "lab/chaos/generate.h"
#include "lab/chaos/names/names.h"
#include "lab/chaos/report.h"
#include "lab/chaos/shrink.h"
#include "lab/chaos/subjects.h"
#include "lab/command_line/command_line.h"
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

std::vector<EnvelopeKind> KindsOf(const std::string& name) {
  std::vector<EnvelopeKind> kinds;
  for (const auto kind : {EnvelopeKind::kCounter, EnvelopeKind::kQueue, EnvelopeKind::kDebt}) {
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

Totals RunSeeds(EnvelopeKind kind, const ChaosOptions& options, int& failures) {
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

// Of names there is no table: how many of each fault there were, and what failed.
NamesOutcome RunSeedsOfNames(const ChaosOptions& options, int& failures) {
  NamesOutcome sum;
  for (uint64_t i = 0; i < options.seeds && failures > 0; ++i) {
    const uint64_t seed = options.first + i;
    Show(fmt::format("names    seed {}", seed));
    const NamesOutcome one = RunNames(seed);
    sum.seconds += one.seconds, sum.clean += one.clean, sum.yielded += one.yielded;
    sum.restarts += one.restarts, sum.pauses += one.pauses, sum.cuts += one.cuts;
    sum.simulated += one.simulated;
    if (one.violation.empty()) continue;
    --failures;
    sum.violation = one.violation;
    std::vector<std::string> trace;
    RunNames(seed, {}, &trace);
    Show("");
    fmt::print(
        "\nseed {} of names fails {}\nto repeat it: weir-lab chaos --kind names --seed {} "
        "--seeds 1\n\n",
        seed, one.violation, seed);
    for (const std::string& line : trace) fmt::print("{}\n", line);
  }
  Show("");
  return sum;
}

void PrintNames(const NamesOutcome& sum, const ChaosOptions& options) {
  const double hours = std::chrono::duration<double, std::ratio<3600>>(sum.simulated).count();
  fmt::print(
      fmt::runtime(
          options.json
              ? "{{\"experiment\":\"chaos\",\"variant\":\"names\",\"hours\":{:.4f},"
                "\"faults\":{{\"second node of a name\":{},\"restart\":{},\"pause\":{},"
                "\"cut\":{}}},\"yielded\":{},\"ok\":{}}}\n"
              : "names: {:.2f} simulated hours; second node of a name {}, restart {}, pause {}, "
                "cut {}; {} yielded; all well: {}\n"),
      hours, sum.seconds, sum.restarts, sum.pauses, sum.cuts, sum.yielded, sum.violation.empty());
}

int Run(const ChaosOptions& options) {
  SystemClock clock;
  const Instant start = clock.Now();
  std::vector<Totals> all;
  int failures = options.failures;
  for (const EnvelopeKind kind : KindsOf(options.kind)) {
    all.push_back(RunSeeds(kind, options, failures));
  }
  std::optional<NamesOutcome> names;
  if (options.kind == "all" || options.kind == "names") names = RunSeedsOfNames(options, failures);
  const double seconds = std::chrono::duration<double>(clock.Now() - start).count();
  if (options.json) {
    PrintJson(all, seconds);
  } else if (!all.empty()) {
    PrintTable(all, seconds);
  }
  if (names) PrintNames(*names, options);
  return failures == options.failures ? 0 : 1;
}

}  // namespace

int ChaosCommand(std::span<const std::string> arguments) {
  ChaosOptions options;
  lab::CommandLine line(
      "Random clusters, workloads and faults; invariants checked after every event.",
      "weir-lab chaos");
  line.Number("--seeds", options.seeds, "how many scenarios of each kind", {1, uint64_t{1} << 40});
  line.Number("--seed", options.first, "the first");
  line.OneOf("--kind", options.kind, "of replication; names: second nodes of a name",
             {"counter", "queue", "debt", "names", "all"});
  line.Real("--hours", options.hours, "of requests and faults in each scenario; quiet follows",
            0.001, 1000.0);
  line.Number("--failures", options.failures, "after how many to stop", {1, 1'000'000});
  line.Number("--lines", options.lines, "of a shrunk trace, the last");
  line.Flag("--json", options.json, "one object a line");
  return line.Run(arguments, [&] { return chaos::Run(options); });
}

}  // namespace weir::chaos
