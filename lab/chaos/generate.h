// A random scenario from a seed.
#pragma once

#include "lab/chaos/scenario.h"

namespace weir::chaos {

// `busy`: how long there are requests and faults.
Scenario Generate(uint64_t seed, EnvelopeKind kind, Duration busy);

}  // namespace weir::chaos
