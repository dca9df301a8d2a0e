// A limit as the fields that rules write.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rules/rule_limit.h"

namespace weir {

using FieldTexts = std::vector<std::pair<std::string_view, std::string>>;

// The algorithm (not burst_tiers or copies) and all of its numbers, defaults included.
FieldTexts NumberFields(const RuleLimit& limit);

// What is said beside the numbers, where it differs from `usual`.
FieldTexts BesideFields(const RuleLimit& limit, const RuleLimit& usual);

// "{name: burst, limit: 20}".
std::string PrintFlow(const FieldTexts& fields);

}  // namespace weir
