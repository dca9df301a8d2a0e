// How the nodes agree on a limit, as rules write it:
//
//   local | shared | leased | replicated | {replicated: counter|queue|debt}
//   {divided: even|gtb|grd|fps|supply} | {synced: DURATION}
//
// and which algorithm goes with which:
//
//                 token_bucket  fixed_window  sliding_window  sliding_log   tiers, copies
//   local, shared      x             x              x              x              x
//   replicated         x             x              x          queue only         -
//   divided, leased    x             x              -              -              -
//   synced             x             x              x              -              -
#pragma once

#include <optional>
#include <string>

#include "rules/document.h"
#include "rules/rule_limit.h"

namespace weir {

std::optional<Coordination> ReadCoordination(const Node& node, Source& source);

// Empty, or why a limit cannot be coordinated like that, and what would be right.
std::string CoordinationProblem(const Coordination& coordination, const Limit& limit,
                                const ParseOptions& options);

// As ReadCoordination reads it.
std::string PrintCoordination(const Coordination& coordination);

}  // namespace weir
