#include "lab/chaos/checks/checks.h"

namespace weir::chaos {

std::vector<std::unique_ptr<Observer>> AllChecks(const Scenario& scenario, Margins& margins) {
  auto truth = std::make_unique<Truth>(scenario);
  const Truth& known = *truth;
  std::vector<std::unique_ptr<Observer>> all;
  all.push_back(MakeRowsCheck(scenario));
  all.push_back(std::move(truth));
  all.push_back(MakeBoundCheck(known, margins));
  all.push_back(MakeRefusalCheck(scenario));
  all.push_back(MakeCountsCheck(margins));
  all.push_back(MakeKeptCheck());
  all.push_back(MakeEnvelopeCheck());
  all.push_back(MakeTickCheck());
  all.push_back(MakeMemoryCheck());
  all.push_back(MakeQuietCheck(known));
  return all;
}

}  // namespace weir::chaos
