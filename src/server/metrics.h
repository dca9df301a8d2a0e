// /metrics: everything that is counted, for Prometheus. Labels come from the rules, never from
// requests, so there are only so many of them.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "server/worker.h"
#include "weir/limiter.h"

namespace weir {

// What happened to the rules.
struct ReloadCounters {
  std::atomic<uint64_t> done{0};
  std::atomic<uint64_t> failed{0};
  std::atomic<bool> last_failed{false};
};

std::string MetricsText(const Limiter& limiter, const std::vector<std::unique_ptr<Worker>>& workers,
                        const ReloadCounters& reloads);

}  // namespace weir
