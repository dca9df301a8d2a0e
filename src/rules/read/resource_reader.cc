#include "rules/read/resource_reader.h"

#include <algorithm>

#include "rules/read/copies_spec.h"
#include "rules/read/limit_list.h"
#include "rules/read/override_reader.h"
#include "rules/read/tiers_spec.h"

namespace weir {
namespace {

void CheckNamesBesideTiers(const std::vector<LimitSpec>& specs, Source& source) {
  for (const LimitSpec& spec : specs) {
    if (!IsNameOfTiers(spec.EffectiveName())) continue;
    source.Error(spec.MarkOf(LimitSpec::kName),
                 "`" + spec.name + "` is the name of a limit that `tiers` makes; give this one " +
                     "another `name`");
  }
}

CopyRules ReadOwnCopies(const Node& node, const Resource& resource, const std::string& path,
                        Source& source) {
  CopyRules copies = ReadCopies(node, path + ".copies", source);
  const auto name = [&](RuleLimit& limit) {
    limit.identity = {resource.namespace_name, "resource", resource.name, limit.name};
  };
  name(copies.per_subject);
  if (copies.total) name(*copies.total);
  for (Group& group : copies.groups) name(group.limit);
  return copies;
}

}  // namespace

Resource ReadResource(const Node& node, const std::string& ns, const std::string& name,
                      Source& source) {
  Resource resource;
  resource.name = name;
  resource.namespace_name = ns;
  const std::string path = "namespaces." + ns + ".resources." + name;
  std::vector<LimitSpec> specs;
  std::optional<TiersSpec> tiers;
  const Fields fields(node, "a resource", kResourceKeys, source);
  if (const Node* list = fields.FindList("limits")) specs = ReadLimitList(*list, source);
  resource.limits = BuildLimits(specs, source);
  if (const Node* at = fields.Find("tiers")) {
    CheckNamesBesideTiers(specs, source);
    tiers = ReadTiers(*at, path + ".tiers", source);
    auto built = BuildTiers(*tiers, source);
    std::move(built.begin(), built.end(), std::back_inserter(resource.limits));
  }
  SetIdentities(resource.limits, ns, "resource", name);
  if (const Node* at = fields.Find("copies")) {
    if (fields.Find("limits") != nullptr || fields.Find("tiers") != nullptr) {
      source.Error(at->mark,
                   "a resource has either `copies` or rates (`limits`, `tiers`), not both");
    }
    resource.kind = Resource::Kind::kCopies;
    resource.copies = ReadOwnCopies(*at, resource, path, source);
  }
  if (const Node* list = fields.FindList("overrides")) {
    resource.overrides = ReadOverrides(*list, {resource, specs, tiers, path}, source);
  }
  return resource;
}

}  // namespace weir
