// `weir-bench overload`: a server at twice the load that it can serve.
//
// The server runs on one core with one thread, the load on the other. First as many requests as it
// answers, a few of each connection at a time: the capacity. Then twice as many, at a steady rate, by
// clients that do not wait for their answers but have as many under way as the front takes. Beside
// both a light client asks 100 times a second.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/goal.h"

namespace weir::bench {

struct OverloadOptions {
  std::string programs;  // the directory of weir
  std::string front;     // resp, http or grpc; all, if it is empty
  int connections = 64;
  int in_flight = 16;  // of each connection, for the capacity
  int deep = 0;        // the same at twice the load; 0: as many as the front takes
  double seconds = 3;
};

struct OverloadRow {
  std::string what;
  double per_second = 0, decided_per_second = 0;
  double decided_p50_ms = 0, decided_p99_ms = 0, told_p99_ms = 0;
  double light_p50_ms = 0, light_p99_ms = 0;
  double busy = 0;          // share of its time that the server was
  double resident_mib = 0;  // of the server, at the end
};

struct OverloadResult {
  std::vector<OverloadRow> rows;
  std::vector<Goal> goals;
};

OverloadResult MeasureOverload(const OverloadOptions& options,
                               const std::function<void(const std::string&)>& progress);
void PrintOverload(const OverloadResult& result);

}  // namespace weir::bench
