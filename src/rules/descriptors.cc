#include "rules/descriptors.h"

namespace weir {
namespace {

uint64_t HashKey(uint32_t parent, std::string_view key) {
  return HashName(key, (parent + 1) * name_hash::kOdd2);
}

uint64_t HashExact(uint32_t parent, std::string_view key, std::string_view value) {
  return HashName(value, HashKey(parent, key));
}

}  // namespace

DescriptorIndex::DescriptorIndex(std::span<const DescriptorRule> rules) {
  if (rules.empty()) return;
  rules_.push_back({});
  Collect(rules, kRoot);
  exact_ = NameTable(rules_.size());
  by_key_ = NameTable(rules_.size());
  for (uint32_t id = 1; id < rules_.size(); ++id) Place(id);
}

void DescriptorIndex::Collect(std::span<const DescriptorRule> rules, uint32_t parent) {
  for (const DescriptorRule& rule : rules) {
    const auto id = static_cast<uint32_t>(rules_.size());
    rules_.push_back({&rule, parent});
    Collect(rule.descriptors, id);
  }
}

void DescriptorIndex::Place(uint32_t id) {
  const auto& [rule, parent] = rules_[id];
  if (!rule->value.empty() && !rule->IsPattern()) {
    exact_.Add(HashExact(parent, rule->key, rule->value), id);
    return;
  }
  uint32_t at = FindBranch(parent, rule->key);
  if (at == NameTable::kNone) {
    at = static_cast<uint32_t>(branches_.size());
    branches_.push_back({parent, rule->key, {}, NameTable::kNone});
    by_key_.Add(HashKey(parent, rule->key), at);
  }
  if (rule->value.empty()) {
    branches_[at].any = id;
  } else {
    branches_[at].patterns.push_back(id);
  }
}

const DescriptorRule* DescriptorIndex::Find(std::span<const DescriptorEntry> entries) const {
  if (rules_.empty()) return nullptr;
  uint32_t at = kRoot;
  for (const DescriptorEntry& entry : entries) {
    at = FindBelow(at, entry);
    if (at == NameTable::kNone) return nullptr;
  }
  return rules_[at].rule;
}

uint32_t DescriptorIndex::FindBelow(uint32_t parent, const DescriptorEntry& entry) const {
  const uint32_t exact = exact_.Find(HashExact(parent, entry.key, entry.value), [&](uint32_t id) {
    const Rule& rule = rules_[id];
    return rule.parent == parent && SameName(rule.rule->key, entry.key) &&
           SameName(rule.rule->value, entry.value);
  });
  if (exact != NameTable::kNone) return exact;
  const uint32_t branch = FindBranch(parent, entry.key);
  if (branch == NameTable::kNone) return NameTable::kNone;
  for (const uint32_t id : branches_[branch].patterns) {
    if (FitsPattern(rules_[id].rule->value, entry.value)) return id;
  }
  return branches_[branch].any;
}

uint32_t DescriptorIndex::FindBranch(uint32_t parent, std::string_view key) const {
  return by_key_.Find(HashKey(parent, key), [&](uint32_t at) {
    return branches_[at].parent == parent && SameName(branches_[at].key, key);
  });
}

bool FitsPattern(std::string_view pattern, std::string_view value) {
  size_t p = 0, v = 0, star = std::string_view::npos, retry = 0;
  while (v < value.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      retry = v;
    } else if (p < pattern.size() && pattern[p] == value[v]) {
      ++p, ++v;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      v = ++retry;  // the last star takes one more
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace weir
