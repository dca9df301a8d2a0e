// `weir cluster status`: the nodes of a cluster, as one of them sees the others.
#pragma once

#include <ostream>

#include "server/client/client_commands.h"

namespace weir {

// Exit codes: 0 all nodes live, 1 some do not, 2 an error.
int RunClusterStatus(const ClientOptions& options, std::ostream& out, std::ostream& errors);

}  // namespace weir
