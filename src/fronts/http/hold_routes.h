// Holds in JSON: /v1/session, which opens, renews and ends a session, and POST /v1/reserve,
// /v1/release, /v1/transfer and /v1/seize, which name it. A session lives while it is renewed,
// whatever becomes of connections.
#pragma once

#include "fronts/http/route_table.h"
#include "weir/limiter.h"

namespace weir::http {

// `limiter` outlives the table. Whoever wants a session to live longer than `longest` without being
// renewed gets that: after a crash nobody may think that he holds something for longer.
void AddHoldRoutes(Limiter& limiter, Duration longest, RouteTable& routes);

}  // namespace weir::http
