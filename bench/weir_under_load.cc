#include "bench/weir_under_load.h"

namespace weir::bench {
namespace {

constexpr char kRules[] = R"(
namespaces:
  bench:
    resources: {api: {limits: [{limit: 1000000000, per: 1s}]}}
    descriptors: [{key: user, rate_limit: {unit: second, requests_per_unit: 1000000000}}]
)";

std::string At(int port) { return "127.0.0.1:" + std::to_string(port); }

}  // namespace

WeirUnderLoad::WeirUnderLoad(const std::string& programs, const lab::ScratchDirectory& directory)
    : program({programs + "/weir", "serve", "--config", directory.Write("rules.yaml", kRules),
               "--threads", "1", "--http", At(http), "--grpc", At(grpc), "--resp", At(resp)},
              kServerCore) {
  for (const int port : {http, grpc, resp}) lab::AwaitPort(port);
}

}  // namespace weir::bench
