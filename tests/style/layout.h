// What a file looks like: guards, leftovers, length, form.
#pragma once

#include <string>
#include <vector>

#include "tests/style/source_file.h"

namespace weir::style {

inline constexpr size_t kLongFile = 500;  // lines

// A header's first line of code is #pragma once.
Findings CheckGuard(const SourceFile& file);

// No reminders are left standing.
Findings CheckLeftovers(const SourceFile& file);

// More than kLongFile lines are more than one idea.
Findings CheckLength(const SourceFile& file);

// "clang-format-14" or "clang-format", whichever is version 14; empty if neither is installed.
std::string FindFormatter();

// The files below `root` that differ from what the formatter makes of them under its .clang-format:
// the first place of each.
Findings CheckForm(const std::string& formatter, const std::string& root,
                   const std::vector<std::string>& paths);

}  // namespace weir::style
