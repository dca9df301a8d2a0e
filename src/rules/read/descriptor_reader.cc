#include "rules/read/descriptor_reader.h"

#include <map>

#include "rules/read/fields.h"
#include "rules/read/rate_limit_reader.h"
#include "rules/text/metadata_text.h"
#include "rules/text/scalars.h"

namespace weir {
namespace {

constexpr size_t kMostBytes = 1024;
constexpr uint32_t kMostDepth = 24;  // so that `keyed` has room, and what is printed can be read

// What a rule inherits from those above it.
struct Above {
  std::string name;  // "" at the root
  uint64_t keyed = 0;
  uint32_t depth = 0;
};

// A part of a rule's name: what separates the parts is escaped.
std::string Escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '%')
      escaped += "%25";
    else if (c == '|')
      escaped += "%7C";
    else if (c == '=')
      escaped += "%3D";
    else
      escaped += c;
  }
  return escaped;
}

// "key=value|key|key=pattern*": names the rule among those of its namespace.
std::string RuleName(const Above& above, const DescriptorRule& rule) {
  std::string name = above.name.empty() ? "" : above.name + "|";
  name += Escaped(rule.key);
  return rule.value.empty() ? name : name + "=" + Escaped(rule.value);
}

class DescriptorReader {
 public:
  DescriptorReader(const std::string& ns, Source& source) : ns_(ns), source_(source) {}

  std::vector<DescriptorRule> ReadList(const Node& list, const Above& above) {
    std::vector<DescriptorRule> rules;
    std::map<std::pair<std::string, std::string>, Mark> seen;
    rules.reserve(list.children.size());
    for (const Child& child : list.children) {
      DescriptorRule rule = ReadRule(*child.node, above);
      if (rule.key.empty()) continue;
      const auto [first, is_new] = seen.try_emplace({rule.key, rule.value}, child.node->mark);
      if (!is_new) {
        source_.Error(child.node->mark,
                      "a second rule with the same key and value, after the one "
                      "on line " +
                          std::to_string(first->second.line));
      }
      rules.push_back(std::move(rule));
    }
    return rules;
  }

 private:
  DescriptorRule ReadRule(const Node& node, const Above& above) {
    DescriptorRule rule;
    const Fields fields(node, "a descriptor", kDescriptorKeys, source_);
    if (const Node* at = fields.Require("key", "key: remote_address")) {
      rule.key = ReadName(*at, "a descriptor's key", source_, kMostBytes).value_or("");
    }
    ReadValue(fields, rule);
    ReadFlags(fields, rule);
    ReadRateLimit(fields.Find("rate_limit"), fields.Find("weir"), rule, source_);
    if (const Node* at = fields.FindMap("metadata")) rule.metadata = ReadMetadata(*at, source_);
    const bool keeps_apart = rule.value.empty() || (rule.IsPattern() && !rule.share_threshold);
    rule.keyed = above.keyed | (keeps_apart ? uint64_t{1} << above.depth : 0);
    if (rule.limit) Finish(above, rule);
    if (const Node* list = fields.FindList("descriptors")) {
      const Above here{RuleName(above, rule), rule.keyed, above.depth + 1};
      if (here.depth < kMostDepth) {
        rule.descriptors = ReadList(*list, here);
      } else {
        source_.Error(list->mark,
                      "descriptors are nested more than " + std::to_string(kMostDepth) + " deep");
      }
    }
    return rule;
  }

  void ReadValue(const Fields& fields, DescriptorRule& rule) {
    const Node* at = fields.Find("value");
    if (at == nullptr || at->IsNull() || (at->IsScalar() && at->text.empty())) return;
    rule.value = ReadName(*at, "a descriptor's value", source_, kMostBytes).value_or("");
  }

  void ReadFlags(const Fields& fields, DescriptorRule& rule) {
    const auto read = [&](std::string_view name, bool& flag) {
      const Node* at = fields.Find(name);
      if (at != nullptr) flag = ReadFlag(*at, name, source_).value_or(false);
    };
    read("shadow_mode", rule.shadow_mode);
    read("quota_mode", rule.quota_mode);
    read("detailed_metric", rule.detailed_metric);
    read("value_to_metric", rule.value_to_metric);
    read("share_threshold", rule.share_threshold);
    if (rule.share_threshold && !rule.IsPattern()) {
      source_.Error(fields.Find("share_threshold")->mark,
                    "`share_threshold` goes only with a `value` that has a `*`: all that fit it "
                    "share one counter");
    }
  }

  void Finish(const Above& above, DescriptorRule& rule) {
    const std::string name = RuleName(above, rule);
    rule.limit->name = rule.limit_name.empty() ? name : rule.limit_name;
    // The one limit of its rule, whatever it is called.
    rule.limit->identity = {ns_, "descriptor", name, "rate_limit"};
    rule.limit->key.clear();
    rule.limit->shadow = rule.shadow_mode;
  }

  const std::string& ns_;
  Source& source_;
};

}  // namespace

std::vector<DescriptorRule> ReadDescriptors(const Node& list, const std::string& ns,
                                            Source& source) {
  return DescriptorReader(ns, source).ReadList(list, {});
}

}  // namespace weir
