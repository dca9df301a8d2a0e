// The replicas that the server runs, as chaos makes them.
#pragma once

#include "lab/chaos/simulation.h"

namespace weir::chaos {

Subject RealSubject(EnvelopeKind kind);

}  // namespace weir::chaos
