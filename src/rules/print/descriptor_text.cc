#include "rules/print/descriptor_text.h"

#include "rules/print/limit_text.h"
#include "rules/read/rate_limit_reader.h"
#include "rules/text/metadata_text.h"
#include "rules/text/scalar_text.h"

namespace weir {
namespace {

// The unit, if `rate_limit` can say the numbers of this limit; else "".
std::string_view WindowUnit(const RuleLimit& limit) {
  const auto* window = std::get_if<FixedWindow>(&limit.limit);
  if (window == nullptr || window->anchor != FixedWindow::Anchor::kEpoch) return "";
  return window->limit > UINT32_MAX ? "" : UnitName(window->per);
}

// What stands beside the numbers and `rate_limit` cannot say.
FieldTexts WeirFields(const RuleLimit& limit) {
  RuleLimit usual;
  usual.key = limit.key;
  usual.shadow = limit.shadow;
  return BesideFields(limit, usual);
}

std::string PrintReplaces(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    text += (text.empty() ? "{name: " : ", {name: ") + PrintScalar(name) + "}";
  }
  return "[" + text + "]";
}

void PrintLimit(const DescriptorRule& rule, Lines& lines) {
  const RuleLimit& limit = *rule.limit;
  const std::string_view unit = WindowUnit(limit);
  FieldTexts fields, weir = WeirFields(limit);
  if (!rule.limit_name.empty()) fields.emplace_back("name", PrintScalar(rule.limit_name));
  if (limit.unlimited && std::holds_alternative<FixedWindow>(limit.limit) && weir.empty()) {
    fields.emplace_back("unlimited", "true");
  } else if (!limit.unlimited && !unit.empty()) {
    fields.emplace_back("unit", unit);
    fields.emplace_back("requests_per_unit", std::to_string(Numbers(limit.limit).most));
  } else {
    const FieldTexts numbers = NumberFields(limit);
    weir.insert(weir.begin(), numbers.begin(), numbers.end());
  }
  if (!rule.replaces.empty()) fields.emplace_back("replaces", PrintReplaces(rule.replaces));
  if (!fields.empty()) lines.Add("rate_limit: " + PrintFlow(fields));
  if (!weir.empty()) lines.Add("weir: " + PrintFlow(weir));
}

void PrintRule(const DescriptorRule& rule, Lines& lines) {
  lines.Add("- key: " + PrintScalar(rule.key));
  lines.Below([&] {
    if (!rule.value.empty()) lines.Add("value: " + PrintScalar(rule.value));
    if (rule.limit) PrintLimit(rule, lines);
    if (rule.shadow_mode) lines.Add("shadow_mode: true");
    if (rule.quota_mode) lines.Add("quota_mode: true");
    if (rule.detailed_metric) lines.Add("detailed_metric: true");
    if (rule.value_to_metric) lines.Add("value_to_metric: true");
    if (rule.share_threshold) lines.Add("share_threshold: true");
    if (rule.metadata) lines.Add("metadata: " + PrintMetadata(*rule.metadata));
    PrintDescriptors(rule.descriptors, lines);
  });
}

}  // namespace

void PrintDescriptors(const std::vector<DescriptorRule>& rules, Lines& lines) {
  if (rules.empty()) return;
  lines.Add("descriptors:");
  lines.Below([&] {
    for (const DescriptorRule& rule : rules) PrintRule(rule, lines);
  });
}

}  // namespace weir
