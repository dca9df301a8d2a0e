#include "rules/read/rate_limit_reader.h"

#include <algorithm>
#include <array>

#include "rules/read/limit_spec.h"
#include "rules/text/scalars.h"

namespace weir {
namespace {

struct NamedUnit {
  std::string_view name;
  Duration length;
};
constexpr std::array<NamedUnit, 7> kNamedUnits = {{{"second", std::chrono::seconds(1)},
                                                   {"minute", std::chrono::minutes(1)},
                                                   {"hour", std::chrono::hours(1)},
                                                   {"day", kOneDay},
                                                   {"week", kOneWeek},
                                                   {"month", 30 * kOneDay},
                                                   {"year", 365 * kOneDay}}};

std::optional<Duration> ReadUnit(const Node& node, Source& source) {
  std::string word(node.IsScalar() ? node.text : "");
  for (char& c : word) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  for (const NamedUnit& unit : kNamedUnits) {
    if (unit.name == word) return unit.length;
  }
  std::array<std::string_view, kNamedUnits.size()> names;
  for (size_t i = 0; i < names.size(); ++i) names[i] = kNamedUnits[i].name;
  source.Error(node.mark, "`unit` is " + Shown(node) + "; it must be " + Listed(names) +
                              Suggested(word, names));
  return std::nullopt;
}

std::optional<uint64_t> ReadRequests(const Node& node, Source& source) {
  const auto requests = ReadNumber(node, "requests_per_unit", source);
  if (!requests || *requests <= UINT32_MAX) return requests;
  source.Error(node.mark,
               "`requests_per_unit` must be at most 4294967295, for answers carry it in "
               "32 bits");
  return std::nullopt;
}

void ReadReplaces(const Node& list, DescriptorRule& rule, Source& source) {
  if (list.children.empty()) {
    source.Error(list.mark, "`replaces` is empty: leave it out, or name a limit, as `[{name: x}]`");
  }
  for (const Child& child : list.children) {
    const Fields fields(*child.node, "an item of `replaces`", kReplacesKeys, source);
    const Node* at = fields.Require("name", "name: other_limit");
    if (at == nullptr) continue;
    const auto name = ReadName(*at, "the name of a replaced limit", source);
    if (!name) continue;
    if (*name == rule.limit_name) {
      source.Error(at->mark, "limit `" + *name + "` cannot replace itself");
    }
    rule.replaces.push_back(*name);
  }
}

// A fixed window of so many requests per unit, as far as it is given.
LimitSpec ReadWindow(const Node& node, const Fields& fields, Source& source) {
  LimitSpec spec;
  spec.node = &node;
  spec.algorithm = LimitSpec::Algorithm::kFixedWindow;
  const Node *unit = fields.Find("unit"), *requests = fields.Find("requests_per_unit");
  if (unit != nullptr || requests != nullptr) spec.at[LimitSpec::kAlgorithm] = &node;
  if (unit != nullptr) {
    spec.per.length = ReadUnit(*unit, source).value_or(Duration(1));
    spec.at[LimitSpec::kPer] = unit;
  }
  if (requests != nullptr) {
    spec.limit = ReadRequests(*requests, source).value_or(0);
    spec.at[LimitSpec::kLimit] = requests;
  }
  if (const Node* flag = fields.Find("unlimited");
      flag != nullptr && ReadFlag(*flag, "unlimited", source).value_or(false)) {
    if (unit != nullptr) source.Error(unit->mark, "`unit` does not go with `unlimited: true`");
    spec.limit = kUnlimited;
    spec.at[LimitSpec::kLimit] = flag;
  }
  return spec;
}

// Name, replaces, and the window.
LimitSpec ReadOwnFields(const Node& node, bool has_weir, DescriptorRule& rule, Source& source) {
  const size_t errors = source.error_count();
  const Fields fields(node, "`rate_limit`", kRateLimitKeys, source);
  if (const Node* at = fields.Find("name")) {
    rule.limit_name = ReadName(*at, "a limit's name", source).value_or("");
  }
  if (const Node* list = fields.FindList("replaces")) ReadReplaces(*list, rule, source);
  LimitSpec spec = ReadWindow(node, fields, source);
  if (!has_weir && spec.limit != kUnlimited) {
    fields.Require("unit", "unit: minute");
    fields.Require("requests_per_unit", "requests_per_unit: 20");
  }
  spec.bad = source.error_count() != errors;
  return spec;
}

}  // namespace

void ReadRateLimit(const Node* rate_limit, const Node* weir, DescriptorRule& rule, Source& source) {
  if (rate_limit != nullptr && rate_limit->IsNull()) rate_limit = nullptr;
  if (rate_limit == nullptr && weir == nullptr) return;
  LimitSpec spec;
  if (rate_limit != nullptr) spec = ReadOwnFields(*rate_limit, weir != nullptr, rule, source);
  if (weir != nullptr) {
    const LimitSpec over = ReadLimitSpec(*weir, kDescriptorFields, "`weir`", source);
    if (spec.limit == kUnlimited) {
      source.Error(weir->mark, "`weir` sets a limit, but `rate_limit` says `unlimited: true`");
    }
    // Without numbers in rate_limit there is no window to lay it over.
    spec = LaidOver(spec.bad || spec.Has(LimitSpec::kAlgorithm) ? spec : LimitSpec{}, over);
  } else if (spec.bad) {
    return;
  }
  rule.limit = BuildRuleLimit(spec, source);
}

std::string_view UnitName(Duration per) {
  for (const NamedUnit& unit : kNamedUnits) {
    if (unit.length == per) return unit.name;
  }
  return "";
}

}  // namespace weir
