// Which node a request goes to: by a hash of its time and user, as a load balancer might.
#pragma once

#include <string>

#include "base/keyed_hash.h"
#include "lab/replicated/simulation.h"

namespace weir::lab {

inline uint32_t NodeFor(const SimulatedRequest& request, uint32_t nodes, uint64_t seed) {
  const std::string name = std::to_string(ToNanos(request.at)) + "/" + std::to_string(request.user);
  return static_cast<uint32_t>(KeyedHash({seed, 3})(name).low % nodes);
}

}  // namespace weir::lab
