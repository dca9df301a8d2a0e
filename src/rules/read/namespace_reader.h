// Reads whole files: Weir's own rules, and those of envoyproxy/ratelimit.
#pragma once

#include <vector>

#include "rules/rulebook.h"
#include "rules/text/document.h"

namespace weir {

struct ReadNamespace {
  Namespace ns;
  Mark mark;  // of its name
};

// `namespaces: …`. Errors are noted, and what is wrong is left out.
std::vector<ReadNamespace> ReadRulesFile(const Node& root, Source& source);

// `domain: …` and `descriptors: …`.
std::vector<ReadNamespace> ReadRatelimitFile(const Node& root, Source& source);

}  // namespace weir
