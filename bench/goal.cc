#include "bench/goal.h"

#include <fmt/core.h>

namespace weir::bench {

void PrintGoals(const std::string& title, const std::vector<Goal>& goals) {
  fmt::print("\n{:<64} {:>9} {:>8}\n", title, "measured", "goal");
  for (const Goal& goal : goals) {
    fmt::print("{:<64} {:>9.2f} {:>2} {:>5.2f}  {}\n", goal.what, goal.measured,
               goal.at_most ? "<=" : ">=", goal.goal, goal.met() ? "met" : "NOT MET");
  }
}

}  // namespace weir::bench
