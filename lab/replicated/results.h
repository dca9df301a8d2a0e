// What an experiment came to: for every variant its metrics, and what happened over time.
//
// A metric is the mean over the runs, but those that tell the worst (over_admission_max,
// refusals_off_central) are the greatest of all. Ratios are to the counter on the same requests.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lab/replicated/simulation.h"

namespace weir::lab {

struct Metric {
  std::string name;
  double value = 0;
  std::string unit;
  bool at_least = false;  // it was not seen to its end
};

struct VariantResult {
  std::string variant;
  std::vector<Metric> metrics;
  std::vector<Step> steps;  // the mean over the runs

  const Metric* Find(const std::string& metric) const;
};

struct ExperimentResult {
  std::string name;
  std::string what;
  std::string parameters;  // in words
  std::string command;     // that repeats it
  uint64_t capacity = 0;
  double requests = 0;  // of a run
  Duration step{};
  std::vector<VariantResult> variants;

  const VariantResult* Find(const std::string& variant) const;
};

// The runs of one variant. `requests` of the results are the same for all variants.
VariantResult Summarize(const std::string& variant, const std::vector<Measured>& runs);
// Adds what compares variants with one another: bytes_ratio, memory_ratio, linf_memory_ratio.
void AddRatios(ExperimentResult& result);

}  // namespace weir::lab
