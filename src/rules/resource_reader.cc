#include "rules/resource_reader.h"

#include <algorithm>
#include <unordered_map>

#include "rules/copies_spec.h"
#include "rules/limit_list.h"
#include "rules/scalars.h"
#include "rules/tiers_spec.h"

namespace weir {
namespace {

constexpr std::array<std::string_view, 4> kKeys = {"limits", "tiers", "copies", "overrides"};
constexpr std::array<std::string_view, 4> kOverrideKeys = {"subject", "limits", "tiers", "copies"};

// All but the key, which says whose state it is.
constexpr LimitSpec::Field kOverridable[] = {
    LimitSpec::kName,      LimitSpec::kAlgorithm,    LimitSpec::kLimit,        LimitSpec::kPer,
    LimitSpec::kBurst,     LimitSpec::kAnchor,       LimitSpec::kTimeZone,     LimitSpec::kSlices,
    LimitSpec::kEdge,      LimitSpec::kKeepRejected, LimitSpec::kCoordination, LimitSpec::kShadow,
    LimitSpec::kOnFailure, LimitSpec::kPersist};
// What can be said of a state that one subject shares with others.
constexpr LimitSpec::Field kSharedOverridable[] = {LimitSpec::kName, LimitSpec::kShadow,
                                                   LimitSpec::kOnFailure};

bool IsPerSubject(const LimitSpec& spec) {
  return std::find(spec.key.begin(), spec.key.end(), KeyPart::kSubject) != spec.key.end();
}

class ResourceReader {
 public:
  ResourceReader(const std::string& ns, const std::string& name, Source& source)
      : source_(source), path_("namespaces." + ns + ".resources." + name) {
    resource_.name = name;
    resource_.namespace_name = ns;
  }

  Resource Read(const Node& node) {
    const Fields fields(node, "a resource", kKeys, source_);
    if (const Node* list = fields.FindList("limits")) specs_ = ReadLimitList(*list, source_);
    resource_.limits = BuildLimits(specs_, source_);
    if (const Node* tiers = fields.Find("tiers")) ReadOwnTiers(*tiers);
    if (const Node* copies = fields.Find("copies")) {
      if (fields.Find("limits") != nullptr || fields.Find("tiers") != nullptr) {
        source_.Error(copies->mark,
                      "a resource has either `copies` or rates (`limits`, `tiers`), "
                      "not both");
      }
      ReadOwnCopies(*copies);
    }
    SetIdentities(resource_.limits, resource_.namespace_name, "resource", resource_.name);
    // Of limits that are wrong nothing can be overridden.
    if (const Node* list = fields.FindList("overrides")) ReadOverrides(*list);
    return std::move(resource_);
  }

 private:
  void ReadOwnTiers(const Node& node) {
    tiers_ = ReadTiers(node, path_ + ".tiers", source_);
    for (RuleLimit& limit : BuildTiers(*tiers_, source_)) {
      const auto same = std::find_if(specs_.begin(), specs_.end(), [&](const LimitSpec& spec) {
        return spec.EffectiveName() == limit.name;
      });
      if (same != specs_.end()) {
        source_.Error(same->MarkOf(LimitSpec::kName),
                      "`" + limit.name +
                          "` is the name of a limit that `tiers` makes; give this "
                          "one another `name`");
      }
      resource_.limits.push_back(std::move(limit));
    }
  }

  void ReadOwnCopies(const Node& node) {
    resource_.kind = Resource::Kind::kCopies;
    resource_.copies = ReadCopies(node, path_ + ".copies", source_);
    const auto name = [&](RuleLimit& limit) {
      limit.identity = {resource_.namespace_name, "resource", resource_.name, limit.name};
    };
    name(resource_.copies->per_subject);
    if (resource_.copies->total) name(*resource_.copies->total);
    for (Group& group : resource_.copies->groups) name(group.limit);
  }

  void ReadOverrides(const Node& list) {
    std::unordered_map<std::string_view, Mark> seen;
    resource_.overrides.reserve(list.children.size());
    for (const Child& child : list.children) {
      const Fields fields(*child.node, "an override", kOverrideKeys, source_);
      const Node* at = fields.Require("subject", "subject: user-1235");
      if (at == nullptr) continue;
      auto subject = ReadName(*at, "a subject", source_, kMostSubjectBytes);
      if (!subject) continue;
      const auto [first, is_new] = seen.try_emplace(at->text, at->mark);
      if (!is_new) {
        source_.Error(at->mark, "subject " + Ticked(*subject) +
                                    " has an override already, on line " +
                                    std::to_string(first->second.line));
      }
      resource_.overrides.push_back({std::move(*subject), ReadOverride(fields)});
    }
  }

