// Somebody who waits for an answer that a front will pass on.
#pragma once

#include "base/turn.h"

namespace weir {

class Waiter {
 public:
  // Whoever asked has gone. The last that is called, on the connection's thread.
  virtual void Abandoned(const Turn& now) = 0;

 protected:
  ~Waiter() = default;
};

}  // namespace weir
