// What the thesis printed, what Weir's `debt` has to reach, and whether it holds here.
//
// A claim names an experiment, a variant and a metric, and within what the value has to lie: between
// two bounds, and on the right side of another variant's. Bounds on `debt` are the requirement.
// Those on the thesis' variants are its own figure with a tolerance that is stated: 5 points of
// precision, a factor of 2 for a ratio; and the order of the variants, which is the thesis' finding.
// Where such a claim is known not to hold, it says why.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "lab/replicated/results.h"

namespace weir::lab {

struct Claim {
  std::string experiment, variant, metric;
  std::optional<double> paper{};
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  std::string above{};  // the variant whose value is no greater
  std::string below{};  // the variant whose value is no less
  std::string why{};    // it may fail
};

struct Verdict {
  std::optional<double> paper;
  std::optional<bool> ok;  // none: nothing is claimed
  std::string tolerance;   // what was claimed, in words
  std::string why;         // if it does not hold, and that is understood
};

std::vector<Claim> ClaimsOn(const ExperimentResult& result);
Verdict Judge(const Claim& claim, const ExperimentResult& result, const Metric& metric);
// By the claim of that variant and metric, if there is one.
Verdict Judge(const std::vector<Claim>& claims, const ExperimentResult& result,
              const std::string& variant, const Metric& metric);

}  // namespace weir::lab
