// weir-bench: measures Weir beside its peers, in one run on one machine.
#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <filesystem>

#include "bench/crowd/crowd.h"
#include "bench/engine/engine.h"
#include "bench/engine/rivals.h"
#include "bench/fronts/fronts.h"
#include "bench/gossip/gossip.h"
#include "bench/holds/holds.h"
#include "bench/huge_pages.h"
#include "bench/overload/overload.h"
#include "bench/persist/persist.h"
#include "bench/waiting/waiting.h"
#include "bench/workload.h"

namespace {

using weir::bench::EngineOptions;
using weir::bench::FrontRow;
using weir::bench::FrontsOptions;
using weir::bench::FrontsResult;
using weir::bench::OverloadOptions;
using weir::bench::PersistOptions;
using weir::bench::PersistRow;
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
  PrintGoals("goal, at the largest number of keys, uniform", GoalsOf(rows));
  return 0;
}

using MeasureServers = FrontsResult (*)(const FrontsOptions&,
                                        const std::function<void(const std::string&)>&);

int RunServers(MeasureServers measure, const FrontsOptions& options, bool json) {
  FrontsResult result;
  try {
    result = measure(options, ShowProgress);
  } catch (const std::exception& error) {
    fmt::print(stderr, "\nerror: {}\n", error.what());
    return 1;
  }
  if (isatty(STDERR_FILENO)) fmt::print(stderr, "\r\x1b[K");
  if (json) {
    for (const FrontRow& row : result.rows) {
      fmt::print("{{\"what\":\"{}\",\"cpu_micros\":{:.3f},\"per_second\":{:.0f}}}\n", row.what,
                 row.micros, row.per_second);
    }
    return 0;
  }
  fmt::print("{:<58} {:>16} {:>12}\n", "server on one core, load on the other", "CPU µs/request",
             "requests/s");
  for (const FrontRow& row : result.rows) {
    fmt::print("{:<58} {:>15.2f} {:>12.0f}\n", row.what, row.micros, row.per_second);
  }
  PrintGoals("goal", result.goals);
  if (result.idle_p999_ms == 0) return 0;
  fmt::print(
      "\nThis machine alone is {:.2f} ms late at p99.9 for a loop that only looks at the clock.\n",
      result.idle_p999_ms);
  return 0;
}

int RunOverload(const OverloadOptions& options) {
  try {
    const weir::bench::OverloadResult result = MeasureOverload(options, ShowProgress);
    if (isatty(STDERR_FILENO)) fmt::print(stderr, "\r\x1b[K");
    PrintOverload(result);
  } catch (const std::exception& error) {
    fmt::print(stderr, "\nerror: {}\n", error.what());
    return 1;
  }
  return 0;
}

int RunWaiting(const weir::bench::WaitingOptions& options) {
  const weir::bench::WaitingResult result = MeasureWaiting(options, ShowProgress);
  if (isatty(STDERR_FILENO)) fmt::print(stderr, "\r\x1b[K");
  fmt::print("{:<58} {:>16}\n", "a request over the Redis protocol, without a socket",
             "CPU ns/request");
  fmt::print("{:<58} {:>16.0f}\n", "decided at once", result.at_once_ns);
  fmt::print("{:<58} {:>16.0f}\n", "decided by a store that answers on the next turn",
             result.waiting_ns);
  fmt::print("\n64 pipelined over a store that takes 1 ms: median {:.2f} ms, worst {:.2f} ms\n",
             result.pipelined_ms_median, result.pipelined_ms_worst);
  PrintGoals("goal", result.goals);
  return 0;
}

int RunCrowd(const weir::bench::CrowdOptions& options) {
  const weir::bench::CrowdResult result = MeasureCrowd(options, ShowProgress);
  if (isatty(STDERR_FILENO)) fmt::print(stderr, "\r\x1b[K");
  PrintCrowd(result);
  return 0;
}

int RunGossip(const weir::bench::GossipOptions& options) {
  const weir::bench::GossipResult result = MeasureGossip(options, ShowProgress);
  if (isatty(STDERR_FILENO)) fmt::print(stderr, "\r\x1b[K");
  PrintGossip(result);
  return 0;
}

