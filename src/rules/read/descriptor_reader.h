// Reads descriptor rules in the grammar of envoyproxy/ratelimit (the design's WIRE.md), with one
// addition: a block `weir` beside `rate_limit` names any algorithm, coordination and so on. What it
// does not give comes from `rate_limit`, which is a fixed window.
#pragma once

#include <string>
#include <vector>

#include "rules/descriptors.h"
#include "rules/text/document.h"

namespace weir {

// Errors are noted, and what is wrong is left out.
std::vector<DescriptorRule> ReadDescriptors(const Node& list, const std::string& ns,
                                            Source& source);

}  // namespace weir
