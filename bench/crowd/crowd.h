// `weir-bench crowd`: what one who waits costs, beside how many others wait.
//
// In this process, for numbers of waiters up to all that may wait. Each has a session of its own and waits for a
// pool of its own, or all wait for one. The measure is CPU per event, and that it stays the same however many
// there are: then a crowd costs what its events cost.
//
//   wait         a reservation that has to wait
//   disconnect   the session of one who waits ends
//   pass on      a copy is released, and the first who waits for it gets it
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/goal.h"

namespace weir::bench {

struct CrowdOptions {
  std::vector<size_t> waiters = {1'000, 10'000, 100'000};
  int rounds = 5;  // the best counts
};

struct CrowdRow {
  std::string shape;
  size_t waiters = 0;
  double wait_ns = 0, disconnect_ns = 0, pass_on_ns = 0;
};

struct CrowdResult {
  std::vector<CrowdRow> rows;
  std::vector<Goal> goals;
};

CrowdResult MeasureCrowd(const CrowdOptions& options,
                         const std::function<void(const std::string&)>& progress);
void PrintCrowd(const CrowdResult& result);

}  // namespace weir::bench
