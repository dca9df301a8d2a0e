#include "rules/text/period.h"

#include <array>

#include "rules/text/number_text.h"

namespace weir {
namespace {

struct Unit {
  std::string_view name;
  Duration length;
  Period::Kind kind = Period::Kind::kFixed;
};

// From the greatest; printing uses the fixed ones.
constexpr std::array<Unit, 10> kUnits = {{
    {"y", 365 * kOneDay, Period::Kind::kYears},
    {"mo", 30 * kOneDay, Period::Kind::kMonths},
    {"w", kOneWeek},
    {"d", kOneDay},
    {"h", std::chrono::hours(1)},
    {"m", std::chrono::minutes(1)},
    {"s", std::chrono::seconds(1)},
    {"ms", std::chrono::milliseconds(1)},
    {"us", std::chrono::microseconds(1)},
    {"ns", Duration(1)},
}};

const Unit* FindUnit(std::string_view name) {
  for (const Unit& unit : kUnits) {
    if (unit.name == name) return &unit;
  }
  return nullptr;
}

constexpr std::string_view kExamples = "a whole number with a unit, as `250ms`, `1s`, `90m`, `1d`";

}  // namespace

std::optional<Period> ParsePeriod(std::string_view text, std::string* why) {
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const Unit* unit = FindUnit(text.substr(digits));
  if (digits > 0 && digits == text.size()) {
    *why = "has no unit: write `" + std::string(text) + "s` for seconds";
    return std::nullopt;
  }
  const std::optional<uint64_t> count = ParseNumber(text.substr(0, digits));
  if (digits == 0 || unit == nullptr || (!count && digits < 19)) {
    *why = "is no length of time: write " + std::string(kExamples);
    return std::nullopt;
  }
  int64_t nanos = 0;
  if (!count || *count > INT64_MAX ||
      __builtin_mul_overflow(static_cast<int64_t>(*count), unit->length.count(), &nanos)) {
    *why = "is too long: at most 10 years";
    return std::nullopt;
  }
  const int64_t named = unit->kind == Period::Kind::kFixed ? 0 : static_cast<int64_t>(*count);
  return Period{unit->kind, Duration(nanos), named};
}

std::string PrintDuration(Duration length) {
  if (length == Duration::zero()) return "0s";
  for (const Unit& unit : kUnits) {
    if (unit.kind == Period::Kind::kFixed && length % unit.length == Duration::zero()) {
      return std::to_string(length / unit.length) + std::string(unit.name);
    }
  }
  __builtin_unreachable();
}

}  // namespace weir
