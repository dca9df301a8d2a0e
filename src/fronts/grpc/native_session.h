// weir.v1.Limiter/Session: a stream that carries every operation, and to whose life holds are bound.
// Requests and answers have numbers: answers come in any order.
#pragma once

#include <memory>

#include "fronts/grpc/method_table.h"
#include "weir/limiter.h"

namespace weir {

std::unique_ptr<StreamingCall> NewSession(Limiter& limiter, CallStream& stream);

}  // namespace weir
