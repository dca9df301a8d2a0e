// A thread that does things in turns: what others post to it, and what is due at a certain time.
//
// In the server it is an event loop; a test, and a program without one, runs it by hand
// (manual_executor.h). Whoever has to wait for an answer waits on the executor of the thread that asked:
// that is where he is told.
#pragma once

#include <functional>

#include "base/timers.h"
#include "base/turn.h"

namespace weir {

class Executor {
 public:
  virtual ~Executor() = default;
  // Runs `work` on the executor's thread, soon, in a turn of its own; from any thread.
  virtual void Post(std::function<void(const Turn& now)> work) = 0;
  // On the executor's own thread only.
  virtual Timers& timers() = 0;
};

}  // namespace weir
