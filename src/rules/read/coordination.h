// How the nodes agree on a limit, as rules write it:
//
//   local | shared | leased | replicated | {replicated: counter|queue|debt}
//   {divided: even|gtb|grd|fps|supply} | {synced: DURATION}
//
// A limit that says nothing has what its namespace says (local or replicated), where that goes with its
// algorithm; else it is local, of which the writer is warned (warnings.h).
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

#include "rules/rulebook.h"
#include "rules/text/document.h"

namespace weir {

std::optional<Coordination> ReadCoordination(const Node& node, Source& source);

// Empty, or why a limit cannot be coordinated like that, and what would be right.
std::string CoordinationProblem(const Coordination& coordination, const Limit& limit,
                                const ParseOptions& options);

// A flag's value: local, replicated or replicated:counter|queue|debt. Nothing if it is another.
std::optional<Coordination> CoordinationOfFlag(std::string_view text);

// What a namespace says for limits that say nothing. Errors are noted.
std::optional<Coordination> ReadNamespaceCoordination(const Node& node, Source& source);
// Gives it to those limits.
void GiveCoordination(const ParseOptions& options, Namespace& ns);

// As ReadCoordination reads it.
std::string PrintCoordination(const Coordination& coordination);

}  // namespace weir
