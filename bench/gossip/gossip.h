// `weir-bench gossip`: for how long who decides may have to wait for gossip.
//
// A replica is used under one lock. Here one knows a million keys, tells them all to a peer that answers and
// to one that never does, hears of as many, is given another peer and loses one, counts its memory, and
// forgets what it may. Each call is timed, in CPU time of its thread. Every round makes the same calls, so of
// each the best time counts, and of those the longest.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bench/goal.h"

namespace weir::bench {

struct GossipOptions {
  uint64_t keys = 1'000'000;
  int rounds = 3;
};

struct GossipRow {
  std::string what;  // whose call, and which
  uint64_t calls = 0;
  double longest_ms = 0, mean_us = 0;
};

struct GossipResult {
  std::vector<GossipRow> rows;
  std::vector<Goal> goals;
};

GossipResult MeasureGossip(const GossipOptions& options,
                           const std::function<void(const std::string&)>& progress);
void PrintGossip(const GossipResult& result);

}  // namespace weir::bench
