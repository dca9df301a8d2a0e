// POST /v1/request, /v1/peek and /v1/settle: the native API in JSON.
#pragma once

#include "fronts/http/route_table.h"
#include "weir/limiter.h"

namespace weir::http {

// `limiter` outlives the table.
void AddNativeRoutes(Limiter& limiter, RouteTable& routes);

// Whether the request has waited too long to be decided; it is answered then.
bool RefuseIfLate(const HttpRequest& request, Responder& responder);

// An error as an answer: its status and its JSON.
void SendError(Responder responder, const Error& error);

}  // namespace weir::http
