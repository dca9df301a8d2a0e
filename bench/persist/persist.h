// `weir-bench persist`: what it costs to keep the use of a limit over a restart.
//
// The same decisions on a limit without `persist`, on one with it, and on one whose changes are
// written to SQLite every 100 ms meanwhile, which takes a thread of its own.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace weir::bench {

struct PersistOptions {
  size_t keys = 100'000;
  size_t operations = 10'000'000;
  int runs = 3;
};

struct PersistRow {
  std::string what;
  double decision_nanos = 0;  // of the thread that decides
  double writer_nanos = 0;    // of writing, per decision; the last batch included
  double saved_per_second = 0;
};

std::vector<PersistRow> MeasurePersist(const PersistOptions& options,
                                       const std::function<void(const std::string&)>& progress);

}  // namespace weir::bench
