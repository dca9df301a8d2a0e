#include "base/time_text.h"

#include <array>
#include <utility>

#include "absl/time/time.h"

namespace weir {
namespace {

struct Unit {
  std::string_view name;
  int64_t nanos;
};
// Longest first; of names that begin alike the longer comes first.
constexpr std::array<Unit, 7> kUnits = {{{"d", 86'400'000'000'000},
                                         {"h", 3'600'000'000'000},
                                         {"ms", 1'000'000},
                                         {"m", 60'000'000'000},
                                         {"us", 1'000},
                                         {"ns", 1},
                                         {"s", 1'000'000'000}}};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// A decimal number with a unit, taken off the front of a text.
struct Reader {
  std::string_view text;

  bool Digits(int64_t* value, int64_t* scale) {
    const size_t before = text.size();
    for (; !text.empty() && IsDigit(text[0]); text.remove_prefix(1)) {
      if (__builtin_mul_overflow(*value, int64_t{10}, value)) return false;
      if (__builtin_add_overflow(*value, int64_t{text[0] - '0'}, value)) return false;
      if (__builtin_mul_overflow(*scale, int64_t{10}, scale)) return false;
    }
    return text.size() < before;
  }

  std::optional<int64_t> Part() {
    int64_t value = 0, scale = 1, ignored = 1;
    if (!Digits(&value, &ignored)) return std::nullopt;
    if (!text.empty() && text[0] == '.') {
      text.remove_prefix(1);
      if (!Digits(&value, &scale)) return std::nullopt;
    }
    for (const Unit& unit : kUnits) {
      if (text.substr(0, unit.name.size()) != unit.name) continue;
      text.remove_prefix(unit.name.size());
      const __int128 nanos = __int128{value} * unit.nanos;
      if (nanos % scale != 0 || nanos / scale > INT64_MAX) break;
      return static_cast<int64_t>(nanos / scale);
    }
    return std::nullopt;
  }
};

// value / unit as a decimal without trailing zeros.
std::string Decimal(int64_t nanos, const Unit& unit) {
  std::string text = std::to_string(nanos / unit.nanos);
  const int64_t rest = nanos % unit.nanos;
  if (rest != 0) {
    std::string fraction = std::to_string(unit.nanos + rest).substr(1);
    fraction.erase(fraction.find_last_not_of('0') + 1);
    text += "." + fraction;
  }
  return text.append(unit.name);
}

}  // namespace

std::optional<Duration> ParseDuration(std::string_view text) {
  Reader reader{text};
  int64_t sum = 0;
  do {
    const std::optional<int64_t> part = reader.Part();
    if (!part || __builtin_add_overflow(sum, *part, &sum)) return std::nullopt;
  } while (!reader.text.empty());
  return Duration(sum);
}

std::string DurationText(Duration duration) {
  if (duration == kNever) return "never";
  int64_t nanos = duration.count();
  if (nanos < 0) return "-" + DurationText(Duration(nanos == INT64_MIN ? INT64_MAX : -nanos));
  if (nanos == 0) return "0s";
  if (nanos < 1'000) return Decimal(nanos, {"ns", 1});
  if (nanos < 1'000'000) return Decimal(nanos, {"us", 1'000});
  if (nanos < 1'000'000'000) return Decimal(nanos, {"ms", 1'000'000});
  std::string text;
  for (const Unit& unit :
       {Unit{"d", 86'400'000'000'000}, Unit{"h", 3'600'000'000'000}, Unit{"m", 60'000'000'000}}) {
    if (nanos >= unit.nanos) text += std::to_string(nanos / unit.nanos).append(unit.name);
    nanos %= unit.nanos;
  }
  return nanos == 0 ? text : text + Decimal(nanos, {"s", 1'000'000'000});
}

std::string SpokenDuration(Duration duration) {
  if (duration == kNever) return "never";
  const int64_t nanos = duration.count();
  if (nanos < 0) return "-" + SpokenDuration(Duration(nanos == INT64_MIN ? INT64_MAX : -nanos));
  constexpr int64_t kMilli = 1'000'000, kSecond = 1000 * kMilli, kMinute = 60 * kSecond;
  if (nanos < kMilli) return DurationText(Duration(nanos - nanos % 1000));
  if (nanos < 10 * kMilli) return DurationText(Duration(nanos - nanos % (kMilli / 10)));
  if (nanos < kSecond) return DurationText(Duration(nanos - nanos % kMilli));
  if (nanos < 10 * kSecond) return DurationText(Duration(nanos - nanos % (kSecond / 10)));
  if (nanos < kMinute) return DurationText(Duration(nanos - nanos % kSecond));
  constexpr std::array<Unit, 4> kLong = {
      {{"d", 1440 * kMinute}, {"h", 60 * kMinute}, {"m", kMinute}, {"s", kSecond}}};
  size_t first = 0;
  while (nanos < kLong[first].nanos) ++first;
  const auto part = [](int64_t count, const Unit& unit) {
    return std::to_string(count).append(unit.name);
  };
  const Unit &large = kLong[first], &small = kLong[first + 1];
  const int64_t rest = nanos % large.nanos / small.nanos;
  return part(nanos / large.nanos, large) + (rest == 0 ? "" : " " + part(rest, small));
}

std::optional<Instant> ParseInstant(std::string_view text, Instant start) {
  if (const std::optional<Duration> since = ParseDuration(text)) {
    int64_t sum = 0;
    if (__builtin_add_overflow(ToNanos(start), since->count(), &sum)) return std::nullopt;
    return FromNanos(sum);
  }
  absl::Time time;
  const absl::string_view shown(text.data(), text.size());
  if (!absl::ParseTime(absl::RFC3339_full, shown, &time, nullptr)) return std::nullopt;
  const absl::Duration since_epoch = time - absl::UnixEpoch();
  if (since_epoch < absl::ZeroDuration() || since_epoch >= absl::Nanoseconds(INT64_MAX)) {
    return std::nullopt;
  }
  return FromNanos(absl::ToInt64Nanoseconds(since_epoch));
}

std::string InstantText(Instant instant) {
  return absl::FormatTime(absl::RFC3339_full, absl::FromUnixNanos(ToNanos(instant)),
                          absl::UTCTimeZone());
}

}  // namespace weir
