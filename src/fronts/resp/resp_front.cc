#include "fronts/resp/resp_front.h"

#include "fronts/resp/connection.h"

namespace weir {

std::unique_ptr<Protocol> RespFront::Accept(Link& link) {
  const uint64_t id = next_id_.fetch_add(1, std::memory_order_relaxed);
  return std::make_unique<resp::Connection>(link, limiter_, options_, id);
}

}  // namespace weir
