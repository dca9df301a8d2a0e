#include "tests/rules/same_rules.h"

#include <algorithm>

namespace weir {
namespace {

bool Same(const RuleLimit& a, const RuleLimit& b) {
  return a.name == b.name && a.identity == b.identity && a.unlimited == b.unlimited &&
         (a.unlimited ? a.limit.index() == b.limit.index() : SameNumbers(a.limit, b.limit)) &&
         a.key == b.key && a.coordination == b.coordination &&
         a.own_coordination == b.own_coordination && a.on_failure == b.on_failure &&
         a.shadow == b.shadow && a.persist == b.persist && a.only_for == b.only_for &&
         a.of_tiers == b.of_tiers && a.index == b.index;
}

bool Same(const Override& a, const Override& b);
bool Same(const Group& a, const Group& b);
bool Same(const CopyRules& a, const CopyRules& b);
bool Same(const Contract& a, const Contract& b);
bool Same(const Resource& a, const Resource& b);
bool Same(const DescriptorRule& a, const DescriptorRule& b);

template <typename T>
bool Same(const std::vector<T>& a, const std::vector<T>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!Same(a[i], b[i])) return false;
  }
  return true;
}
template <typename T>
bool Same(const std::optional<T>& a, const std::optional<T>& b) {
  return a.has_value() == b.has_value() && (!a || Same(*a, *b));
}

bool Same(const Override& a, const Override& b) {
  return a.subject == b.subject && Same(a.limits, b.limits);
}
bool Same(const Group& a, const Group& b) {
  return a.name == b.name && a.others == b.others && a.subjects == b.subjects &&
         Same(a.limit, b.limit);
}
bool Same(const CopyRules& a, const CopyRules& b) {
  return Same(a.per_subject, b.per_subject) && Same(a.total, b.total) && Same(a.groups, b.groups);
}
bool Same(const Contract& a, const Contract& b) {
  return a.name == b.name && a.subjects == b.subjects && Same(a.limits, b.limits);
}
bool Same(const Resource& a, const Resource& b) {
  return a.name == b.name && a.namespace_name == b.namespace_name && a.kind == b.kind &&
         a.index == b.index && Same(a.limits, b.limits) && Same(a.copies, b.copies) &&
         Same(a.overrides, b.overrides);
}
bool Same(const DescriptorRule& a, const DescriptorRule& b) {
  return a.key == b.key && a.value == b.value && Same(a.limit, b.limit) &&
         a.limit_name == b.limit_name && a.replaces == b.replaces &&
         a.shadow_mode == b.shadow_mode && a.quota_mode == b.quota_mode &&
         a.detailed_metric == b.detailed_metric && a.value_to_metric == b.value_to_metric &&
         a.share_threshold == b.share_threshold && a.metadata == b.metadata && a.keyed == b.keyed &&
         Same(a.descriptors, b.descriptors);
}

std::string Difference(const NamespaceTerms& a, const NamespaceTerms& b) {
  if (a.name != b.name) return "names " + a.name + " " + b.name;
  if (a.allow_unconfigured != b.allow_unconfigured) return "unconfigured";
  if (a.enforcement != b.enforcement) return "enforcement";
  if (a.coordination != b.coordination) return "coordination";
  if (a.default_contract != b.default_contract) return "default_contract";
  if (!Same(a.contracts, b.contracts)) return "contracts";
  return Same(a.descriptors, b.descriptors) ? "" : "descriptors";
}

}  // namespace

std::string Difference(const Rulebook& a, const Rulebook& b) {
  if (a.namespaces().size() != b.namespaces().size()) return "how many namespaces";
  if (a.all().size() != b.all().size()) return "how many limits";
  for (size_t i = 0; i < a.namespaces().size(); ++i) {
    const auto one = a.namespaces()[i], other = b.namespaces()[i];
    std::string found = Difference(one.terms, other.terms);
    const auto ours = one.resources(), theirs = other.resources();
    bool same = ours.size() == theirs.size();
    for (size_t j = 0; same && j < ours.size(); ++j) same = Same(ours[j], theirs[j]);
    if (found.empty() && !same) found = "resources";
    if (!found.empty()) return one.terms.name + ": " + found;
  }
  return "";
}

}  // namespace weir
