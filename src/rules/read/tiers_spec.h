// The burst tiers of a resource as they are written, and the limits that they become:
//
//   "tiers"         BurstTiers, each subject its own
//   "hard_limit"    a log of one second, each subject its own   (if given)
//   "global_limit"  a log of one second over all subjects       (if given)
//
// An override has its own set of tiers, its own hard limit, or both; what it does not give stays.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rules/read/limit_spec.h"

namespace weir {

struct TiersSpec {
  LimitSpec beside;  // coordination, shadow, on_failure, persist
  const Node* hard_limit_at = nullptr;
  const Node* global_limit_at = nullptr;
  uint64_t hard_limit = kUnlimited;
  uint64_t global_limit = kUnlimited;
  std::optional<BurstTiers> tiers;  // normalised
  bool bad = false;                 // an error was noted
};

// `path` names the node in reports of normalisation.
TiersSpec ReadTiers(const Node& node, const std::string& path, Source& source);
TiersSpec ReadTiersOverride(const Node& node, const std::string& path, const TiersSpec& base,
                            Source& source);

// "tiers", "hard_limit" or "global_limit".
bool IsNameOfTiers(std::string_view name);

// Empty, with errors noted, if it is or turns out to be bad.
std::vector<RuleLimit> BuildTiers(TiersSpec& spec, Source& source);

}  // namespace weir
