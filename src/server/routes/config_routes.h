// /v1/config: the configuration over HTTP. Paths mirror the tree of the rules (config/config_path.h);
// a body is the node of the rules file as JSON.
//
//   GET    /v1/config/namespaces/…       the node; ?names=true: only the names in a collection
//   PUT    …                             creates (201) or replaces (200)
//   PATCH  …                             a JSON merge patch (RFC 7396)
//   DELETE …                             204
//   GET    /v1/config?since=&wait_ms=    what has changed, waiting for a change
//   GET    /v1/config/audit              who changed what; ?namespace=&limit=; a page, and where the
//                                        next one is (?before=&after=)
//   POST   /v1/config/rollback           {version, namespace}: it, or all, as it was then, as a new
//                                        version
//
// An ETag is the version of the namespace's last change; If-Match and If-None-Match: * guard a write.
// Who may ask: access.h. Bodies are read and answers written on the configuration's thread.
#pragma once

#include "fronts/http/route_table.h"
#include "server/config_service.h"

namespace weir {

// The service outlives the table.
void AddConfigRoutes(http::RouteTable& routes, ConfigService& service);

}  // namespace weir
