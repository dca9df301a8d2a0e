// Descriptor rules: the tree of envoyproxy/ratelimit.
//
// A request's descriptor is a list of (key, value) entries; a path from the root of the tree is a
// list of rules. At each level the entry picks, among the rules below the one picked before:
//
//   1. the one with its key and exactly its value,
//   2. else the first in the file with its key and a pattern (`*` anywhere) that its value fits,
//   3. else the one with its key and no value,
//
// and what was picked is not reconsidered, whatever lies below it. The rule picked by the last
// entry is the match: its limit applies, a rule above it does not count.
//
// A rule without value keeps one counter per value, and so does a pattern, unless its values share
// the threshold. `keyed` says of which entries on the way the value belongs to the counter's key;
// exact values and shared patterns are in the identity of the limit, as part of the rule's name.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rules/metadata.h"
#include "rules/name_table.h"
#include "rules/rule_limit.h"
#include "weir/descriptor.h"

namespace weir {

struct DescriptorRule {
  std::string key;
  std::string value;                  // empty: any value
  std::optional<RuleLimit> limit;     // none: the rule is free
  std::string limit_name;             // as given in the file, for `replaces` and answers; or empty
  std::vector<std::string> replaces;  // names of limits that do not count when this one matches
  bool shadow_mode = false;           // also in limit->shadow
  bool quota_mode = false;
  bool detailed_metric = false;
  bool value_to_metric = false;
  bool share_threshold = false;
  std::optional<Metadata> metadata;  // a map
  uint64_t keyed = 0;  // bit i: the value of the i-th entry belongs to the counter's key
  std::vector<DescriptorRule> descriptors;

  bool IsPattern() const { return value.find('*') != std::string::npos; }
};

// The rules of one namespace, for matching. Points into them: they must stay where they are.
class DescriptorIndex {
 public:
  DescriptorIndex() = default;
  explicit DescriptorIndex(std::span<const DescriptorRule> rules);

  // Null if nothing matches. Allocates nothing.
  const DescriptorRule* Find(std::span<const DescriptorEntry> entries) const;

 private:
  static constexpr uint32_t kRoot = 0;  // below it hang the rules of the first level

  struct Rule {
    const DescriptorRule* rule = nullptr;
    uint32_t parent = kRoot;
  };
  // The rules below one parent with one key that have no single value.
  struct Branch {
    uint32_t parent;
    std::string_view key;
    std::vector<uint32_t> patterns;  // in the order of the file
    uint32_t any = NameTable::kNone;
  };

  void Collect(std::span<const DescriptorRule> rules, uint32_t parent);
  void Place(uint32_t id);
  uint32_t FindBelow(uint32_t parent, const DescriptorEntry& entry) const;
  uint32_t FindBranch(uint32_t parent, std::string_view key) const;

  std::vector<Rule> rules_;  // the first is the root
  std::vector<Branch> branches_;
  NameTable exact_;   // (parent, key, value) -> rules_
  NameTable by_key_;  // (parent, key) -> branches_
};

// `*` stands for any text, also for none.
bool FitsPattern(std::string_view pattern, std::string_view value);

}  // namespace weir
