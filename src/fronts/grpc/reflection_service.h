// grpc.reflection: what services there are, and the files that describe them, for grpcurl and the
// like. v1 and v1alpha are the same but for the name.
#pragma once

#include <string>
#include <vector>

#include "fronts/grpc/method_table.h"

namespace weir {

// To be called last: it tells of the services that `methods` has then, and of itself.
void AddReflectionService(MethodTable& methods);

}  // namespace weir
