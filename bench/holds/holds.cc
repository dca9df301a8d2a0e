#include "bench/holds/holds.h"

#include <algorithm>
#include <chrono>
#include <map>

#include "bench/holds/grpc_load.h"
#include "bench/holds/resp_load.h"
#include "lab/live/free_port.h"
#include "lab/live/program.h"

namespace weir::bench {

using lab::AwaitPort;
using lab::FreePort;
using lab::Program;
using lab::ScratchDirectory;
using lab::StayOn;

namespace {

constexpr int kServerCore = 0, kLoadCore = 1;
constexpr size_t kConnections = 16;
constexpr size_t kOutstanding = 1'000'000;
constexpr char kRules[] =
    "namespaces: {bench: {resources: {seats: {copies: {per_subject: 1000000000}}}}}\n";

std::string At(int port) { return "127.0.0.1:" + std::to_string(port); }

class HoldSuite {
 public:
  HoldSuite(const FrontsOptions& options, const std::function<void(const std::string&)>& progress)
      : options_(options), progress_(progress) {
    const std::string rules = directory_.Write("rules.yaml", kRules);
    weir_ = std::make_unique<Program>(
        std::vector<std::string>{options.programs + "/weir", "serve", "--config", rules,
                                 "--threads", "1", "--http", "off", "--resp", At(resp_port_),
                                 "--grpc", At(grpc_port_)},
        kServerCore);
    AwaitPort(resp_port_);
    StayOn(kLoadCore);
  }

  FrontsResult Run() {
    RespLoad resp(resp_port_, kConnections);
    GrpcLoad grpc(grpc_port_, kConnections);
    for (int round = 0; round < options_.rounds; ++round) {
      for (const size_t in_flight : {size_t{1}, size_t{16}}) {
        const std::string shape = ", " + std::to_string(in_flight) + " in flight";
        const size_t n = Times(in_flight == 1 ? 100'000 : 400'000);
        Measure(kThrottle + shape, n, [&] { resp.Throttle(n, in_flight); });
        Measure(kResp + shape, n, [&] { resp.ReserveAndRelease(n, in_flight); });
        Measure(kGrpc + shape, n, [&] { grpc.ReserveAndRelease(n, in_flight); });
      }
    }
    progress_("reserving a million copies");
    RespLoad holder(resp_port_, 1);
    holder.Hold(kOutstanding, 1000);
    for (int round = 0; round < options_.rounds; ++round) {
      const size_t n = Times(400'000);
      Measure(kMany, n, [&] { resp.ReserveAndRelease(n, 16); });
    }
    FrontsResult result;
    for (const std::string& name : order_) result.rows.push_back(best_.at(name));
    for (const std::string shape : {", 1 in flight", ", 16 in flight"}) {
      for (const std::string& kind : {kResp, kGrpc}) {
        result.goals.push_back({kind + " / CL.THROTTLE" + shape,
                                best_.at(kind + shape).micros / best_.at(kThrottle + shape).micros,
                                2.5, true});
      }
    }
    result.goals.push_back({kMany + " / CL.THROTTLE",
                            best_.at(kMany).micros / best_.at(kThrottle + ", 16 in flight").micros,
                            2.5, true});
    return result;
  }

 private:
  size_t Times(size_t n) const {
    return std::max<size_t>(1000, static_cast<size_t>(static_cast<double>(n) * options_.scale));
  }
  template <typename Load>
  void Measure(const std::string& what, size_t n, Load load) {
    progress_(what);
    const uint64_t cpu = weir_->CpuNanos();
    const auto start = std::chrono::steady_clock::now();
    load();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    const auto count = static_cast<double>(n);
    const FrontRow row{what, static_cast<double>(weir_->CpuNanos() - cpu) / count / 1000,
                       count / took.count()};
    const auto [place, is_new] = best_.try_emplace(what, row);
    if (is_new) order_.push_back(what);
    place->second.micros = std::min(place->second.micros, row.micros);
    place->second.per_second = std::max(place->second.per_second, row.per_second);
  }

  const std::string kThrottle = "RESP CL.THROTTLE", kResp = "RESP reserve and release",
                    kGrpc = "gRPC reserve and release",
                    kMany = "RESP reserve and release, 16 in flight, 1 M held";
  const FrontsOptions& options_;
  const std::function<void(const std::string&)>& progress_;
  const ScratchDirectory directory_;
  const int resp_port_ = FreePort(), grpc_port_ = FreePort();
  std::unique_ptr<Program> weir_;
  std::map<std::string, FrontRow> best_;
  std::vector<std::string> order_;
};

}  // namespace

FrontsResult MeasureHolds(const FrontsOptions& options,
                          const std::function<void(const std::string&)>& progress) {
  return HoldSuite(options, progress).Run();
}

}  // namespace weir::bench
