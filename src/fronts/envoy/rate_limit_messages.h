// The messages of Envoy's rate-limit service, as the limiter is asked and as it answers:
//
//   RateLimitRequest -> DescriptorRequest -> Limiter::Decide -> RateLimitResponse
//
// Statuses correspond to descriptors one to one.
#pragma once

#include <envoy/service/ratelimit/v3/rls.pb.h>

#include <string>

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

}  // namespace weir
