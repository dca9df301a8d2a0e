// GET /v1/cluster: the other nodes as this one sees them, and what the nodes do not count together.
#pragma once

#include "fronts/http/route_table.h"
#include "server/cluster_service.h"
#include "server/routes/report_thread.h"

namespace weir {

// `cluster` may be null: 404.
void AddClusterRoute(http::RouteTable& routes, ClusterService* cluster, const Limiter& limiter,
                     const Settings& settings, ReportThread& reports);

}  // namespace weir
