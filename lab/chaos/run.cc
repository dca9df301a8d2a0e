#include "lab/chaos/run.h"

namespace weir::chaos {

Outcome RunOnce(const Scenario& scenario, const Subject& subject,
                std::unique_ptr<Observer> narrator) {
  Outcome outcome;
  auto observers = AllChecks(scenario, outcome.margins);
  if (narrator) observers.insert(observers.begin(), std::move(narrator));
  try {
    outcome.counts = Simulate(scenario, subject, observers);
  } catch (Violation& violation) {
    outcome.violation = std::move(violation);
  }
  return outcome;
}

}  // namespace weir::chaos
