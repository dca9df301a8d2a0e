// What a node of a cluster counts, for Prometheus. Labels are the names of peers, of which there are only
// so many: those on the list, or those that have the key.
#pragma once

#include "cluster/node_status.h"
#include "cluster/replicated_limits.h"
#include "server/metrics/metric_families.h"

namespace weir {

void AddClusterMetrics(const cluster::NodeStatus& status, MetricFamilies& all);
void AddReplicationMetrics(const cluster::ReplicationCounts& counts, MetricFamilies& all);

}  // namespace weir
