// A goal of the project, and what was measured.
#pragma once

#include <string>
#include <vector>

namespace weir::bench {

struct Goal {
  std::string what;
  double measured, goal;
  bool at_most;  // or at least
  bool met() const { return at_most ? measured <= goal : measured >= goal; }
};

void PrintGoals(const std::string& title, const std::vector<Goal>& goals);

}  // namespace weir::bench