int RunPersist(const PersistOptions& options) {
  const std::vector<PersistRow> rows = MeasurePersist(options, ShowProgress);
  if (isatty(STDERR_FILENO)) fmt::print(stderr, "\r\x1b[K");
  fmt::print("{:<38} {:>14} {:>16} {:>14}\n", "CPU per decision", "deciding, ns", "writing, ns",
             "states/s");
  for (const PersistRow& row : rows) {
    fmt::print("{:<38} {:>14.0f} {:>16.0f} {:>14.0f}\n", row.what, row.decision_nanos,
               row.writer_nanos, row.saved_per_second);
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
  FrontsOptions fronts_options;
  fronts_options.programs = std::filesystem::canonical("/proc/self/exe").parent_path();
  CLI::App* fronts =
      app.add_subcommand("fronts", "servers under load, beside Redis, nginx, grpc++");
  PersistOptions persist_options;
  CLI::App* persist = app.add_subcommand("persist", "what it costs to keep use over a restart");
  persist->add_option("--keys", persist_options.keys, "number of keys");
  persist->add_option("--operations", persist_options.operations, "decisions per run");
  persist->add_option("--runs", persist_options.runs, "runs of which the best counts");
  CLI::App* holds = app.add_subcommand("holds", "copies reserved and released, over RESP and gRPC");
  for (CLI::App* command : {fronts, holds}) {
    command->add_flag("--json", json, "one JSON object per row");
    command->add_option("--rounds", fronts_options.rounds, "rounds of which the best counts");
    command->add_option("--scale", fronts_options.scale, "of the number of requests");
    command->add_option("--programs", fronts_options.programs, "where weir and grpc-peer are");
  }
  weir::bench::CrowdOptions crowd_options;
  CLI::App* crowd = app.add_subcommand("crowd", "very many who wait for copies, and who hang up");
  crowd->add_option("--waiters", crowd_options.waiters, "numbers of them")
      ->delimiter(',')
      ->check(CLI::Range(100, 100'000));
  crowd->add_option("--rounds", crowd_options.rounds, "of which the best counts")
      ->check(CLI::PositiveNumber);
  weir::bench::WaitingOptions waiting_options;
  CLI::App* waiting = app.add_subcommand("waiting", "what it costs a request to wait for a store");
  waiting->add_option("--requests", waiting_options.requests, "in each round");
  waiting->add_option("--rounds", waiting_options.rounds, "of which the best counts");
  OverloadOptions overload_options;
  overload_options.programs = fronts_options.programs;
  CLI::App* overload =
      app.add_subcommand("overload", "a server at twice the load that it can serve");
  overload->add_option("--front", overload_options.front, "resp, http or grpc alone");
  overload->add_option("--connections", overload_options.connections, "of the load");
  overload->add_option("--in-flight", overload_options.in_flight,
                       "requests of each, for the capacity");
  overload->add_option("--deep", overload_options.deep, "requests of each, at twice the load");
  overload->add_option("--seconds", overload_options.seconds, "of each measurement");
  overload->add_option("--programs", overload_options.programs, "where weir is");
  weir::bench::GossipOptions gossip_options;
  CLI::App* gossip =
      app.add_subcommand("gossip", "how long a decision may wait for gossip of many keys");
  gossip->add_option("--keys", gossip_options.keys, "number of keys");
  gossip->add_option("--rounds", gossip_options.rounds, "rounds of which the best counts");
  CLI11_PARSE(app, argc, argv);
  if (gossip->parsed()) return RunGossip(gossip_options);
  if (waiting->parsed()) return RunWaiting(waiting_options);
  if (crowd->parsed()) return RunCrowd(crowd_options);
  if (overload->parsed()) return RunOverload(overload_options);
  if (fronts->parsed()) return RunServers(weir::bench::MeasureFronts, fronts_options, json);
  if (persist->parsed()) return RunPersist(persist_options);
  if (holds->parsed()) return RunServers(weir::bench::MeasureHolds, fronts_options, json);
  if (quick) options = {.keys = {100'000}, .operations = 500'000, .runs = 1};
  return RunEngine(options, json);
}
