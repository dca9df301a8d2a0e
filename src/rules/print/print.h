// Rules as text: the normalised rules in YAML, which parse.h reads back to the same rulebook, and
// the report of `weir check`.
#pragma once

#include <string>

#include "rules/read/parse.h"

namespace weir {

std::string PrintRules(const Rulebook& rules);

// Good rules: the normalised rules, and below them, as comments, what normalisation changed. Bad
// ones: every mistake with file, line and column, the line, and a caret below the column.
std::string CheckReport(const ParseResult& result, bool colours);

}  // namespace weir
