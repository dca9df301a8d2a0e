// What a rule says but cannot mean is put right, and the writer is told (Charon, section 4.1).
#pragma once

#include <string>
#include <vector>

#include "algorithms/burst_tiers.h"
#include "rules/text/source.h"

namespace weir {

// A tier and where it is written.
struct WrittenTier {
  BurstTiers::Tier tier;
  size_t place = 0;  // in the file, from 0
  Mark mark, window, active;
};

// Tiers that are active for no time are removed, a window longer than the active time is cut to it,
// an active time that is no multiple of the window is trimmed to one. `path` names the list.
std::vector<BurstTiers::Tier> NormaliseTiers(const std::vector<WrittenTier>& tiers,
                                             const std::string& path, Source& source);

// A subject's or a group's limit, or the total if that is less.
uint64_t LowerToTotal(uint64_t limit, uint64_t total, Mark at, const std::string& path,
                      Source& source);

}  // namespace weir
