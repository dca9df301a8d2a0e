// Calendar windows: the days, weeks (from Monday), months and years of a time zone.
//
// A window is the time from the first instant of its first civil day to the first instant of the
// next window's: contiguous intervals, whatever daylight saving does. Where midnight does not exist
// the window starts at the transition; where it comes twice, at the first of the two. A day that a
// zone leaves out (Samoa, 30 December 2011) is a window without instants. Windows are numbered from
// 0 for the one that holds 1970-01-01 local time (days, months, years), for weeks the one of Monday
// 1969-12-29.
//
// Immutable; safe to share between threads. Starts of the windows of the years 2020 to 2060 are
// computed once, and the one that holds an instant is guessed from their mean length and put right
// by a comparison or two. Others are computed when asked for.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "weir/instant.h"

namespace weir {

class Calendar {
 public:
  enum class Unit { kDay, kWeek, kMonth, kYear };

  // Null if the time zone is not known. One object per (unit, zone) is shared by all that ask.
  static std::shared_ptr<const Calendar> Find(Unit unit, std::string_view time_zone);

  ~Calendar();
  Calendar(const Calendar&) = delete;
  Calendar& operator=(const Calendar&) = delete;

  // StartOf(WindowOf(now)) <= now < StartOf(WindowOf(now) + 1), within the timeline.
  int64_t WindowOf(Instant now) const;
  Instant StartOf(int64_t window) const;

  Unit unit() const { return unit_; }
  const std::string& time_zone() const { return time_zone_; }

 private:
  struct Zone;
  Calendar(Unit unit, std::string time_zone, std::unique_ptr<const Zone> zone);
  static std::shared_ptr<const Calendar> Load(Unit unit, const std::string& time_zone);

  // All constant after construction.
  Unit unit_;
  std::string time_zone_;
  std::unique_ptr<const Zone> zone_;
  int64_t first_;                // the window of starts_[0]
  std::vector<Instant> starts_;  // of 2020 to 2060, and the end of the last
  uint64_t per_2_64_ns_;         // windows in 2^64 ns, on average: turns a time into a guess
};

}  // namespace weir
