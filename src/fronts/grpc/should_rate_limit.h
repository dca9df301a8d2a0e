// Envoy's rate-limit service: envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit. What fails is a
// gRPC error and never the code UNKNOWN, so that the proxy's own failure mode applies.
#pragma once

#include "fronts/envoy/rate_limit_messages.h"
#include "fronts/grpc/grpc_status.h"
#include "fronts/grpc/method_table.h"
#include "weir/limiter.h"

namespace weir {

// `limiter` and `options` outlive the table.
void AddEnvoyService(MethodTable& methods, Limiter& limiter, const EnvoyOptions& options);

}  // namespace weir
