#include "rules/read/limit_list.h"

#include <algorithm>
#include <unordered_map>

namespace weir {
namespace {

constexpr auto kAllFields = [] {
  std::array<LimitSpec::Field, LimitSpec::kFieldCount> all{};
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<LimitSpec::Field>(i);
  return all;
}();

void NoteDoubledNames(const std::vector<LimitSpec>& specs, Source& source) {
  std::unordered_map<std::string, Mark> seen;
  for (const LimitSpec& spec : specs) {
    if (spec.bad && !spec.Has(LimitSpec::kName)) continue;
    const auto [first, is_new] = seen.try_emplace(spec.EffectiveName(), spec.node->mark);
    if (is_new || first->first.empty()) continue;
    source.Error(spec.MarkOf(LimitSpec::kName),
                 "a second limit is called `" + first->first + "`, after the one on line " +
                     std::to_string(first->second.line) + "; give it a `name` of its own");
  }
}

}  // namespace

std::vector<LimitSpec> ReadLimitList(const Node& list, Source& source) {
  std::vector<LimitSpec> specs;
  if (list.children.size() > kMostLimitsInList) {
    source.Error(list.mark, "there are " + std::to_string(list.children.size()) +
                                " limits, and every request would meet all of them; at most " +
                                std::to_string(kMostLimitsInList) + " are allowed");
    return specs;
  }
  for (const Child& child : list.children) {
    specs.push_back(ReadLimitSpec(*child.node, kAllFields, "a limit", source));
  }
  NoteDoubledNames(specs, source);
  return specs;
}

std::vector<RuleLimit> BuildLimits(const std::vector<LimitSpec>& specs, Source& source) {
  std::vector<RuleLimit> limits;
  limits.reserve(specs.size());
  for (const LimitSpec& spec : specs) {
    if (auto limit = BuildRuleLimit(spec, source)) limits.push_back(std::move(*limit));
  }
  return limits;
}

void SetIdentities(std::vector<RuleLimit>& limits, const std::string& ns, std::string_view kind,
                   const std::string& rule) {
  for (RuleLimit& limit : limits) limit.identity = {ns, std::string(kind), rule, limit.name};
}

}  // namespace weir
