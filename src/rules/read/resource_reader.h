// Reads a resource: its limits, its tiers, or its copies, and what subjects have instead of them.
#pragma once

#include <string>

#include "rules/rulebook.h"
#include "rules/text/document.h"

namespace weir {

// Errors are noted, and what is wrong is left out.
Resource ReadResource(const Node& node, const std::string& ns, const std::string& name,
                      Source& source);

}  // namespace weir
