// Tells a scenario and what happens in it, a line for each event that changes something.
#pragma once

#include "lab/chaos/observer.h"

namespace weir::chaos {

std::string Described(const Scenario& scenario);
// Appends to `lines`.
std::unique_ptr<Observer> MakeNarrator(std::vector<std::string>& lines);

}  // namespace weir::chaos
