#include "algorithms/calendar.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "absl/time/civil_time.h"
#include "absl/time/time.h"
#include "algorithms/algorithm.h"

namespace weir {
namespace {

using Unit = Calendar::Unit;

constexpr absl::civil_year_t kFirstYear = 2020, kEndYear = 2061;
constexpr absl::CivilDay kFirstMonday(1969, 12, 29);

int64_t NumberOf(Unit unit, absl::CivilDay day) {
  switch (unit) {
    case Unit::kDay: return day - absl::CivilDay(1970, 1, 1);
    case Unit::kWeek: return static_cast<int64_t>(FloorDiv(day - kFirstMonday, 7));
    case Unit::kMonth: return absl::CivilMonth(day) - absl::CivilMonth(1970, 1);
    case Unit::kYear: return day.year() - 1970;
  }
  __builtin_unreachable();
}

absl::CivilDay FirstDayOf(Unit unit, int64_t window) {
  switch (unit) {
    case Unit::kDay: return absl::CivilDay(1970, 1, 1) + window;
    case Unit::kWeek: return kFirstMonday + 7 * window;
    case Unit::kMonth: return absl::CivilDay(absl::CivilMonth(1970, 1) + window);
    case Unit::kYear: return absl::CivilDay(1970 + window, 1, 1);
  }
  __builtin_unreachable();
}

absl::Time FirstInstantOf(absl::CivilDay day, absl::TimeZone zone) {
  const absl::TimeZone::TimeInfo info = zone.At(absl::CivilSecond(day));
  return info.kind == absl::TimeZone::TimeInfo::SKIPPED ? info.trans : info.pre;
}

// Abseil would also read files by their path.
bool IsZoneName(std::string_view name) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '+' || c == '/';
  };
  return !name.empty() && name.size() <= 64 && name.front() != '/' && name != "localtime" &&
         std::all_of(name.begin(), name.end(), is_plain);
}

}  // namespace

struct Calendar::Zone {
  absl::TimeZone zone;

  absl::Time StartOf(Unit unit, int64_t window) const {
    // Far outside the timeline, near enough for civil arithmetic.
    constexpr int64_t kFar = 1'000'000;
    return FirstInstantOf(FirstDayOf(unit, std::clamp(window, -kFar, kFar)), zone);
  }
};

Calendar::Calendar(Unit unit, std::string time_zone, std::unique_ptr<const Zone> zone)
    : unit_(unit),
      time_zone_(std::move(time_zone)),
      zone_(std::move(zone)),
      first_(NumberOf(unit, absl::CivilDay(kFirstYear, 1, 1))) {
  const int64_t end = NumberOf(unit, absl::CivilDay(kEndYear, 1, 1));
  starts_.reserve(static_cast<size_t>(end - first_) + 1);
  for (int64_t window = first_; window <= end; ++window) {
    starts_.push_back(InstantAt(absl::ToUnixNanos(zone_->StartOf(unit_, window))));
  }
  // Rounded down, so that a guess is never beyond the table.
  const auto span = static_cast<uint64_t>((starts_.back() - starts_.front()).count());
  per_2_64_ns_ = static_cast<uint64_t>((uint128{starts_.size() - 1} << 64) / span);
}

Calendar::~Calendar() = default;

std::shared_ptr<const Calendar> Calendar::Find(Unit unit, std::string_view time_zone) {
  using Known = std::map<std::pair<Unit, std::string>, std::weak_ptr<const Calendar>>;
  static std::mutex mutex;
  static Known& known = *new Known;
  if (!IsZoneName(time_zone)) return nullptr;

  const std::lock_guard lock(mutex);
  const std::pair key(unit, std::string(time_zone));
  if (const auto found = known.find(key); found != known.end()) {
    if (auto calendar = found->second.lock()) return calendar;
  }
  auto calendar = Load(unit, key.second);
  if (calendar != nullptr) known[key] = calendar;
  return calendar;
}

std::shared_ptr<const Calendar> Calendar::Load(Unit unit, const std::string& time_zone) {
  auto zone = std::make_unique<Zone>();
  if (!absl::LoadTimeZone(time_zone, &zone->zone)) return nullptr;
  return std::shared_ptr<const Calendar>(new Calendar(unit, time_zone, std::move(zone)));
}

int64_t Calendar::WindowOf(Instant now) const {
  if (now >= starts_.front() && now < starts_.back()) {
    const auto since = static_cast<uint64_t>((now - starts_.front()).count());
    auto guess = static_cast<size_t>(uint128{since} * per_2_64_ns_ >> 64);
    while (now < starts_[guess]) --guess;
    while (now >= starts_[guess + 1]) ++guess;
    return first_ + static_cast<int64_t>(guess);
  }
  const absl::Time time = absl::FromUnixNanos(ToNanos(now));
  int64_t window = NumberOf(unit_, absl::CivilDay(zone_->zone.At(time).cs));
  while (time < zone_->StartOf(unit_, window)) --window;
  while (time >= zone_->StartOf(unit_, window + 1)) ++window;
  return window;
}

Instant Calendar::StartOf(int64_t window) const {
  const int64_t last = first_ + static_cast<int64_t>(starts_.size()) - 1;
  if (window >= first_ && window <= last) return starts_[static_cast<size_t>(window - first_)];
  return InstantAt(absl::ToUnixNanos(zone_->StartOf(unit_, window)));
}

}  // namespace weir
