// `weir-bench overload`: a server at twice the load that it can serve.
//
// The server runs on one core with one thread, the load on the other. First as many requests as it
// answers: the capacity. Then twice as many, at a steady rate, by clients that do not wait for their
// answers; what they cannot send they hold back. Beside both a light client asks 100 times a second.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/goal.h"

namespace weir::bench {

struct OverloadOptions {
  std::string programs;  // the directory of weir
  int connections = 64;
  int in_flight = 100;  // of each connection
  double seconds = 3;
};

struct OverloadRow {
  std::string what;
  double per_second = 0, decided_per_second = 0;
  double overloaded = 0;  // share of the answers
  double light_p50_ms = 0, light_p99_ms = 0;
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
