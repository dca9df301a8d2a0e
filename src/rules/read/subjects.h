// Lists of subjects in rules.
#pragma once

#include <string>
#include <vector>

#include "rules/text/document.h"

namespace weir {

// Notes an error for each that is no subject, or is there twice.
std::vector<std::string> ReadSubjects(const Node& list, Source& source);

}  // namespace weir
