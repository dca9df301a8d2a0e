#include "bench/overload/overload.h"

#include <fmt/core.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <memory>

#include "bench/fronts/pace.h"
#include "bench/overload/flood.h"
#include "bench/weir_under_load.h"

namespace weir::bench {
namespace {

double ResidentMib(pid_t pid) {
  double pages = 0, resident = 0;
  std::ifstream("/proc/" + std::to_string(pid) + "/statm") >> pages >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE)) / (1 << 20);
}

OverloadRow Measure(const std::string& what, const Wire& wire, int port, const lab::Program& server,
                    const FloodOptions& options) {
  const uint64_t cpu = server.CpuNanos();
  const auto began = std::chrono::steady_clock::now();
  const FloodResult flood = Flood(wire, port, options);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  const auto decided = static_cast<double>(flood.decided.count()),
             told = static_cast<double>(flood.told.count());
  return {.what = what,
          .per_second = (decided + told) / options.seconds,
          .decided_per_second = decided / options.seconds,
          .decided_p50_ms = flood.decided.QuantileMs(0.5),
          .decided_p99_ms = flood.decided.QuantileMs(0.99),
          .told_p99_ms = flood.told.QuantileMs(0.99),
          .light_p50_ms = Quantile(flood.light_ms, 0.5),
          .light_p99_ms = Quantile(flood.light_ms, 0.99),
          .busy = static_cast<double>(server.CpuNanos() - cpu) / 1e9 / took.count(),
          .resident_mib = ResidentMib(server.pid())};
}

}  // namespace

OverloadResult MeasureOverload(const OverloadOptions& options,
                               const std::function<void(const std::string&)>& progress) {
  const lab::ScratchDirectory directory;
  lab::StayOn(kLoadCore);
  OverloadResult result;
  for (const auto& make : {RespWire, HttpWire, GrpcWire}) {
    const std::unique_ptr<Wire> wire = make();
    if (!options.front.empty() && options.front != wire->front()) continue;
    const WeirUnderLoad server(options.programs, directory);
    const int port = wire->front() == "resp"   ? server.resp
                     : wire->front() == "http" ? server.http
                                               : server.grpc;
    FloodOptions load{.connections = options.connections,
                      .in_flight = options.in_flight,
                      .seconds = options.seconds};
    const auto measure = [&](const std::string& how) {
      progress(wire->name() + how);
      result.rows.push_back(Measure(wire->name() + how, *wire, port, server.program, load));
      return result.rows.back();
    };
    const OverloadRow peak = measure(", capacity");
    load.in_flight = options.deep > 0 ? options.deep : wire->most_in_flight();
    load.per_second = 2 * peak.per_second;
    const OverloadRow twice = measure(", twice that");
    const OverloadRow again = measure(", and again");
    result.goals.push_back({wire->name() + ": decisions at twice the load / at capacity",
                            twice.decided_per_second / peak.decided_per_second, 0.9, false});
    result.goals.push_back(
        {wire->name() + ": p99 of a light client meanwhile, ms", twice.light_p99_ms, 20, true});
    result.goals.push_back({wire->name() + ": memory taken when it goes on, MiB",
                            again.resident_mib - twice.resident_mib, 4, true});
  }
  return result;
}

void PrintOverload(const OverloadResult& result) {
  fmt::print("{:<34} {:>10} {:>10} {:>21} {:>9} {:>21} {:>6} {:>8}\n", "server on one core",
             "answers/s", "decided/s", "decided p50, p99", "told p99", "light p50, p99", "busy",
             "RSS");
  for (const OverloadRow& row : result.rows) {
    fmt::print(
        "{:<34} {:>10.0f} {:>10.0f} {:>8.2f}, {:>8.2f} ms {:>6.1f} ms {:>8.2f}, {:>8.2f} ms "
        "{:>5.0f}% {:>4.0f} MiB\n",
        row.what, row.per_second, row.decided_per_second, row.decided_p50_ms, row.decided_p99_ms,
        row.told_p99_ms, row.light_p50_ms, row.light_p99_ms, row.busy * 100, row.resident_mib);
  }
  PrintGoals("goal", result.goals);
}

}  // namespace weir::bench
