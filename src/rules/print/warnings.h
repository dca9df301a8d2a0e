// What rules say that is accepted, but hardly meant: each with the name of what it is about, for
// `weir check`, the log and /v1/cluster.
//
// - A limit cannot have its namespace's coordination, and is counted by each node alone.
// - A `*` in the name of a resource or a subject means itself, not "any".
#pragma once

#include <string>
#include <vector>

#include "rules/rulebook.h"

namespace weir {

// In the order of the rules, kMostWarnings at most; the last then says how many there are more.
inline constexpr size_t kMostWarnings = 100;
std::vector<std::string> RuleWarnings(const Rulebook& rules);
// Only of what is not the same in `before`, which was warned about then.
std::vector<std::string> NewRuleWarnings(const Rulebook& rules, const Rulebook& before);

}  // namespace weir
