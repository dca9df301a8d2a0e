// The limits of a resource or of a contract: a list, each with a name of its own.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rules/read/limit_spec.h"

namespace weir {

inline constexpr size_t kMostLimitsInList = 64;

// Those that are wrong are marked so, that an override may still name them.
std::vector<LimitSpec> ReadLimitList(const Node& list, Source& source);

// Those that are right.
std::vector<RuleLimit> BuildLimits(const std::vector<LimitSpec>& specs, Source& source);

// Names the states of each limit; `kind` is "resource" or "contract".
void SetIdentities(std::vector<RuleLimit>& limits, const std::string& ns, std::string_view kind,
                   const std::string& rule);

}  // namespace weir
