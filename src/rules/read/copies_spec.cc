#include "rules/read/copies_spec.h"

#include <unordered_set>

#include "rules/read/fields.h"
#include "rules/read/limit_spec.h"
#include "rules/read/normalise.h"
#include "rules/read/subjects.h"
#include "rules/text/scalars.h"

namespace weir {
namespace {

constexpr LimitSpec::Field kBeside[] = {LimitSpec::kCoordination, LimitSpec::kShadow,
                                        LimitSpec::kOnFailure};

// Copies of `limit`, at most `total`.
RuleLimit Build(std::string name, const Node& number, std::string_view field, uint64_t total,
                const std::string& path, std::vector<KeyPart> key, Source& source) {
  RuleLimit rule;
  rule.name = std::move(name);
  rule.key = std::move(key);
  const uint64_t limit = LowerToTotal(ReadLimitNumber(number, field, source).value_or(0), total,
                                      number.mark, path + "." + std::string(field), source);
  rule.unlimited = limit == kUnlimited;
  rule.limit = Copies{rule.unlimited ? 0 : limit};
  return rule;
}

uint64_t TotalOf(const CopyRules& copies) {
  return copies.total ? std::get<Copies>(copies.total->limit).limit : kUnlimited;
}

Group ReadGroup(const Node& node, uint64_t total, const std::string& path, Source& source) {
  Group group;
  const Fields fields(node, "a group", kGroupKeys, source);
  if (const Node* at = fields.Require("name", "name: trial")) {
    // The limit's name has a prefix.
    constexpr size_t kMost = kMostNameBytes - std::string_view("group:").size();
    group.name = ReadName(*at, "a group's name", source, kMost).value_or("");
  }
  if (const Node* at = fields.Require("limit", "limit: 10")) {
    group.limit = Build("group:" + group.name, *at, "limit", total, path, {}, source);
  }
  if (const Node* at = fields.Find("others")) {
    group.others = ReadFlag(*at, "others", source).value_or(false);
  }
  if (const Node* at = fields.FindList("subjects")) group.subjects = ReadSubjects(*at, source);
  if (fields.is_map() && group.others == (fields.Find("subjects") != nullptr)) {
    source.Error(node.mark, "a group needs either `subjects: [ann, bob]` or `others: true`");
  }
  return group;
}

void ReadGroups(const Node& list, const std::string& path, CopyRules& copies, Source& source) {
  std::unordered_set<std::string> names;
  bool others = false;
  for (const Child& child : list.children) {
    const std::string here = path + ".groups[" + std::to_string(copies.groups.size()) + "]";
    Group group = ReadGroup(*child.node, TotalOf(copies), here, source);
    if (!group.name.empty() && !names.insert(group.name).second) {
      source.Error(child.node->mark, "a second group is called `" + group.name + "`");
    }
    if (group.others && others) {
      source.Error(child.node->mark, "only one group can have `others: true`");
    }
    others = others || group.others;
    copies.groups.push_back(std::move(group));
  }
}

// The same beside every limit; notes a mistake once.
void SetAllBeside(const LimitSpec& beside, CopyRules& copies, Source& source) {
  const auto set = [&](RuleLimit& rule) {
    const std::vector<KeyPart> key = rule.key;
    const size_t errors = source.error_count();
    SetBeside(beside, rule, source);
    rule.key = key;
    return source.error_count() == errors;
  };
  if (!set(copies.per_subject)) return;
  if (copies.total) set(*copies.total);
  for (Group& group : copies.groups) set(group.limit);
}

}  // namespace

CopyRules ReadCopies(const Node& node, const std::string& path, Source& source) {
  CopyRules copies;
  copies.per_subject.limit = Copies{};
  LimitSpec beside;
  beside.node = &node;
  const Fields fields(node, "`copies`", kCopiesKeys, source);
  ReadLimitFields(fields, kBeside, beside, source);
  if (const Node* at = fields.Find("total")) {
    RuleLimit total = Build("total", *at, "total", kUnlimited, path, {}, source);
    if (!total.unlimited) copies.total = std::move(total);
  }
  if (const Node* at = fields.Require("per_subject", "per_subject: 5")) {
    copies.per_subject = Build("per_subject", *at, "per_subject", TotalOf(copies), path,
                               {KeyPart::kSubject}, source);
  }
  if (const Node* list = fields.FindList("groups")) ReadGroups(*list, path, copies, source);
  SetAllBeside(beside, copies, source);
  return copies;
}

RuleLimit ReadCopiesOverride(const Node& node, const std::string& path, const CopyRules& base,
                             Source& source) {
  RuleLimit rule = base.per_subject;
  const Fields fields(node, "the `copies` of an override", kCopiesOverrideKeys, source);
  const Node* at = fields.Require("per_subject", "per_subject: 50");
  if (at == nullptr) return rule;
  RuleLimit number = Build(rule.name, *at, "per_subject", TotalOf(base), path, rule.key, source);
  rule.limit = number.limit;
  rule.unlimited = number.unlimited;
  return rule;
}

}  // namespace weir
