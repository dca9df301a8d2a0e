#include "lab/replicated/results.h"

#include <algorithm>

namespace weir::lab {
namespace {

double Off(const Measured& run) {
  const auto a = static_cast<double>(run.refused), b = static_cast<double>(run.refused_centrally);
  return a > b ? a - b : b - a;
}

template <typename Get>
double Mean(const std::vector<Measured>& runs, Get get) {
  double sum = 0;
  for (const Measured& run : runs) sum += static_cast<double>(get(run));
  return runs.empty() ? 0 : sum / static_cast<double>(runs.size());
}

template <typename Get>
double Most(const std::vector<Measured>& runs, Get get) {
  double most = 0;
  for (const Measured& run : runs) most = std::max(most, static_cast<double>(get(run)));
  return most;
}

std::vector<Step> MeanSteps(const std::vector<Measured>& runs) {
  std::vector<Step> mean;
  const auto count = static_cast<double>(runs.size());
  for (const Measured& run : runs) {
    mean.resize(std::max(mean.size(), run.steps.size()));
    for (size_t i = 0; i < run.steps.size(); ++i) {
      mean[i].received += run.steps[i].received / count;
      mean[i].refused += run.steps[i].refused / count;
      mean[i].refused_centrally += run.steps[i].refused_centrally / count;
      mean[i].bytes_sent += run.steps[i].bytes_sent / count;
      mean[i].memory += run.steps[i].memory / count;
    }
  }
  return mean;
}

void AddRatio(VariantResult& variant, const VariantResult* to, const std::string& of,
              const std::string& name) {
  if (to == nullptr) return;
  const double base = to->Find(of)->value;
  if (base > 0) variant.metrics.push_back({name, variant.Find(of)->value / base, "x"});
}

}  // namespace

const Metric* VariantResult::Find(const std::string& metric) const {
  for (const Metric& one : metrics) {
    if (one.name == metric) return &one;
  }
  return nullptr;
}

const VariantResult* ExperimentResult::Find(const std::string& variant) const {
  for (const VariantResult& one : variants) {
    if (one.variant == variant) return &one;
  }
  return nullptr;
}

VariantResult Summarize(const std::string& variant, const std::vector<Measured>& runs) {
  const auto mean = [&](auto get) { return Mean(runs, get); };
  const bool converged = std::all_of(
      runs.begin(), runs.end(), [](const Measured& run) { return run.converge_s.has_value(); });
  VariantResult result{variant, {}, MeanSteps(runs)};
  result.metrics = {
      {"precision", mean([](const Measured& m) { return m.precision(); }), "percent"},
      {"wrongful_refusals", mean([](const Measured& m) { return m.wrongful_refusals; }),
       "requests"},
      {"wrongful_lasting", mean([](const Measured& m) { return m.wrongful_lasting; }), "requests"},
      {"over_admission_max", Most(runs, [](const Measured& m) { return m.over_admission_max; }),
       "tokens"},
      {"refusals_off_central", Most(runs, Off), "requests"},
      {"converge_s", mean([](const Measured& m) { return m.converge_s.value_or(m.observed_s); }),
       "seconds", !converged},
      {"bytes_sent", mean([](const Measured& m) { return m.bytes_sent; }), "bytes"},
      {"memory_peak_bytes", mean([](const Measured& m) { return m.memory_peak_bytes; }), "bytes"},
      {"memory_mean_bytes", mean([](const Measured& m) { return m.memory_mean_bytes; }), "bytes"}};
  return result;
}

void AddRatios(ExperimentResult& result) {
  for (VariantResult& variant : result.variants) {
    const VariantResult* counter = result.Find("counter");
    if (variant.variant != "counter") {
      AddRatio(variant, counter, "bytes_sent", "bytes_ratio");
      AddRatio(variant, counter, "memory_mean_bytes", "memory_ratio");
    }
    const std::string without = variant.variant == "queue+linf"   ? "queue"
                                : variant.variant == "queue+both" ? "queue+frequency"
                                                                  : "";
    if (!without.empty()) {
      AddRatio(variant, result.Find(without), "memory_mean_bytes", "linf_memory_ratio");
    }
  }
}

}  // namespace weir::lab
