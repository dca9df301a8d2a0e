// Are two rulebooks the same, to the last field?
#pragma once

#include <string>

#include "rules/rulebook.h"

namespace weir {

// Empty, or the first difference.
std::string Difference(const Rulebook& a, const Rulebook& b);

}  // namespace weir
