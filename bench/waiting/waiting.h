// What it costs a request to wait: the same requests over the Redis protocol, decided by this process's
// memory and by a store that answers later.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/goal.h"

namespace weir::bench {

struct WaitingOptions {
  uint64_t requests = 1'000'000;
  int rounds = 5;  // the best counts
};

struct WaitingResult {
  double at_once_ns = 0;  // CPU per request
  double waiting_ns = 0;
  double pipelined_ms_median = 0;  // 64 requests at once, over a store that takes 1 ms
  double pipelined_ms_worst = 0;
  std::vector<Goal> goals;
};

WaitingResult MeasureWaiting(const WaitingOptions& options,
                             const std::function<void(const std::string&)>& progress);

}  // namespace weir::bench
