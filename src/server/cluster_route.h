// GET /v1/cluster: the other nodes as this one sees them.
#pragma once

#include "fronts/http/route_table.h"
#include "server/cluster_service.h"
#include "server/tokens.h"

namespace weir {

// `cluster` may be null: 404.
void AddClusterRoute(http::RouteTable& routes, ClusterService* cluster, const Tokens& tokens);

}  // namespace weir
