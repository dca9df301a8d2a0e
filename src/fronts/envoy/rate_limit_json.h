// `POST /json`: Envoy's rate-limit service for those who have no gRPC. The same messages in
// proto3's JSON.
#pragma once

#include "fronts/envoy/rate_limit_messages.h"
#include "fronts/http/route_table.h"
#include "weir/limiter.h"

namespace weir {

// Answers 200 OK, 429 over a limit, 400 with what is wrong, 403 for a domain beyond the reach of whoever
// asks, 500 for what fails here. `limiter` outlives the handler.
http::Handler RateLimitJson(Limiter& limiter, EnvoyOptions options = {});

}  // namespace weir
