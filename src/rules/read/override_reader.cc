#include "rules/read/override_reader.h"

#include <algorithm>
#include <unordered_map>

#include "rules/read/copies_spec.h"
#include "rules/read/limit_list.h"
#include "rules/text/scalars.h"

namespace weir {
namespace {

// What can be said of a state that one subject shares with others.
constexpr LimitSpec::Field kSharedOverridable[] = {LimitSpec::kName, LimitSpec::kShadow,
                                                   LimitSpec::kOnFailure};

bool IsPerSubject(const LimitSpec& spec) {
  return std::find(spec.key.begin(), spec.key.end(), KeyPart::kSubject) != spec.key.end();
}

bool IsSharedOverridable(const LimitSpec& over, LimitSpec::Field field) {
  if (field == LimitSpec::kLimit) return over.limit == kUnlimited;
  return std::find(std::begin(kSharedOverridable), std::end(kSharedOverridable), field) !=
         std::end(kSharedOverridable);
}

// Reads one override after another.
class OverrideReader {
 public:
  OverrideReader(const OverrideBase& base, Source& source) : base_(base), source_(source) {}

  std::vector<Override> ReadAll(const Node& list) {
    std::vector<Override> overrides;
    overrides.reserve(list.children.size());
    for (const Child& child : list.children) {
      place_ = overrides.size();
      const Fields fields(*child.node, "an override", kOverrideKeys, source_);
      const auto subject = ReadSubject(fields);
      if (!subject) continue;
      source_.TakeLimits(std::max<size_t>(1, base_.resource.limits.size()), child.node->mark);
      overrides.push_back({*subject, ReadOne(fields)});
    }
    return overrides;
  }

 private:
  std::optional<std::string> ReadSubject(const Fields& fields) {
    const Node* at = fields.Require("subject", "subject: user-1235");
    if (at == nullptr) return std::nullopt;
    auto subject = ReadName(*at, "a subject", source_, kMostSubjectBytes);
    if (!subject) return std::nullopt;
    const auto [first, is_new] = seen_.try_emplace(at->text, at->mark);
    if (!is_new) {
      source_.Error(at->mark, "subject " + Ticked(*subject) + " has an override already, on line " +
                                  std::to_string(first->second.line));
    }
    return subject;
  }

  std::vector<RuleLimit> ReadOne(const Fields& fields) {
    const Node *limits = fields.Find("limits"), *tiers = fields.Find("tiers"),
               *copies = fields.Find("copies");
    if (!base_.resource.copies) {
      if (copies != nullptr) source_.Error(copies->mark, "this resource is not limited by copies");
      return ReadRates(fields.FindList("limits"), tiers);
    }
    for (const Node* rate : {limits, tiers}) {
      if (rate == nullptr) continue;
      source_.Error(rate->mark,
                    "this resource is limited by copies; an override says "
                    "`copies: {per_subject: 50}`");
    }
    if (copies == nullptr) return {base_.resource.copies->per_subject};
    return {ReadCopiesOverride(*copies, Path() + ".copies", *base_.resource.copies, source_)};
  }

  std::vector<RuleLimit> ReadRates(const Node* limits, const Node* tiers) {
    std::vector<RuleLimit> merged(base_.resource.limits);
    if (limits != nullptr) ReadLimits(*limits, merged);
    if (tiers == nullptr) return merged;
    if (!base_.tiers) {
      source_.Error(tiers->mark, "this resource has no `tiers` to override");
      return merged;
    }
    std::erase_if(merged, [](const RuleLimit& limit) { return IsNameOfTiers(limit.name); });
    TiersSpec spec = ReadTiersOverride(*tiers, Path() + ".tiers", *base_.tiers, source_);
    std::vector<RuleLimit> built = BuildTiers(spec, source_);
    SetIdentities(built, base_.resource.namespace_name, "resource", base_.resource.name);
    std::move(built.begin(), built.end(), std::back_inserter(merged));
    return merged;
  }

  void ReadLimits(const Node& list, std::vector<RuleLimit>& merged) {
    std::vector<std::string> seen;
    for (const Child& child : list.children) {
      const LimitSpec over =
          ReadLimitSpec(*child.node, kOverridable, "a limit of an override", source_);
      const LimitSpec* base = FindBase(over);
      if (base == nullptr) continue;
      if (std::find(seen.begin(), seen.end(), over.name) != seen.end()) {
        source_.Error(over.MarkOf(LimitSpec::kName),
                      "limit `" + over.name + "` is twice in this override");
      }
      seen.push_back(over.name);
      if (!IsPerSubject(*base) && !CheckShared(over)) continue;
      auto built = BuildRuleLimit(LaidOver(*base, over), source_);
      const auto place = std::find_if(merged.begin(), merged.end(), [&](const RuleLimit& limit) {
        return limit.name == over.name;
      });
      if (!built || place == merged.end()) continue;
      built->name = over.name;
      built->identity = place->identity;
      *place = std::move(*built);
    }
  }

  // The limit that is overridden; null, with an error noted, if there is none.
  const LimitSpec* FindBase(const LimitSpec& over) {
    if (!over.Has(LimitSpec::kName)) {
      source_.Error(over.node->mark,
                    "a limit of an override needs the `name` of the limit that it overrides");
    }
    if (over.name.empty()) return nullptr;
    std::vector<std::string> names;
    for (const LimitSpec& spec : base_.limits) {
      names.push_back(spec.EffectiveName());
      if (names.back() == over.name) return &spec;
    }
    const std::vector<std::string_view> known(names.begin(), names.end());
    source_.Error(over.MarkOf(LimitSpec::kName), "this resource has no limit `" + over.name +
                                                     "` to override" + Choice(over.name, known));
    return nullptr;
  }

  // A state over several subjects cannot have other numbers for one of them.
  bool CheckShared(const LimitSpec& over) {
    for (size_t i = 0; i < over.at.size(); ++i) {
      const auto field = static_cast<LimitSpec::Field>(i);
      if (!over.Has(field) || IsSharedOverridable(over, field)) continue;
      source_.Error(over.MarkOf(field),
                    "limit `" + over.name + "` has no `subject` in its `key`, so it is one state " +
                        "for all; a subject can only be freed of it, with `limit: unlimited`");
      return false;
    }
    return true;
  }

  std::string Path() const { return base_.path + ".overrides[" + std::to_string(place_) + "]"; }

  const OverrideBase& base_;
  Source& source_;
  size_t place_ = 0;  // of the override that is being read
  std::unordered_map<std::string_view, Mark> seen_;
};

}  // namespace

std::vector<Override> ReadOverrides(const Node& list, const OverrideBase& base, Source& source) {
  return OverrideReader(base, source).ReadAll(list);
}

}  // namespace weir
