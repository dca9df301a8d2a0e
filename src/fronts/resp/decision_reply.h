// A decision as a map, with the fields of the native request.
#pragma once

#include "fronts/resp/reply.h"
#include "weir/decision.h"

namespace weir::resp {

// Its error, where nothing was decided.
void WriteDecision(const Decision& decision, Reply& reply);
void WriteSettled(const Settled& settled, Reply& reply);

}  // namespace weir::resp
