// From a scenario that fails to a smaller one that still does, by the same invariant: without
// actions, nodes and keys that do not matter, in fine weather with right clocks if that is enough.
#pragma once

#include "lab/chaos/run.h"

namespace weir::chaos {

// Tries at most `runs` smaller ones; progress(runs done).
Scenario Shrink(Scenario scenario, const Subject& subject, const Violation& violation, int runs,
                const std::function<void(int)>& progress);

}  // namespace weir::chaos
