// Reads what single subjects have instead of a resource's own limits, tiers or copies.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rules/read/limit_spec.h"
#include "rules/read/tiers_spec.h"
#include "rules/rulebook.h"

namespace weir {

// The resource without its overrides: as it was built, and as it is written.
struct OverrideBase {
  const Resource& resource;
  const std::vector<LimitSpec>& limits;
  const std::optional<TiersSpec>& tiers;
  const std::string& path;  // names it in reports of normalisation
};

// Errors are noted, and what is wrong is left out.
std::vector<Override> ReadOverrides(const Node& list, const OverrideBase& base, Source& source);

}  // namespace weir
