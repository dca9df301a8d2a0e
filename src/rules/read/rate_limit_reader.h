// Reads what limits a descriptor: `rate_limit`, and the block `weir` beside it.
#pragma once

#include "rules/descriptors.h"
#include "rules/text/document.h"

namespace weir {

// Sets limit, limit_name and replaces of the rule; either node may be null. The name and identity
// of the limit are the caller's to set.
void ReadRateLimit(const Node* rate_limit, const Node* weir, DescriptorRule& rule, Source& source);

// The unit of a fixed window of that length aligned to the epoch; "" if it has none.
std::string_view UnitName(Duration per);

}  // namespace weir
