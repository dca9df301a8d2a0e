#include "rules/read/limit_spec.h"

#include "rules/read/coordination.h"
#include "rules/text/scalars.h"

namespace weir {
namespace {

using Algorithm = LimitSpec::Algorithm;
using Field = LimitSpec::Field;

// Fields that belong to one algorithm only.
struct Place {
  Field field;
  Algorithm algorithm;
};
constexpr Place kPlaces[] = {
    {LimitSpec::kBurst, Algorithm::kTokenBucket},
    {LimitSpec::kAnchor, Algorithm::kFixedWindow},
    {LimitSpec::kTimeZone, Algorithm::kFixedWindow},
    {LimitSpec::kSlices, Algorithm::kSlidingWindow},
    {LimitSpec::kEdge, Algorithm::kSlidingWindow},
    {LimitSpec::kKeepRejected, Algorithm::kSlidingLog},
};

std::string_view WordOf(Algorithm algorithm) {
  return kAlgorithmWords[static_cast<size_t>(algorithm)];
}

bool IsCalendar(const LimitSpec& spec) {
  return spec.algorithm == Algorithm::kFixedWindow && spec.anchor == FixedWindow::Anchor::kCalendar;
}

void CopyField(Field field, const LimitSpec& from, LimitSpec& to) {
  using enum LimitSpec::Field;
  switch (field) {
    case kName: to.name = from.name; break;
    case kAlgorithm: to.algorithm = from.algorithm; break;
    case kLimit: to.limit = from.limit; break;
    case kPer: to.per = from.per; break;
    case kBurst: to.burst = from.burst; break;
    case kAnchor: to.anchor = from.anchor; break;
    case kTimeZone: to.time_zone = from.time_zone; break;
    case kSlices: to.slices = from.slices; break;
    case kEdge: to.edge = from.edge; break;
    case kKeepRejected: to.keep_rejected = from.keep_rejected; break;
    case kKey: to.key = from.key; break;
    case kCoordination: to.coordination = from.coordination; break;
    case kShadow: to.shadow = from.shadow; break;
    case kOnFailure: to.on_failure = from.on_failure; break;
    case kPersist: to.persist = from.persist; break;
    case kFieldCount: break;
  }
}

void Reset(Field field, LimitSpec& spec) {
  CopyField(field, LimitSpec{}, spec);
  spec.at[field] = nullptr;
}

// Notes fields that the algorithm does not take, if they are written here and not inherited.
void CheckPlaces(const LimitSpec& spec, Source& source) {
  for (const Place& place : kPlaces) {
    if (!spec.IsWrittenHere(place.field) || place.algorithm == spec.algorithm) continue;
    source.Error(spec.MarkOf(place.field),
                 "`" + std::string(kLimitFields[place.field]) + "` goes only with `" +
                     std::string(WordOf(place.algorithm)) + "`, but this limit is a `" +
                     std::string(WordOf(spec.algorithm)) + "`");
  }
  if (spec.IsWrittenHere(LimitSpec::kTimeZone) && !IsCalendar(spec) &&
      spec.algorithm == Algorithm::kFixedWindow) {
    source.Error(spec.MarkOf(LimitSpec::kTimeZone),
                 "`time_zone` goes only with `anchor: calendar`");
  }
}

void CheckPresent(const LimitSpec& spec, Source& source) {
  const auto require = [&](Field field, const std::string& example) {
    if (spec.Has(field)) return;
    source.Error(spec.node->mark,
                 "a limit needs `" + std::string(kLimitFields[field]) + "`, as `" + example + "`");
  };
  const bool is_map = spec.node->IsMap() || spec.node->IsNull();
  if (spec.limit == kUnlimited || !is_map) return;
  require(LimitSpec::kLimit, "limit: 20");
  require(LimitSpec::kPer, "per: 1s");
}

std::optional<Calendar::Unit> UnitOf(const Period& per) {
  if (per.kind == Period::Kind::kFixed && per.length == kOneDay) return Calendar::Unit::kDay;
  if (per.kind == Period::Kind::kFixed && per.length == kOneWeek) return Calendar::Unit::kWeek;
  if (per.kind == Period::Kind::kMonths && per.count == 1) return Calendar::Unit::kMonth;
  if (per.kind == Period::Kind::kYears && per.count == 1) return Calendar::Unit::kYear;
  return std::nullopt;
}

// Empty for a window of fixed length, and where an error was noted.
std::shared_ptr<const Calendar> FindCalendar(const LimitSpec& spec, Source& source) {
  if (!IsCalendar(spec)) {
    if (spec.per.kind != Period::Kind::kFixed) {
      source.Error(spec.MarkOf(LimitSpec::kPer),
                   "months and years go only with `algorithm: fixed_window` and `anchor: "
                   "calendar`; of a fixed length would be `30d` or `365d`");
    }
    return nullptr;
  }
  const std::optional<Calendar::Unit> unit = UnitOf(spec.per);
  if (!unit) {
    source.Error(spec.MarkOf(LimitSpec::kPer),
                 "with `anchor: calendar`, `per` must be `1d`, `1w`, `1mo` or `1y`");
    return nullptr;
  }
  auto calendar = Calendar::Find(*unit, spec.time_zone);
  if (calendar == nullptr) {
    source.Error(spec.MarkOf(LimitSpec::kTimeZone),
                 "`" + spec.time_zone +
                     "` is no time zone; write it as `Europe/Stockholm` or "
                     "`UTC`");
  }
  return calendar;
}

Limit NumbersOf(const LimitSpec& spec, std::shared_ptr<const Calendar> calendar) {
  const Duration per = spec.per.length;
  switch (spec.algorithm) {
    case Algorithm::kTokenBucket:
      return TokenBucket(spec.limit, per, spec.Has(LimitSpec::kBurst) ? spec.burst : spec.limit);
    case Algorithm::kFixedWindow: {
      FixedWindow window;
      window.limit = spec.limit;
      window.per = per;
      window.anchor = spec.anchor;
      window.calendar = std::move(calendar);
      return window;
    }
    case Algorithm::kSlidingLog: return SlidingLog{spec.limit, per, spec.keep_rejected};
    case Algorithm::kSlidingWindow: return SlidingWindow{spec.limit, per, spec.slices, spec.edge};
  }
  __builtin_unreachable();
}

// Only the algorithm, and what a window is anchored to: what a coordination has to go with.
Limit NoNumbers(const LimitSpec& spec) {
  switch (spec.algorithm) {
    case Algorithm::kTokenBucket: return TokenBucket();
    case Algorithm::kFixedWindow: {
      FixedWindow window;
      window.anchor = spec.anchor;
      return window;
    }
    case Algorithm::kSlidingLog: return SlidingLog();
    case Algorithm::kSlidingWindow: return SlidingWindow();
  }
  __builtin_unreachable();
}

Mark MarkOfName(const LimitSpec& spec, std::string_view field) {
  for (size_t i = 0; i < kLimitFields.size(); ++i) {
    if (kLimitFields[i] == field) return spec.MarkOf(static_cast<Field>(i));
  }
  return spec.node->mark;
}

// Notes what is out of bounds.
Limit CheckedNumbers(const LimitSpec& spec, Source& source) {
  const size_t errors = source.error_count();
  auto calendar = FindCalendar(spec, source);
  if (source.error_count() != errors) return NoNumbers(spec);
  Limit limit = NumbersOf(spec, std::move(calendar));
  std::string field;
  const std::string wrong = NumbersProblem(limit, &field);
  if (!wrong.empty()) source.Error(MarkOfName(spec, field), wrong);
  return limit;
}

}  // namespace

LimitSpec LaidOver(const LimitSpec& base, const LimitSpec& over) {
  LimitSpec merged = base;
  merged.node = over.node;
  merged.bad = over.bad;
  merged.bad_algorithm = over.bad_algorithm;
  merged.bad_base = base.bad || base.bad_base;
  for (const Node*& at : merged.at) {
    if (at != nullptr) at = over.node;
  }
  if (over.Has(LimitSpec::kAlgorithm) && over.algorithm != base.algorithm) {
    for (const Place& place : kPlaces) Reset(place.field, merged);
  }
  if (over.Has(LimitSpec::kLimit)) Reset(LimitSpec::kBurst, merged);
  for (size_t i = 0; i < over.at.size(); ++i) {
    const Field field = static_cast<Field>(i);
    if (!over.Has(field)) continue;
    CopyField(field, over, merged);
    merged.at[field] = over.at[field];
  }
  return merged;
}

std::string NumbersProblem(const Limit& limit, std::string* field) {
  std::string wrong = Check(limit, field);
  if (wrong.empty()) return wrong;
  const std::string path = *field;  // of a tier as in "tiers[0].window"
  field->erase(0, field->rfind('.') + 1);
  if (wrong.starts_with(path)) wrong.replace(0, path.size(), "`" + *field + "`");
  return wrong;
}

void SetBeside(const LimitSpec& spec, RuleLimit& rule, Source& source) {
  rule.key = spec.key;
  rule.coordination = spec.coordination;
  rule.own_coordination = spec.Has(LimitSpec::kCoordination);
  rule.on_failure = spec.on_failure;
  rule.shadow = spec.shadow;
  rule.persist = spec.persist;
  // What is wholly inherited was checked where it is written.
  if (!spec.IsWrittenHere(LimitSpec::kCoordination) && !spec.IsWrittenHere(LimitSpec::kAlgorithm) &&
      !spec.IsWrittenHere(LimitSpec::kAnchor)) {
    return;
  }
  const std::string problem = CoordinationProblem(spec.coordination, rule.limit, source.options());
  if (!problem.empty()) source.Error(spec.MarkOf(LimitSpec::kCoordination), problem);
}

std::optional<RuleLimit> BuildRuleLimit(const LimitSpec& spec, Source& source) {
  const size_t errors = source.error_count();
  if (spec.bad_base || spec.bad_algorithm) return std::nullopt;
  RuleLimit rule;
  rule.name = spec.EffectiveName();
  rule.unlimited = spec.limit == kUnlimited;
  rule.limit = NoNumbers(spec);
  CheckPlaces(spec, source);
  CheckPresent(spec, source);
  SetBeside(spec, rule, source);
  if (spec.bad || source.error_count() != errors) return std::nullopt;
  if (!rule.unlimited) rule.limit = CheckedNumbers(spec, source);
  if (source.error_count() != errors) return std::nullopt;
  return rule;
}

std::string LimitSpec::EffectiveName() const {
  return Has(kName) ? name : std::string(WordOf(algorithm));
}

}  // namespace weir
