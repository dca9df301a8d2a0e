#include <fmt/core.h>
#include <unistd.h>

#include <stdexcept>

#include "lab/command_line/command_line.h"
#include "lab/print.h"
#include "lab/replicated/report/plan.h"
#include "lab/replicated/report/table.h"
#include "lab/replicated/trace.h"

namespace weir::lab {
namespace {

struct PlanOptions {
  uint32_t nodes = 30;
  std::string latency = "1ms", per = "1s", trace;
  uint64_t limit = 0, burst = 0, seed = 1;
  std::vector<std::string> sets;
  bool json = false;
};

void PrintTable(const Plan& plan) {
  const bool colours = isatty(STDOUT_FILENO) != 0;
  fmt::print("{:<17}{:>12}{:>12}{:>12}{:>14}{:>14}\n", "coordination", "precision", "over max",
             "wrongful", "B/s a node", "memory a node");
  for (const PlanRow& row : plan.rows) {
    const std::string line = fmt::format(
        "{:<17}{:>12}{:>12}{:>12}{:>14}{:>14}", row.name, Readable(row.precision, "percent"),
        Readable(row.over_admission_max, "tokens"), Readable(row.wrongful_refusals, "requests"),
        Readable(row.bytes_per_second_per_node, ""),
        row.name == "central" ? "-" : Readable(row.memory_per_node, "bytes"));
    fmt::print("{}{}{}\n", colours && row.name == plan.recommended ? "\x1b[1;32m" : "", line,
               colours && row.name == plan.recommended ? "\x1b[0m" : "");
  }
  Print("\nrecommended: {}: {}\n", plan.recommended, plan.reason);
}

void PrintJson(const Plan& plan) {
  const auto line = [](const std::string& variant, const char* metric, double value,
                       const char* unit, bool recommended) {
    fmt::print(
        "{{\"experiment\":\"plan\",\"variant\":\"{}\",\"metric\":\"{}\",\"paper\":null,"
        "\"value\":{:.6g},\"unit\":\"{}\",\"ok\":null,\"recommended\":{}}}\n",
        variant, metric, value, unit, recommended);
  };
  for (const PlanRow& row : plan.rows) {
    const bool best = row.name == plan.recommended;
    line(row.name, "precision", row.precision, "percent", best);
    line(row.name, "over_admission_max", row.over_admission_max, "tokens", best);
    line(row.name, "wrongful_lasting", row.wrongful_refusals, "requests", best);
    line(row.name, "bytes_per_second_per_node", row.bytes_per_second_per_node, "bytes/s", best);
    line(row.name, "memory_peak_bytes", row.memory_per_node, "bytes", best);
  }
}

int Run(const PlanOptions& options) {
  Settings settings;
  settings.nodes = options.nodes;
  settings.network.latency = ParseDuration(options.latency);
  for (const std::string& set : options.sets) settings.Set(set);
  const Duration per = ParseDuration(options.per);
  if (per <= Duration::zero()) throw std::invalid_argument("--per: is zero");
  const ReplicatedBucket limit{options.burst > 0 ? options.burst : options.limit, options.limit,
                               per};
  const Trace trace = ReadTrace(options.trace);
  const Plan plan = MakePlan(trace.requests, limit, settings, options.seed);
  if (options.json) {
    PrintJson(plan);
    return 0;
  }
  Print("{} requests of {} subjects; {} per {}, burst {}, for each; {} nodes, latency {}\n",
        plan.requests, trace.subjects.size(), options.limit, options.per, limit.capacity,
        settings.nodes, options.latency);
  fmt::print("one limiter that saw everything would refuse {} of them\n\n", plan.refused_centrally);
  PrintTable(plan);
  return 0;
}

}  // namespace

int PlanCommand(std::span<const std::string> arguments) {
  PlanOptions options;
  constexpr uint64_t kMost = uint64_t{1} << 40;
  CommandLine line("Compares every way of coordinating a limit on your own traffic.",
                   "weir-lab plan");
  line.Word("--trace", options.trace, "recorded requests: CSV time,subject,cost, or JSON",
            CommandLine::Need::kRequired);
  line.Number("--limit", options.limit, "requests per --per, of each subject", {1, kMost},
              CommandLine::Need::kRequired);
  line.Word("--per", options.per, "1s, 1m, 1h, …");
  line.Number("--burst", options.burst, "at most at once; the limit if not given", {1, kMost});
  line.Number("--nodes", options.nodes, "in the cluster", {1, 1000});
  line.Word("--latency", options.latency, "between nodes, one way");
  line.Words("--set", options.sets, "key=value, as of weir-lab run");
  line.Number("--seed", options.seed, "of everything that is chance");
  line.Flag("--json", options.json, "one object a line");
  return line.Run(arguments, [&] { return lab::Run(options); });
}

}  // namespace weir::lab
