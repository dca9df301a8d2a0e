// One scenario, under the eyes of all checks.
#pragma once

#include <optional>

#include "lab/chaos/checks/checks.h"
#include "lab/chaos/simulation.h"

namespace weir::chaos {

struct Outcome {
  Counts counts;
  Margins margins;
  std::optional<Violation> violation;
};

// `narrator` sees everything before the checks do; null for none.
Outcome RunOnce(const Scenario& scenario, const Subject& subject,
                std::unique_ptr<Observer> narrator = nullptr);

}  // namespace weir::chaos
