#include "rules/read/normalise.h"

#include "algorithms/algorithm.h"
#include "rules/text/period.h"

namespace weir {
namespace {

std::string PrintNumber(uint64_t limit) {
  return limit == kUnlimited ? "unlimited" : std::to_string(limit);
}

}  // namespace

std::vector<BurstTiers::Tier> NormaliseTiers(const std::vector<WrittenTier>& tiers,
                                             const std::string& path, Source& source) {
  std::vector<BurstTiers::Tier> normal;
  for (const WrittenTier& written : tiers) {
    const std::string here = path + "[" + std::to_string(written.place) + "]";
    BurstTiers::Tier tier = written.tier;
    const auto changed = [&](Mark mark, const char* field, Duration& from, Duration to,
                             const char* why) {
      source.Changed(mark, here + "." + field, PrintDuration(from), PrintDuration(to), why);
      from = to;
    };
    if (tier.active == Duration::zero()) {
      source.Changed(written.mark, here, "active: 0s", "removed", "a tier that is never active");
      continue;
    }
    if (tier.window > tier.active) {
      changed(written.window, "window", tier.window, tier.active, "longer than the active time");
    }
    if (tier.active % tier.window != Duration::zero()) {
      changed(written.active, "active", tier.active, tier.active - tier.active % tier.window,
              "no multiple of the window");
    }
    normal.push_back(tier);
  }
  return normal;
}

uint64_t LowerToTotal(uint64_t limit, uint64_t total, Mark at, const std::string& path,
                      Source& source) {
  if (limit <= total) return limit;
  source.Changed(at, path, PrintNumber(limit), PrintNumber(total), "above the total");
  return total;
}

}  // namespace weir
