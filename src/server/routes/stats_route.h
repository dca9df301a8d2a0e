// GET /v1/stats?namespace=&resource=&subject=: what happened in the last minute and day, to whom, and
// why somebody is refused.
//
//   nothing             totals of every resource: admitted, refused, admitted cost (load hints)
//   namespace           the same, of one namespace
//   resource            its last minute by seconds and last day by minutes; busiest, most refused
//   subject             its limits as their states tell, whether and until when it is refused, and
//                       its past if it is among the busiest
#pragma once

#include "fronts/http/route_table.h"
#include "server/routes/report_thread.h"
#include "weir/limiter.h"

namespace weir {

// All outlive the table.
void AddStatsRoute(http::RouteTable& routes, Limiter& limiter, ReportThread& reports);

}  // namespace weir
