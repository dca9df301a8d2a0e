// `weir-bench holds`: what it costs the server to reserve a copy and release it again.
//
// The server runs on one core and the load on the other, in rounds of which the best counts. The
// measure is a CL.THROTTLE of the same load: what a decision costs without a hold.
//
//   RESP   16 connections, 1 or 16 commands in flight on each
//   gRPC   16 Session streams, 1 or 16 messages in flight on each
//   RESP   the same while a million other holds are outstanding
#pragma once

#include "bench/fronts/fronts.h"

namespace weir::bench {

FrontsResult MeasureHolds(const FrontsOptions& options,
                          const std::function<void(const std::string&)>& progress);

}  // namespace weir::bench
