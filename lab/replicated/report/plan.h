// `weir-lab plan`: every way of coordinating a limit, on the user's own traffic.
//
//   central           one limiter that sees everything: the yardstick, not a choice
//   local             each node alone, with the whole limit
//   divided           each node alone, with its part of the limit
//   counter, queue, queue+frequency, debt   replicated (variants.h)
//
// Recommended is the cheapest in bytes, and then in memory, of those that are exact enough: at most 1 %
// of the burst over the limit, and at most one request in a thousand refused wrongfully, at least 1
// of each. If none is, it is the one that errs least, as a share of what is allowed to it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "lab/replicated/settings.h"

namespace weir::lab {

struct PlanRow {
  std::string name;
  double precision = 0;           // percent
  double over_admission_max = 0;  // tokens
  double wrongful_refusals = 0;   // requests; lasting ones (simulation.h)
  double bytes_per_second_per_node = 0;
  double memory_per_node = 0;  // bytes, the peak
};

struct Plan {
  std::vector<PlanRow> rows;  // the first is central
  uint64_t requests = 0;
  uint64_t refused_centrally = 0;
  std::string recommended;
  std::string reason;  // a sentence
};

Plan MakePlan(const std::vector<SimulatedRequest>& requests, const ReplicatedBucket& limit,
              const Settings& settings, uint64_t seed);
// Chooses among the rows; fills `recommended` and `reason`.
void Recommend(uint64_t burst, Plan& plan);

int PlanCommand(std::span<const std::string> arguments);

}  // namespace weir::lab
