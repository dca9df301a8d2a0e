// weir.v1.Limiter: the limiter's own operations over gRPC.
//
// Session carries them all on one stream; what goes wrong with one is told in its answer, with the
// id that it came with, and the stream goes on. What is held on it is released when it ends, however
// it ends. A reservation that waits is answered when it is decided; others overtake it.
#pragma once

#include "fronts/grpc/method_table.h"
#include "weir/limiter.h"

namespace weir {

// `limiter` outlives the table.
void AddNativeService(MethodTable& methods, Limiter& limiter);

}  // namespace weir
