// One turn of a loop: an instant that was read from the clock and goes away when the turn ends.
//
// A callback that runs later must not decide at the instant at which it was asked for: that is the
// past by then. So whoever runs things (a loop, a way back) makes a Turn and hands it down by
// reference. A turn cannot be made of an instant, only of a clock, and it can be neither copied nor
// moved: a lambda that captures it, and a struct that keeps it, do not compile. (What captures a
// reference is found by tests/style/kept_instants.h.)
//
// Where only the number is wanted, it turns into an Instant by itself.
#pragma once

#include "weir/clock.h"

namespace weir {

class Turn {
 public:
  explicit Turn(Clock& clock) : at_(clock.Now()) {}
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  Instant at() const { return at_; }
  operator Instant() const { return at_; }

  // The turn as a field of what is handed down with it: neither can that be copied.
  class Field {
   public:
    Field(const Turn& turn) : turn_(turn) {}
    Field(const Field&) = delete;
    Field& operator=(const Field&) = delete;
    operator const Turn&() const { return turn_; }
    operator Instant() const { return turn_; }

   private:
    const Turn& turn_;
  };

 private:
  const Instant at_;
};

}  // namespace weir
