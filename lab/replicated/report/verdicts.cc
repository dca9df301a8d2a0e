#include "lab/replicated/report/verdicts.h"

#include <fmt/core.h>

#include <cmath>

namespace weir::lab {
namespace {

// Whether it is on the right side of the other variant, if that was run.
std::optional<bool> InOrder(const Claim& claim, const ExperimentResult& result,
                            const Metric& metric) {
  const std::string& other = claim.above.empty() ? claim.below : claim.above;
  const VariantResult* variant = result.Find(other);
  const Metric* theirs = variant == nullptr ? nullptr : variant->Find(metric.name);
  if (theirs == nullptr) return std::nullopt;
  return claim.above.empty() ? metric.value <= theirs->value : metric.value >= theirs->value;
}

std::string InWords(const Claim& claim) {
  const bool low = std::isfinite(claim.low), high = std::isfinite(claim.high);
  std::string words = low && high ? fmt::format("{:.4g} to {:.4g}", claim.low, claim.high)
                      : low       ? fmt::format(">= {:.4g}", claim.low)
                      : high      ? fmt::format("<= {:.4g}", claim.high)
                                  : "";
  if (!claim.above.empty()) words += (words.empty() ? ">= " : ", >= ") + claim.above + "'s";
  if (!claim.below.empty()) words += (words.empty() ? "<= " : ", <= ") + claim.below + "'s";
  return words;
}

}  // namespace

Verdict Judge(const Claim& claim, const ExperimentResult& result, const Metric& metric) {
  Verdict verdict{claim.paper, std::nullopt, InWords(claim), ""};
  bool ok = metric.value >= claim.low && metric.value <= claim.high;
  if (!claim.above.empty() || !claim.below.empty()) {
    const std::optional<bool> ordered = InOrder(claim, result, metric);
    const bool bounded = std::isfinite(claim.low) || std::isfinite(claim.high);
    if (!ordered && !bounded) return verdict;  // the other variant was not run
    ok = ok && ordered.value_or(true);
  }
  verdict.ok = ok;
  if (!ok) verdict.why = claim.why;
  return verdict;
}

Verdict Judge(const std::vector<Claim>& claims, const ExperimentResult& result,
              const std::string& variant, const Metric& metric) {
  for (const Claim& claim : claims) {
    if (claim.variant == variant && claim.metric == metric.name) {
      return Judge(claim, result, metric);
    }
  }
  return {};
}

}  // namespace weir::lab
