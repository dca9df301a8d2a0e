// The map of the design, held to: who may include whom.
//
//   cli -> server -> fronts -> limiter -> rules, holds -> store -> algorithms -> base
//   server -> cluster -> replication, allocation, store
//   replication, allocation -> mail, algorithms -> base
//   server -> config -> rules
//   cli, server, cluster/net -> net -> base
//   packet -> limiter, allocation
//   lab -> cluster, limiter          (never fronts, never sockets)
//
// Arrows are transitive. include/weir may be included by all and includes nothing of src/.
// cluster/net holds the sockets of cluster/ and is included by server only. lab/live starts real
// processes and may use sockets. Tests, fuzz targets and benchmarks may include anything; examples
// and clients, being users, only include/weir.
#pragma once

#include <string>
#include <string_view>

#include "tests/style/source_file.h"

namespace weir::style {

// The part of the map that a path belongs to: "limiter", "cluster/net", "lab", "include", …;
// empty for what is not on the map.
std::string PartOf(std::string_view path);

// The path in the repository that a quoted include names.
std::string IncludedPath(const std::string& included);

// True if a file of part `from` may include one of part `to`.
bool MayInclude(std::string_view from, std::string_view to);

Findings CheckIncludes(const SourceFile& file);

}  // namespace weir::style
