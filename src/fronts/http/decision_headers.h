// The headers that tell a client where it stands (draft-ietf-httpapi-ratelimit-headers, and the
// older X- names).
//
//   RateLimit-Policy: "burst";q=100;w=60,"daily";q=1000;w=86400     the limit that decides first
//   RateLimit: "burst";r=50;t=30                                    the limit that decides
//   X-RateLimit-Limit: 100     X-RateLimit-Remaining: 50     X-RateLimit-Reset: 30
//   Retry-After: 30                                                 of a refusal
//
// X-RateLimit-Limit is the most that can be admitted at once, as redis-cell tells it: with a burst it
// is more than q, and never less than what remains. Reset and t are the time until all of it is there
// again; of a refusal, the time until this very request is admitted, if that comes first: so nobody
// who honours Retry-After comes before t.
//
// Seconds are whole and rounded up. Limits in shadow refuse nobody, and are not told; nor is
// anything where nothing limits, nor Retry-After where waiting does not help.
#pragma once

#include <string>

#include "weir/decision.h"

namespace weir::http {

// `refusal`: the status of the answer is one.
void AppendDecisionHeaders(std::string& out, const Decision& decision, bool refusal);

}  // namespace weir::http
