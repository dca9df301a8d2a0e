// Requests against a cluster in simulated time, beside one central limiter that knows everything.
//
// Three buckets are kept of every user: the nodes' own, replicated; `central`, which decides on the
// same requests as one limiter would; and the truth, which is charged with what the nodes admitted.
//
//   precision            refusals / central's refusals; 0 of 0 is 100
//   over_admission_max   the greatest true debt above the capacity
//   wrongful refusal     one though the true debt had room; lasting: and had had it for longer than
//                        an envelope travels, so that it could have been known
//   converge_s           from the last admission until every node sees the same level of every user,
//                        to less than a token; looked at every 100 ms
//
// One thread, one seed, the same trace every time.
#pragma once

#include <optional>

#include "lab/replicated/cluster.h"

namespace weir::lab {

struct SimulatedRequest {
  Instant at;
  uint32_t user = 0;  // counted from 0: the users between are kept too
  uint64_t cost = 1;
};

struct SimulationOptions {
  uint32_t nodes = 30;
  ReplicatedBucket limit;
  NetworkOptions network;
  uint64_t seed = 1;
  Duration quiet = std::chrono::seconds(60);       // after the last request
  std::function<void(double done)> progress = {};  // of its time, from 0 to 1
};

// What happened in one step of the experiment's time.
struct Step {
  double received = 0;
  double refused = 0;
  double refused_centrally = 0;
  double bytes_sent = 0;
  double memory = 0;  // at its end: bytes of a node, the mean over all
};

struct Measured {
  uint64_t requests = 0;
  uint64_t refused = 0;
  uint64_t refused_centrally = 0;
  uint64_t wrongful_refusals = 0;   // though the cluster's true debt had room
  uint64_t wrongful_lasting = 0;    // of these: there was room for longer than envelopes travel
  uint64_t over_admission_max = 0;  // the greatest true debt above the capacity, in tokens
  uint64_t bytes_sent = 0;          // with the heads of IP and UDP
  uint64_t envelopes = 0;
  uint64_t memory_peak_bytes = 0;  // of one node
  double memory_mean_bytes = 0;
  std::optional<double> converge_s;  // none: not while it was looked at
  double observed_s = 0;             // from the last admission until the end
  Duration step{};
  std::vector<Step> steps;

  // Refusals as a share of the central limiter's, in percent.
  double precision() const {
    if (refused_centrally == 0) return refused == 0 ? 100 : 0;
    return 100.0 * static_cast<double>(refused) / static_cast<double>(refused_centrally);
  }
};

// `requests` in order of time; each goes to a node by a hash of time and user.
Measured Simulate(const std::vector<SimulatedRequest>& requests, const MakeReplica& make,
                  const SimulationOptions& options);

}  // namespace weir::lab
