// The rules of a namespace, as they are once they were read and found right.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "rules/descriptors.h"
#include "rules/rule_limit.h"

namespace weir {

// What a resource's limits are for one subject.
struct Override {
  std::string subject;
  std::vector<RuleLimit> limits;  // merged; of a copy-limited resource: per_subject alone
};

// Copies for some subjects together. Its limit is named "group:NAME".
struct Group {
  std::string name;
  bool others = false;  // the subjects that are in no other group
  std::vector<std::string> subjects;
  RuleLimit limit;
};

struct CopyRules {
  RuleLimit per_subject;
  std::optional<RuleLimit> total;
  std::vector<Group> groups;
};

struct Resource {
  enum class Kind { kRate, kCopies };
  std::string name;
  std::string namespace_name;
  Kind kind = Kind::kRate;
  // kRate: in the order of the file, then "tiers", "hard_limit" and "global_limit" if it has them.
  std::vector<RuleLimit> limits;
  std::optional<CopyRules> copies;  // kCopies
  std::vector<Override> overrides;
  uint32_t index = 0;  // its number in the rulebook, and in those that share it
};

struct Contract {
  std::string name;
  std::vector<std::string> subjects;
  std::vector<RuleLimit> limits;
};

// What a namespace says beside its resources.
struct NamespaceTerms {
  std::string name;
  bool allow_unconfigured = false;  // unconfigured: allow
  Enforcement enforcement = Enforcement::kOn;
  std::string default_contract;  // empty: none
  // Of limits that say nothing themselves, and of those that requests carry; none: not said here.
  std::optional<Coordination> coordination;
  std::vector<Contract> contracts;
  std::vector<DescriptorRule> descriptors;
};

// As it is read.
struct Namespace : NamespaceTerms {
  std::vector<Resource> resources;
};

// Every limit of a resource, and of what a namespace says beside its resources.
template <typename ResourceOrConst, typename See>
requires std::same_as<std::remove_const_t<ResourceOrConst>, Resource>
void ForEachLimit(ResourceOrConst& resource, const See& see) {
  for (auto& limit : resource.limits) see(limit);
  if (resource.copies) {
    see(resource.copies->per_subject);
    if (resource.copies->total) see(*resource.copies->total);
    for (auto& group : resource.copies->groups) see(group.limit);
  }
  for (auto& one : resource.overrides) {
    for (auto& limit : one.limits) see(limit);
  }
}

template <typename Rules, typename See>
void ForEachDescriptorLimit(Rules& rules, const See& see) {
  for (auto& rule : rules) {
    if (rule.limit) see(*rule.limit);
    ForEachDescriptorLimit(rule.descriptors, see);
  }
}

template <typename TermsOrConst, typename See>
requires std::same_as<std::remove_const_t<TermsOrConst>, NamespaceTerms>
void ForEachLimit(TermsOrConst& terms, const See& see) {
  for (auto& contract : terms.contracts) {
    for (auto& limit : contract.limits) see(limit);
  }
  ForEachDescriptorLimit(terms.descriptors, see);
}

}  // namespace weir
