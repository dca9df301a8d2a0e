// One experiment, all variants, several runs: run n has the seed `seed` + n, for the requests, the
// network and the nodes.
#pragma once

#include <functional>
#include <string>

#include "lab/replicated/results.h"
#include "lab/replicated/settings.h"

namespace weir::lab {

struct ExperimentOptions {
  std::string name;
  uint64_t seed = 1;
  int runs = 0;  // 0: as many as is usual for this one
  Settings settings;
  std::vector<SimulatedRequest> recorded;  // instead of generated ones, if there are any
};

// Told now and then: what is being simulated, and how much of all is done, from 0 to 1.
using Progress = std::function<void(const std::string& what, double done)>;

// What "all", "spotify-d" or another name stands for. Throws std::invalid_argument if nothing.
std::vector<std::string> ExperimentsNamed(const std::string& name, const Settings& settings);
// Throws std::invalid_argument.
ExperimentResult RunExperiment(const ExperimentOptions& options, const Progress& progress);

}  // namespace weir::lab
