// What the reader of rules is told about the server that they are for.
#pragma once

#include <optional>

#include "rules/rule_limit.h"

namespace weir {

struct ParseOptions {
  bool cluster = false;  // --cluster was given: replicated limits work
  bool divide = false;   // divided and leased limits work
  bool redis = false;    // --redis was given: shared and synced limits work
  // --ratelimit-coordination: of what envoyproxy/ratelimit's files limit; none: local
  std::optional<Coordination> ratelimit = std::nullopt;
};

}  // namespace weir
