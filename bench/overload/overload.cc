#include "bench/overload/overload.h"

#include <fmt/core.h>
#include <unistd.h>

#include <fstream>
#include <memory>

#include "bench/fronts/pace.h"
#include "bench/overload/flood.h"
#include "lab/live/free_port.h"
#include "lab/live/program.h"

namespace weir::bench {
namespace {

constexpr int kServerCore = 0, kLoadCore = 1;

constexpr char kRules[] = R"(
namespaces:
  bench:
    resources: {api: {limits: [{limit: 1000000000, per: 1s}]}}
    descriptors: [{key: user, rate_limit: {unit: second, requests_per_unit: 1000000000}}]
)";

double ResidentMib(pid_t pid) {
  double pages = 0, resident = 0;
  std::ifstream("/proc/" + std::to_string(pid) + "/statm") >> pages >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE)) / (1 << 20);
}

OverloadRow RowOf(const std::string& what, const FloodResult& flood, double resident_mib) {
  return {what,
          flood.per_second,
          flood.decided_per_second,
          flood.per_second == 0 ? 0 : 1 - flood.decided_per_second / flood.per_second,
          Quantile(flood.light_ms, 0.5),
          Quantile(flood.light_ms, 0.99),
          resident_mib};
}

}  // namespace

OverloadResult MeasureOverload(const OverloadOptions& options,
                               const std::function<void(const std::string&)>& progress) {
  const lab::ScratchDirectory directory;
  const std::string rules = directory.Write("rules.yaml", kRules);
  lab::StayOn(kLoadCore);
  OverloadResult result;
  for (const auto& make : {RespWire, HttpWire, GrpcWire}) {
    const std::unique_ptr<Wire> wire = make();
    const int http = lab::FreePort(), grpc = lab::FreePort(), resp = lab::FreePort();
    const auto at = [](int port) { return "127.0.0.1:" + std::to_string(port); };
    const lab::Program server({options.programs + "/weir", "serve", "--config", rules, "--threads",
                               "1", "--http", at(http), "--grpc", at(grpc), "--resp", at(resp)},
                              kServerCore);
    const int port = wire->name().starts_with("RESP")   ? resp
                     : wire->name().starts_with("HTTP") ? http
                                                        : grpc;
    lab::AwaitPort(port);
    progress(wire->name() + ", capacity");
    const FloodResult peak =
        Flood(*wire, port, options.connections, options.in_flight, 0, options.seconds);
    const double before = ResidentMib(server.pid());
    result.rows.push_back(RowOf(wire->name() + ", capacity", peak, before));
    progress(wire->name() + ", twice that");
    const FloodResult twice = Flood(*wire, port, options.connections, options.in_flight,
                                    2 * peak.per_second, options.seconds);
    const double after = ResidentMib(server.pid());
    result.rows.push_back(RowOf(wire->name() + ", twice that", twice, after));
    result.goals.push_back({wire->name() + ": answers at twice the load / at capacity",
                            twice.per_second / peak.per_second, 0.9, false});
    result.goals.push_back({wire->name() + ": p99 of a light client meanwhile, ms",
                            Quantile(twice.light_ms, 0.99), 20, true});
    result.goals.push_back(
        {wire->name() + ": memory taken meanwhile, MiB", after - before, 16, true});
  }
  return result;
}

void PrintOverload(const OverloadResult& result) {
  fmt::print("{:<36} {:>12} {:>12} {:>11} {:>10} {:>10} {:>9}\n", "server on one core", "answers/s",
             "decided/s", "overloaded", "light p50", "light p99", "RSS");
  for (const OverloadRow& row : result.rows) {
    fmt::print("{:<36} {:>12.0f} {:>12.0f} {:>10.1f}% {:>7.2f} ms {:>7.2f} ms {:>5.0f} MiB\n",
               row.what, row.per_second, row.decided_per_second, row.overloaded * 100,
               row.light_p50_ms, row.light_p99_ms, row.resident_mib);
  }
  PrintGoals("goal", result.goals);
}

}  // namespace weir::bench
