#include "rules/print/limit_text.h"

#include "rules/read/coordination.h"
#include "rules/read/limit_spec.h"
#include "rules/text/scalar_text.h"

namespace weir {
namespace {

template <typename Enum, size_t n>
std::string Word(Enum value, const std::array<std::string_view, n>& words) {
  return std::string(words[static_cast<size_t>(value)]);
}

std::string Flag(bool flag) { return flag ? "true" : "false"; }

std::string PrintCalendarUnit(Calendar::Unit unit) {
  switch (unit) {
    case Calendar::Unit::kDay: return "1d";
    case Calendar::Unit::kWeek: return "1w";
    case Calendar::Unit::kMonth: return "1mo";
    case Calendar::Unit::kYear: return "1y";
  }
  __builtin_unreachable();
}

void AddNumbers(const TokenBucket& a, FieldTexts& fields) {
  fields.emplace_back("burst", std::to_string(a.burst));
}
void AddNumbers(const FixedWindow& a, FieldTexts& fields) {
  fields.emplace_back("anchor", Word(a.anchor, kAnchorWords));
  if (a.calendar == nullptr) return;
  fields[2].second = PrintCalendarUnit(a.calendar->unit());
  fields.emplace_back("time_zone", PrintScalar(a.calendar->time_zone()));
}
void AddNumbers(const SlidingLog& a, FieldTexts& fields) {
  fields.emplace_back("keep_rejected", Flag(a.keep_rejected));
}
void AddNumbers(const SlidingWindow& a, FieldTexts& fields) {
  fields.emplace_back("slices", std::to_string(a.slices));
  fields.emplace_back("edge", Word(a.edge, kEdgeWords));
}
void AddNumbers(const BurstTiers&, FieldTexts&) {}
void AddNumbers(const Copies&, FieldTexts&) {}

std::string PrintKey(const std::vector<KeyPart>& key) {
  std::string text;
  for (const KeyPart part : key) text += (text.empty() ? "" : ", ") + Word(part, kKeyPartWords);
  return "[" + text + "]";
}

}  // namespace

FieldTexts NumberFields(const RuleLimit& limit) {
  FieldTexts fields;
  fields.emplace_back("algorithm", AlgorithmName(limit.limit));
  if (limit.unlimited) {
    fields.emplace_back("limit", "unlimited");
    return fields;
  }
  const LimitNumbers numbers = Numbers(limit.limit);
  fields.emplace_back("limit", std::to_string(numbers.most));
  fields.emplace_back("per", PrintDuration(numbers.per));
  std::visit([&](const auto& a) { AddNumbers(a, fields); }, limit.limit);
  return fields;
}

FieldTexts BesideFields(const RuleLimit& limit, const RuleLimit& usual) {
  FieldTexts fields;
  const auto add = [&](std::string_view name, const std::string& text, const std::string& other) {
    if (text != other) fields.emplace_back(name, text);
  };
  add("key", PrintKey(limit.key), PrintKey(usual.key));
  // What the namespace gives is said there.
  if (limit.own_coordination != usual.own_coordination ||
      (limit.own_coordination && limit.coordination != usual.coordination)) {
    fields.emplace_back("coordination", PrintCoordination(limit.coordination));
  }
  add("shadow", Flag(limit.shadow), Flag(usual.shadow));
  add("on_failure", Word(limit.on_failure, kOnFailureWords),
      Word(usual.on_failure, kOnFailureWords));
  add("persist", Flag(limit.persist), Flag(usual.persist));
  return fields;
}

std::string PrintFlow(const FieldTexts& fields) {
  std::string text;
  for (const auto& [name, value] : fields) {
    text += (text.empty() ? "" : ", ") + std::string(name) + ": " + value;
  }
  return "{" + text + "}";
}

}  // namespace weir
