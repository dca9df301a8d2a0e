// `weir-bench engine`: what a decision costs, beside what one would write without Weir, in one run.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "bench/engine/measure.h"
#include "bench/goal.h"

namespace weir::bench {

struct EngineOptions {
  std::vector<size_t> keys = {1'000'000, 10'000'000};
  size_t operations = 5'000'000;
  int runs = 3;
};

using Progress = std::function<void(const std::string& doing)>;

std::vector<Row> MeasureEngine(const EngineOptions& options, const Progress& progress);

// The goals of the project that these rows speak to, with what was measured.
std::vector<Goal> GoalsOf(const std::vector<Row>& rows);

}  // namespace weir::bench
