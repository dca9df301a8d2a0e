// Lengths of time as rules write them: 250ms, 1s, 90m, 1h, 1d, 1w, also us and ns; months and years
// (1mo, 1y) have no fixed length, and only calendar windows take them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "weir/instant.h"

namespace weir {

struct Period {
  enum class Kind { kFixed, kMonths, kYears };
  Kind kind = Kind::kFixed;
  Duration length{};  // months count as 30 days, years as 365
  int64_t count = 0;  // of months or years
  bool operator==(const Period&) const = default;
};

// Nothing, and `why` says what would be right, if the text is none.
std::optional<Period> ParsePeriod(std::string_view text, std::string* why);

// With the greatest unit that leaves a whole number, so that ParsePeriod reads it back.
std::string PrintDuration(Duration length);

inline constexpr Duration kOneDay = std::chrono::hours(24);
inline constexpr Duration kOneWeek = 7 * kOneDay;

}  // namespace weir
