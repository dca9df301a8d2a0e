// Bugs that chaos must catch: the real replicas, each behind a wrapper that makes one mistake in
// what it is told, in what it tells, or in what it was made with. Nothing in src/ knows of them.
#pragma once

#include <vector>

#include "lab/chaos/simulation.h"

namespace weir::chaos {

struct PlantedBug {
  const char* name;
  const char* mistake;
  EnvelopeKind kind;
  Subject subject;
};

std::vector<PlantedBug> PlantedBugs();

}  // namespace weir::chaos
