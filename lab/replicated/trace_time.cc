#include <fmt/core.h>

#include <chrono>

#include "lab/replicated/trace.h"

namespace weir::lab {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kMillisFrom = 100'000'000'000;  // as seconds that would be the year 5138

[[noreturn]] void NotATime(std::string_view text) {
  throw TraceError(fmt::format("'{}' is not a time: seconds, such as 12.5, or 2026-01-31T12:00:00Z",
                               text.substr(0, 40)));
}

// Takes digits off the front: at least `least`, at most `most`.
int64_t Digits(std::string_view& text, size_t least, size_t most, std::string_view whole) {
  int64_t number = 0;
  size_t n = 0;
  for (; n < text.size() && n < most && text[n] >= '0' && text[n] <= '9'; ++n) {
    number = number * 10 + (text[n] - '0');
  }
  if (n < least) NotATime(whole);
  text.remove_prefix(n);
  return number;
}

bool Take(std::string_view& text, std::string_view what) {
  if (!text.starts_with(what)) return false;
  text.remove_prefix(what.size());
  return true;
}

// ".25": a part of `unit`; what is finer than a nanosecond is dropped.
int64_t Fraction(std::string_view& text, int64_t unit, std::string_view whole) {
  if (!Take(text, ".")) return 0;
  if (text.empty() || text[0] < '0' || text[0] > '9') NotATime(whole);
  int64_t nanos = 0;
  for (; !text.empty() && text[0] >= '0' && text[0] <= '9'; text.remove_prefix(1)) {
    unit /= 10;
    nanos += unit * (text[0] - '0');
  }
  return nanos;
}

int64_t ParseIso(std::string_view text, std::string_view whole) {
  using namespace std::chrono;
  const auto year = Digits(text, 4, 4, whole);
  if (!Take(text, "-")) NotATime(whole);
  const auto month = Digits(text, 2, 2, whole);
  if (!Take(text, "-")) NotATime(whole);
  const auto day = Digits(text, 2, 2, whole);
  if (!Take(text, "T") && !Take(text, " ")) NotATime(whole);
  const auto hour = Digits(text, 2, 2, whole);
  if (!Take(text, ":")) NotATime(whole);
  const auto minute = Digits(text, 2, 2, whole);
  if (!Take(text, ":")) NotATime(whole);
  const auto second = Digits(text, 2, 2, whole);
  const int64_t nanos = Fraction(text, kSecond, whole);
  const year_month_day date{std::chrono::year(static_cast<int>(year)),
                            std::chrono::month(static_cast<unsigned>(month)),
                            std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok() || year < 1700 || year > 2200 || hour > 23 || minute > 59 || second > 60) {
    NotATime(whole);
  }
  int64_t offset = 0;
  const bool east = text.starts_with('+');
  if (east || text.starts_with('-')) {
    text.remove_prefix(1);
    offset = Digits(text, 2, 2, whole) * 3600;
    Take(text, ":");
    offset += Digits(text, 2, 2, whole) * 60;
    if (!east) offset = -offset;
  } else if (!Take(text, "Z")) {
    NotATime(whole);
  }
  if (!text.empty()) NotATime(whole);
  const int64_t days = sys_days(date).time_since_epoch().count();
  return (days * 86400 + hour * 3600 + minute * 60 + second - offset) * kSecond + nanos;
}

}  // namespace

int64_t ParseTraceTime(std::string_view text) {
  const std::string_view whole = text;
  if (text.size() > 10 && text[4] == '-') return ParseIso(text, whole);
  const int64_t number = Digits(text, 1, 16, whole);
  const bool millis = number >= kMillisFrom;
  const int64_t unit = millis ? kSecond / 1000 : kSecond;
  if (number > 9'000'000'000'000'000'000 / unit) NotATime(whole);
  const int64_t nanos = number * unit + Fraction(text, unit, whole);
  if (!text.empty()) NotATime(whole);
  return nanos;
}

}  // namespace weir::lab
