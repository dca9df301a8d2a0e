// The cluster of a scenario in simulated time: real replicas, each with a clock of its own, and a
// network that loses, repeats, delays and cuts. One thread; an envelope's fate follows from the
// seed and its number on its link, so that what one link does not carry changes nothing on others.
//
// A node that starts without memory asks one of its peers for everything (over a stream, which
// loses nothing), and asks again every second until one can be reached.
#pragma once

#include <functional>
#include <memory>

#include "lab/chaos/observer.h"

namespace weir::chaos {

// What is put to the test.
struct Subject {
  std::function<std::unique_ptr<Replica>(const Scenario&, Origin self, Instant now)> make;
  bool new_life_new_name = true;  // false is a planted bug
};

struct Counts {
  uint64_t requests = 0, admitted = 0, refused = 0, envelopes = 0, events = 0;
  uint64_t faults[kActs] = {};
  Duration simulated{};
};

// Throws a Violation.
Counts Simulate(const Scenario& scenario, const Subject& subject,
                std::span<const std::unique_ptr<Observer>> observers);

}  // namespace weir::chaos
