// weir-lab: the same code as the server's, in simulated time.
#include <fmt/core.h>

#include <string>
#include <vector>

#include "lab/chaos/command.h"
#include "lab/live/burst.h"
#include "lab/live/live_run.h"
#include "lab/oracle/command.h"
#include "lab/print.h"
#include "lab/replicated/report/plan.h"
#include "lab/replicated/report/run.h"

namespace {

constexpr char kHelp[] =
    "weir-lab: runs Weir's own code in simulated time\n\n"
    "  weir-lab oracle [--algorithm NAME] [--decisions N] [--seed N] [--threads N]\n"
    "      compares every decision with a slow oracle in 128-bit arithmetic\n"
    "  weir-lab oracle --golden\n"
    "      prints golden vectors for other implementations\n"
    "  weir-lab chaos [--seeds N] [--seed FIRST] [--kind counter|queue|debt|all] [--hours H]\n"
    "                 [--json]\n"
    "      random clusters, workloads and faults; what must hold is checked after every event, "
    "and\n"
    "      a failure is told with its seed and a shrunk trace\n"
    "  weir-lab live NAME [--nodes N] [--capacity N] [--speed N] [--seed N] [--json]\n"
    "      the same on real servers over loopback, beside the simulation of it\n"
    "  weir-lab burst [--nodes N] [--seconds N] [--limit N] [--capacity N] [--rate N]\n"
    "      a burst at all nodes of a real cluster: central, counter, queue and debt side by side\n"
    "  weir-lab list\n"
    "      what can be run\n"
    "  weir-lab run NAME|all [--runs N] [--seed N] [--set KEY=VALUE …] [--trace FILE] [--out DIR]\n"
    "      [--json]\n"
    "      experiments on replicated limits: how precise, at what cost, beside the paper's "
    "figures\n"
    "  weir-lab plan --trace FILE --limit N [--per 1m] [--burst N] [--nodes N] [--latency 2ms]\n"
    "      [--json]\n"
    "      every way of coordinating a limit on your own traffic, and which to take\n\n"
    "'weir-lab COMMAND --help' tells more.\n";

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> args(argv + 1, argv + argc);
  if (args.empty() || args[0] == "help" || args[0] == "--help" || args[0] == "-h") {
    fmt::print("{}", kHelp);
    return args.empty() ? 2 : 0;
  }
  if (args[0] == "list") return weir::lab::ListCommand(std::span(args).subspan(1));
  if (args[0] == "run") return weir::lab::RunCommand(std::span(args).subspan(1));
  if (args[0] == "live") return weir::lab::LiveCommand(std::span(args).subspan(1));
  if (args[0] == "burst") return weir::lab::BurstCommand(std::span(args).subspan(1));
  if (args[0] == "chaos") return weir::chaos::ChaosCommand(std::span(args).subspan(1));
  if (args[0] == "plan") return weir::lab::PlanCommand(std::span(args).subspan(1));
  if (args[0] == "oracle") return weir::oracle::OracleCommand(std::span(args).subspan(1));
  weir::lab::PrintError("weir-lab: no command '{}'; 'weir-lab help' lists them\n", args[0]);
  return 2;
}
