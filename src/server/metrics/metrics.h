// /metrics: everything that is counted, for Prometheus. Labels come from the rules, never from
// requests, so there are only so many of them.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "server/cluster_service.h"
#include "server/connections/worker.h"
#include "server/problems.h"
#include "weir/limiter.h"

namespace weir {

// What happened to the rules.
struct ReloadCounters {
  std::atomic<uint64_t> done{0};
  std::atomic<uint64_t> failed{0};
  std::atomic<bool> last_failed{false};
};

// What became of the use that is to be kept.
struct PersistCounters {
  std::atomic<uint64_t> restored{0};
  std::atomic<uint64_t> saved{0};
  std::atomic<uint64_t> batches{0};
  std::atomic<uint64_t> failed_batches{0};
  std::atomic<uint64_t> damaged{0};  // rows that were not believed
};

// `connections`: the memory of all of them. `persisted` and `cluster` may be null.
std::string MetricsText(const Limiter& limiter, const std::vector<std::unique_ptr<Worker>>& workers,
                        const SharedBytes& connections, const ReloadCounters& reloads,
                        const Problems& problems, const PersistCounters* persisted,
                        ClusterService* cluster);

}  // namespace weir
