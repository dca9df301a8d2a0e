#include "fronts/poolcounter/poolcounter_front.h"

#include "fronts/poolcounter/connection.h"

namespace weir {

std::unique_ptr<Protocol> PoolCounterFront::Accept(Link& link) {
  return std::make_unique<poolcounter::Connection>(link, limiter_);
}

}  // namespace weir
