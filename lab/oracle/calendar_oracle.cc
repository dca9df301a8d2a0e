#include "lab/oracle/calendar_oracle.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

namespace weir::oracle {
namespace {

constexpr int64_t kDay = 86400;
constexpr int64_t kNanos = 1'000'000'000;

// From `from` on, until the next span begins, local time is UTC + offset. In seconds.
struct Span {
  int64_t from;
  int64_t offset;
};

int64_t BigEndian(const std::string& bytes, size_t at, size_t size) {
  uint64_t value = (bytes[at] & 0x80) != 0 ? ~uint64_t{0} : 0;
  for (size_t i = 0; i < size; ++i) value = value << 8 | static_cast<uint8_t>(bytes[at + i]);
  return static_cast<int64_t>(value);
}

[[noreturn]] void Fail(const std::string& path) {
  std::fprintf(stderr, "the oracle cannot read the time zone file %s\n", path.c_str());
  std::abort();
}

// The second block of the file, the one with 64-bit instants: header, instants, types of instants,
// types. The first block, with 32-bit ones, is skipped.
std::vector<Span> ReadZone(const std::string& zone) {
  const std::string path = "/usr/share/zoneinfo/" + zone;
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (bytes.size() < 44 || bytes.substr(0, 4) != "TZif" || bytes[4] < '2') Fail(path);
  const auto count = [&](size_t header, size_t field) {
    return static_cast<size_t>(BigEndian(bytes, header + 20 + 4 * field, 4));
  };
  // Counts: isut, isstd, leap, time, type, char.
  const size_t second = 44 + count(0, 0) + count(0, 1) + 8 * count(0, 2) + 5 * count(0, 3) +
                        6 * count(0, 4) + count(0, 5);
  const size_t times = count(second, 3);
  const size_t instants = second + 44;
  const size_t indices = instants + 8 * times;
  const size_t types = indices + times;
  std::vector<Span> spans = {{INT64_MIN / 2, BigEndian(bytes, types, 4)}};
  for (size_t i = 0; i < times; ++i) {
    const auto type = static_cast<uint8_t>(bytes[indices + i]);
    spans.push_back({BigEndian(bytes, instants + 8 * i, 8), BigEndian(bytes, types + 6 * type, 4)});
  }
  return spans;
}

// The first second whose local day is `day` (since 1970) or later.
int64_t StartOfDay(const std::vector<Span>& spans, int64_t day) {
  for (size_t i = 0;; ++i) {
    const int64_t start = std::max(spans[i].from, day * kDay - spans[i].offset);
    if (i + 1 == spans.size() || start < spans[i + 1].from) return start;
  }
}

bool IsLeap(int year) { return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0; }

}  // namespace

CalendarOracle::CalendarOracle(Calendar::Unit unit, const std::string& time_zone) {
  const std::vector<Span> spans = ReadZone(time_zone);
  const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  int64_t day = 0;  // 1970-01-01, a Thursday
  for (int year = 1970; year < 2037; ++year) {
    for (int month = 0; month < 12; ++month) {
      const int length = lengths[month] + (month == 1 && IsLeap(year) ? 1 : 0);
      for (int i = 0; i < length; ++i, ++day) {
        const bool begins = unit == Calendar::Unit::kDay ||
                            (unit == Calendar::Unit::kWeek && day % 7 == 4) ||
                            (unit == Calendar::Unit::kMonth && i == 0) ||
                            (unit == Calendar::Unit::kYear && i == 0 && month == 0);
        if (begins) starts_.push_back(StartOfDay(spans, day));
      }
    }
  }
}

CalendarOracle::Window CalendarOracle::At(Instant now) const {
  const auto next = std::upper_bound(starts_.begin(), starts_.end(), ToNanos(now),
                                     [](int64_t t, int64_t start) { return t < start * kNanos; });
  if (next == starts_.begin() || next == starts_.end()) std::abort();
  return {FromNanos(*std::prev(next) * kNanos), FromNanos(*next * kNanos)};
}

}  // namespace weir::oracle
