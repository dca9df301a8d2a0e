// A cluster in simulated time: the replicas that the server runs, a network with latency, loss,
// duplication and reordering, and one central limiter that knows everything, for comparison.
//
// One thread, one seed, the same trace every time.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "replication/replica.h"

namespace weir::lab {

struct SimulatedRequest {
  Instant at;
  uint32_t user = 0;
  uint64_t cost = 1;
};

struct NetworkOptions {
  Duration latency = std::chrono::milliseconds(1);
  Duration jitter{};  // added, uniformly: so envelopes overtake one another
  double loss = 0;
  double duplication = 0;
};

struct SimulationOptions {
  uint32_t nodes = 30;
  SharedBucket limit;
  NetworkOptions network;
  uint64_t seed = 1;
  Duration quiet = std::chrono::seconds(5);  // after the last request
};

struct Measured {
  uint64_t requests = 0;
  uint64_t refused = 0;
  uint64_t refused_centrally = 0;
  uint64_t wrongful_refusals = 0;   // though the cluster's true debt had room
  uint64_t over_admission_max = 0;  // the greatest true debt above the capacity, in tokens
  uint64_t bytes_sent = 0;          // with the heads of IP and UDP
  uint64_t envelopes = 0;
  uint64_t memory_peak_bytes = 0;  // of one node
  double memory_mean_bytes = 0;
  // Refusals as a share of the central limiter's, in percent.
  double precision() const {
    if (refused_centrally == 0) return refused == 0 ? 100 : 0;
    return 100.0 * static_cast<double>(refused) / static_cast<double>(refused_centrally);
  }
};

using MakeReplica = std::function<std::unique_ptr<Replica>(Origin self, Instant start)>;

// `requests` in order of time; each goes to a node by a hash of time and user.
Measured Simulate(const std::vector<SimulatedRequest>& requests, const MakeReplica& make,
                  const SimulationOptions& options);

}  // namespace weir::lab
