// Envoy's rate-limit service: envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit.
//
//   RateLimitRequest -> DescriptorRequest -> Limiter::Decide -> RateLimitResponse
//
// Statuses correspond to descriptors one to one. What fails is a gRPC error and never the code
// UNKNOWN, so that the proxy's own failure mode applies.
#pragma once

#include <envoy/service/ratelimit/v3/rls.pb.h>

#include <string>

#include "fronts/grpc/grpc_status.h"
#include "fronts/grpc/method_table.h"
#include "limiter/call.h"
#include "weir/limiter.h"

namespace weir {

// Headers that the proxy adds to its answer, of the descriptor with the least left.
struct EnvoyOptions {
  bool headers = true;
  std::string limit_header = "RateLimit-Limit";
  std::string remaining_header = "RateLimit-Remaining";
  std::string reset_header = "RateLimit-Reset";  // in seconds
};

// Puts the message into the call, with views into it and into this thread's memory: until the next one.
void Ask(const envoy::service::ratelimit::v3::RateLimitRequest& message, DescriptorCall& call);

// Whatever was in the response is written over. Not if the decision is an error.
void FillResponse(const DescriptorDecision& decision, const EnvoyOptions& options,
                  envoy::service::ratelimit::v3::RateLimitResponse& response);

// `limiter` and `options` outlive the table.
void AddEnvoyService(MethodTable& methods, Limiter& limiter, const EnvoyOptions& options);

}  // namespace weir
