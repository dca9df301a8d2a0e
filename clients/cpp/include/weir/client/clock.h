// Time, waiting and chance as the client sees them: given to it, so that tests neither wait nor throw
// dice.
#pragma once

#include <chrono>
#include <memory>

namespace weir::client {

using Duration = std::chrono::nanoseconds;

class Clock {
 public:
  virtual ~Clock() = default;
  virtual Duration Now() = 0;  // since some moment; never steps back
  virtual void Sleep(Duration time) = 0;
  virtual double Chance() = 0;  // uniform in [0, 1)

  // The machine's.
  static std::shared_ptr<Clock> System();
};

}  // namespace weir::client
