// GET or POST /v1/auth: a decision as a status alone, for nginx auth_request, Caddy forward_auth,
// Traefik ForwardAuth and HAProxy.
//
//   ?namespace=&resource=&subject=[&cost=1][&deny=429]         200, or what deny says (401, 403, 429)
//   &subject_from=header:NAME                                  in place of subject: the header's value
//   &subject_from=address                                      the client's address
#pragma once

#include <vector>

#include "fronts/http/address.h"
#include "fronts/http/route_table.h"
#include "weir/limiter.h"

namespace weir::http {

// `limiter` outlives the table.
void AddAuthRoute(Limiter& limiter, std::vector<Network> trusted_hops, RouteTable& routes);

}  // namespace weir::http
