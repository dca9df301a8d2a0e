// `POST /json`: Envoy's rate-limit service for those who have no gRPC. The same messages in
// proto3's JSON.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "fronts/envoy/should_rate_limit.h"
#include "weir/limiter.h"

namespace weir {

// The HTTP status and the body: 200 OK, 429 over a limit, 400 with what is wrong, 403 for a domain beyond
// the reach of whoever asks, 500 for what fails here.
std::pair<int, std::string> AnswerJson(Limiter& limiter, std::string_view body, Instant now,
                                       const Reach& reach = kEverywhere,
                                       const EnvoyOptions& options = {});

}  // namespace weir
