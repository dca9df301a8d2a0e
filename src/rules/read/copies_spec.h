// The copies of a resource as they are written, and the limits that they become: "per_subject",
// "total" if given, and "group:NAME" for each group.
#pragma once

#include <string>

#include "rules/rulebook.h"
#include "rules/text/document.h"

namespace weir {

// Errors are noted, and what is wrong is left out. `path` names the node in reports of
// normalisation.
CopyRules ReadCopies(const Node& node, const std::string& path, Source& source);

// The subject's own limit.
RuleLimit ReadCopiesOverride(const Node& node, const std::string& path, const CopyRules& base,
                             Source& source);

}  // namespace weir