  std::vector<RuleLimit> ReadOverride(const Fields& fields) {
    const Node *limits = fields.Find("limits"), *tiers = fields.Find("tiers"),
               *copies = fields.Find("copies");
    if (resource_.copies) {
      for (const Node* rate : {limits, tiers}) {
        if (rate == nullptr) continue;
        source_.Error(rate->mark,
                      "this resource is limited by copies; an override says `copies: "
                      "{per_subject: 50}`");
      }
      if (copies == nullptr) return {resource_.copies->per_subject};
      return {ReadCopiesOverride(*copies, OverridePath() + ".copies", *resource_.copies, source_)};
    }
    if (copies != nullptr) {
      source_.Error(copies->mark, "this resource is not limited by copies");
    }
    return ReadRateOverride(fields.FindList("limits"), tiers);
  }

  std::vector<RuleLimit> ReadRateOverride(const Node* limits, const Node* tiers) {
    std::vector<RuleLimit> merged(resource_.limits);
    if (limits != nullptr) ReadLimitOverrides(*limits, merged);
    if (tiers == nullptr) return merged;
    if (!tiers_) {
      source_.Error(tiers->mark, "this resource has no `tiers` to override");
      return merged;
    }
    std::erase_if(merged, [](const RuleLimit& limit) {
      return limit.name == "tiers" || limit.name == "hard_limit" || limit.name == "global_limit";
    });
    TiersSpec spec = ReadTiersOverride(*tiers, OverridePath() + ".tiers", *tiers_, source_);
    std::vector<RuleLimit> built = BuildTiers(spec, source_);
    SetIdentities(built, resource_.namespace_name, "resource", resource_.name);
    std::move(built.begin(), built.end(), std::back_inserter(merged));
    return merged;
  }

  void ReadLimitOverrides(const Node& list, std::vector<RuleLimit>& merged) {
    std::vector<std::string> seen;
    for (const Child& child : list.children) {
      LimitSpec over = ReadLimitSpec(*child.node, kOverridable, "a limit of an override", source_);
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
    if (over.name.empty()) {
      if (!over.Has(LimitSpec::kName))
        source_.Error(over.node->mark,
                      "a limit of an override needs the `name` of "
                      "the limit that it overrides");
      return nullptr;
    }
    for (const LimitSpec& spec : specs_) {
      if (spec.EffectiveName() == over.name) return &spec;
    }
    std::vector<std::string> names;
    for (const LimitSpec& spec : specs_) names.push_back(spec.EffectiveName());
    const std::vector<std::string_view> known(names.begin(), names.end());
    source_.Error(over.MarkOf(LimitSpec::kName), "this resource has no limit `" + over.name +
                                                     "` to override" + Choice(over.name, known));
    return nullptr;
  }

  // A state over several subjects cannot have other numbers for one of them.
  bool CheckShared(const LimitSpec& over) {
    for (size_t i = 0; i < over.at.size(); ++i) {
      const auto field = static_cast<LimitSpec::Field>(i);
      if (!over.Has(field) || (field == LimitSpec::kLimit && over.limit == kUnlimited)) continue;
      if (std::find(std::begin(kSharedOverridable), std::end(kSharedOverridable), field) !=
          std::end(kSharedOverridable)) {
        continue;
      }
      source_.Error(over.MarkOf(field),
                    "limit `" + over.name +
                        "` has no `subject` in its `key`: one state for all, "
                        "of which a subject can only be freed, with `limit: unlimited`");
      return false;
    }
    return true;
  }

  std::string OverridePath() const {
    return path_ + ".overrides[" + std::to_string(resource_.overrides.size()) + "]";
  }

  Source& source_;
  const std::string path_;
  Resource resource_;
  std::vector<LimitSpec> specs_;  // the resource's limits as written
  std::optional<TiersSpec> tiers_;
};

}  // namespace

Resource ReadResource(const Node& node, const std::string& ns, const std::string& name,
                      Source& source) {
  return ResourceReader(ns, name, source).Read(node);
}

}  // namespace weir
