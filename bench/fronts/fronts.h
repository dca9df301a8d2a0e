// `weir-bench fronts`: what a request costs a server, beside the servers that people have.
//
// Servers run on one core and the load on the other, one after the other, in several rounds of which
// the best counts. What counts is the server's processor time per request: elapsed time depends on
// the load's core too.
//
//   RESP   redis-benchmark, 16 connections: Weir's CL.THROTTLE, Redis' INCR, a token bucket in Lua on Redis
//   gRPC   h2load: Weir's rate-limit service, a minimal grpc++ callback server
//   HTTP   h2load: Weir's /v1/auth, nginx's `return 200`
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/goal.h"

namespace weir::bench {

struct FrontsOptions {
  std::string programs;  // the directory of weir and grpc-peer
  int rounds = 3;
  double scale = 1;  // of the number of requests
};

struct FrontRow {
  std::string what;
  double micros = 0;      // of processor time per request
  double per_second = 0;  // requests
};

struct FrontsResult {
  std::vector<FrontRow> rows;
  std::vector<Goal> goals;
  double idle_p999_ms = 0;  // how late the load's core is when it only looks at the clock
};

FrontsResult MeasureFronts(const FrontsOptions& options,
                           const std::function<void(const std::string&)>& progress);

}  // namespace weir::bench
