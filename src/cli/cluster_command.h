// `weir cluster status`: the nodes of a cluster, as one of them sees the others.
#pragma once

#include "cli/client_options.h"

namespace weir {

// Exit codes: 0 all nodes live, 1 some do not, 2 an error.
int RunClusterStatus(const ClientOptions& options, Terminal& out, Terminal& errors);

}  // namespace weir
