// What a run of many seeds came to, by kind: as a table or as JSON.
#pragma once

#include "lab/chaos/run.h"

namespace weir::chaos {

struct Totals {
  EnvelopeKind kind = EnvelopeKind::kDebt;
  uint64_t seeds = 0, failed = 0;
  Counts counts;
  Margins margins;

  void Add(const Outcome& outcome);
};

void PrintTable(std::span<const Totals> all, double seconds);
void PrintJson(std::span<const Totals> all, double seconds);
// The seed, how to repeat it, and what happens in the shrunk scenario.
void PrintFailure(const Scenario& failed, const Violation& violation, const Scenario& shrunk,
                  const Subject& subject, const std::string& command, size_t most_lines);

}  // namespace weir::chaos
