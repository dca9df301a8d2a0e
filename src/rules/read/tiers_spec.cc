#include "rules/read/tiers_spec.h"

#include "rules/read/normalise.h"
#include "rules/text/scalars.h"

namespace weir {
namespace {

constexpr LimitSpec::Field kBeside[] = {LimitSpec::kCoordination, LimitSpec::kShadow,
                                        LimitSpec::kOnFailure, LimitSpec::kPersist};
constexpr Duration kSecond = std::chrono::seconds(1);
constexpr Duration kLongestCooldown = 3653 * kOneDay;

Mark MarkOf(const Node* field, const Node& whole) { return (field ? field : &whole)->mark; }

void ReadTierNumbers(const Node& node, const Fields& fields, BurstTiers::Tier& tier,
                     Source& source) {
  if (const Node* at = fields.Require("limit", "limit: 50")) {
    tier.limit = ReadNumber(*at, "limit", source).value_or(0);
  }
  if (const Node* at = fields.Require("window", "window: 1s")) {
    tier.window = ReadDuration(*at, "window", source).value_or(kSecond);
    if (tier.window == Duration::zero()) {
      source.Error(at->mark, "`window` must be more than 0, as `1s`");
    }
  }
  if (const Node* at = fields.Require("active", "active: 60s")) {
    tier.active = ReadDuration(*at, "active", source).value_or(kSecond);
  }
  if (const Node* at = fields.Find("cooldown")) {
    tier.cooldown = ReadDuration(*at, "cooldown", source).value_or(Duration::zero());
    if (tier.cooldown > kLongestCooldown) {
      source.Error(at->mark, "`cooldown` must be at most ten years (3653d)");
    }
  }
  if (const Node* at = fields.Find("skippable")) {
    tier.skippable = ReadFlag(*at, "skippable", source).value_or(false);
  }
  if (tier.active == Duration::zero() || tier.window == Duration::zero()) return;
  std::string field;
  const std::string wrong = NumbersProblem(BurstTiers{{tier}}, &field);
  if (!wrong.empty()) source.Error(MarkOf(fields.Find(field), node), wrong);
}

WrittenTier ReadTier(const Node& node, size_t place, Source& source) {
  const Fields fields(node, "a tier", kTierKeys, source);
  WrittenTier written;
  written.place = place;
  written.mark = node.mark;
  written.window = MarkOf(fields.Find("window"), node);
  written.active = MarkOf(fields.Find("active"), node);
  ReadTierNumbers(node, fields, written.tier, source);
  return written;
}

void ReadTierList(const Node& list, const std::string& path, TiersSpec& spec, Source& source) {
  if (!list.IsList()) {
    source.Error(list.mark, "`tiers` is " + Shown(list) + "; it must be a list of tiers");
    return;
  }
  if (list.children.size() > BurstTiers::kMost) {
    source.Error(list.mark, "there are " + std::to_string(list.children.size()) +
                                " tiers; at most " + std::to_string(BurstTiers::kMost) +
                                " are allowed");
    return;
  }
  const size_t errors = source.error_count();
  std::vector<WrittenTier> written;
  for (const Child& child : list.children) {
    written.push_back(ReadTier(*child.node, written.size(), source));
  }
  if (source.error_count() != errors) return;
  spec.tiers = BurstTiers{NormaliseTiers(written, path + ".tiers", source)};
}

// A limit per second; the log that keeps it is bounded.
void ReadPerSecond(const Node* at, std::string_view field, uint64_t& into, Source& source) {
  if (at == nullptr) return;
  const auto limit = ReadLimitNumber(*at, field, source);
  if (!limit) return;
  into = *limit;
  if (*limit == kUnlimited) return;
  std::string wrong_field;
  const std::string wrong = Check(SlidingLog{*limit, kSecond, false}, &wrong_field);
  if (!wrong.empty()) source.Error(at->mark, "as " + std::string(field) + ", " + wrong);
}

RuleLimit Build(const TiersSpec& spec, std::string_view name, Limit limit, std::vector<KeyPart> key,
                Source& source) {
  RuleLimit rule;
  rule.name = name;
  rule.limit = std::move(limit);
  SetBeside(spec.beside, rule, source);
  rule.key = std::move(key);
  return rule;
}

}  // namespace

TiersSpec ReadTiers(const Node& node, const std::string& path, Source& source) {
  const size_t errors = source.error_count();
  TiersSpec spec;
  spec.beside.node = &node;
  const Fields fields(node, "`tiers`", kTiersKeys, source);
  ReadLimitFields(fields, kBeside, spec.beside, source);
  spec.hard_limit_at = fields.Find("hard_limit");
  spec.global_limit_at = fields.Find("global_limit");
  ReadPerSecond(spec.hard_limit_at, "hard_limit", spec.hard_limit, source);
  ReadPerSecond(spec.global_limit_at, "global_limit", spec.global_limit, source);
  const Node* list = fields.Require("tiers", "tiers: [{limit: 50, window: 1s, active: 60s}]");
  if (list != nullptr) ReadTierList(*list, path, spec, source);
  spec.bad = source.error_count() != errors;
  return spec;
}

TiersSpec ReadTiersOverride(const Node& node, const std::string& path, const TiersSpec& base,
                            Source& source) {
  const size_t errors = source.error_count();
  TiersSpec spec = base;
  const Fields fields(node, "the `tiers` of an override", kTiersOverrideKeys, source);
  ReadPerSecond(fields.Find("hard_limit"), "hard_limit", spec.hard_limit, source);
  if (const Node* list = fields.Find("tiers")) ReadTierList(*list, path, spec, source);
  spec.bad = base.bad || source.error_count() != errors;
  return spec;
}

bool IsNameOfTiers(std::string_view name) {
  return name == "tiers" || name == "hard_limit" || name == "global_limit";
}

std::vector<RuleLimit> BuildTiers(TiersSpec& spec, Source& source) {
  std::vector<RuleLimit> limits;
  if (spec.bad) return limits;
  const size_t errors = source.error_count();
  limits.push_back(Build(spec, "tiers", *spec.tiers, {KeyPart::kSubject}, source));
  spec.bad = source.error_count() != errors;
  if (spec.bad) return {};
  if (spec.hard_limit != kUnlimited) {
    limits.push_back(Build(spec, "hard_limit", SlidingLog{spec.hard_limit, kSecond, false},
                           {KeyPart::kSubject}, source));
  }
  if (spec.global_limit != kUnlimited) {
    limits.push_back(
        Build(spec, "global_limit", SlidingLog{spec.global_limit, kSecond, false}, {}, source));
  }
  return limits;
}

}  // namespace weir
