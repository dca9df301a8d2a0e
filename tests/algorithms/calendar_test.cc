#include "algorithms/calendar.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <thread>
#include <vector>

#include "tests/algorithms/testing.h"

namespace weir::calendar_test {
namespace {

using Unit = Calendar::Unit;

constexpr Unit kUnits[] = {Unit::kDay, Unit::kWeek, Unit::kMonth, Unit::kYear};

std::shared_ptr<const Calendar> Days(std::string_view zone) {
  return Calendar::Find(Unit::kDay, zone);
}
Duration Length(const Calendar& calendar, int64_t window) {
  return calendar.StartOf(window + 1) - calendar.StartOf(window);
}

// The window that starts at `start`, and only there, and ends at `end`.
void ExpectWindow(const Calendar& calendar, Instant start, Instant end) {
  const int64_t window = calendar.WindowOf(start);
  EXPECT_EQ(calendar.WindowOf(start - kNano), window - 1);
  EXPECT_EQ(calendar.WindowOf(end - kNano), window);
  EXPECT_EQ(calendar.WindowOf(end), window + 1);
  EXPECT_EQ(calendar.StartOf(window), start);
  EXPECT_EQ(calendar.StartOf(window + 1), end);
}

TEST(CalendarTest, UnknownZoneIsNull) {
  EXPECT_EQ(Days("Europe/Atlantis"), nullptr);
  EXPECT_EQ(Days(""), nullptr);
}

TEST(CalendarTest, PathIsNoZone) {
  EXPECT_EQ(Days("/etc/localtime"), nullptr);
  EXPECT_EQ(Days("/usr/share/zoneinfo/Europe/Stockholm"), nullptr);
  EXPECT_EQ(Days("../zoneinfo/Europe/Stockholm"), nullptr);
  EXPECT_EQ(Days("file:/etc/localtime"), nullptr);
  EXPECT_EQ(Days("localtime"), nullptr);
  EXPECT_EQ(Days(std::string_view("UTC\0", 4)), nullptr);
}

TEST(CalendarTest, OneObjectIsShared) {
  const auto calendar = Days("Europe/Stockholm");
  EXPECT_EQ(Days("Europe/Stockholm"), calendar);
  EXPECT_NE(Days("Europe/Paris"), calendar);
  EXPECT_NE(Calendar::Find(Unit::kWeek, "Europe/Stockholm"), calendar);
  EXPECT_EQ(calendar->unit(), Unit::kDay);
  EXPECT_EQ(calendar->time_zone(), "Europe/Stockholm");
}

TEST(CalendarThreadTest, OneObjectIsSharedByThreads) {
  std::vector<std::shared_ptr<const Calendar>> found(4);
  std::vector<std::thread> threads;
  for (auto& slot : found) threads.emplace_back([&slot] { slot = Days("Europe/Oslo"); });
  for (std::thread& thread : threads) thread.join();
  for (const auto& calendar : found) EXPECT_EQ(calendar, found[0]);
}

TEST(CalendarTest, WindowsAreNumberedFromNineteenSeventyLocalTime) {
  const auto find = [](Unit unit) { return Calendar::Find(unit, "America/New_York"); };
  const Instant midnight = Utc(1970, 1, 1, 5h);
  for (const Unit unit : {Unit::kDay, Unit::kMonth, Unit::kYear}) {
    EXPECT_EQ(find(unit)->StartOf(0), midnight);
    EXPECT_EQ(find(unit)->WindowOf(midnight), 0);
    EXPECT_EQ(find(unit)->WindowOf(midnight - kNano), -1);
  }
  EXPECT_EQ(find(Unit::kWeek)->StartOf(0), Utc(1969, 12, 29, 5h));
  EXPECT_EQ(find(Unit::kMonth)->WindowOf(Utc(2026, 3, 15)), 56 * 12 + 2);
  EXPECT_EQ(find(Unit::kYear)->WindowOf(Utc(2026, 3, 15)), 56);
}

TEST(CalendarTest, DaysInUtcHaveNoSurprises) {
  const auto utc = Days("UTC");
  for (const int64_t day : {-100'000, -1, 0, 1, 18'262, 20'454, 33'237, 33'238, 100'000}) {
    EXPECT_EQ(utc->StartOf(day), At(std::chrono::days(day)));
    EXPECT_EQ(utc->WindowOf(At(std::chrono::days(day))), day);
    EXPECT_EQ(utc->WindowOf(At(std::chrono::days(day + 1)) - kNano), day);
  }
}

TEST(CalendarTest, DayOfTwentyThreeHours) {
  const auto days = Days("Europe/Stockholm");
  ExpectWindow(*days, Utc(2026, 3, 28, 23h), Utc(2026, 3, 29, 22h));
}

TEST(CalendarTest, DayOfTwentyFiveHours) {
  const auto days = Days("Europe/Stockholm");
  ExpectWindow(*days, Utc(2026, 10, 24, 22h), Utc(2026, 10, 25, 23h));
}

TEST(CalendarTest, DayWithoutMidnightStartsAtTheTransition) {
  // Clocks go from 00:00 to 01:00.
  ExpectWindow(*Days("America/Sao_Paulo"), Utc(2018, 11, 4, 3h), Utc(2018, 11, 5, 2h));
  ExpectWindow(*Days("Asia/Beirut"), Utc(2024, 3, 30, 22h), Utc(2024, 3, 31, 21h));
  // Clocks go from 23:30 to 00:30, and from 00:01 to 01:01, which leaves a minute after midnight.
  ExpectWindow(*Days("America/Toronto"), Utc(1919, 3, 31, 4h + 30min), Utc(1919, 4, 1, 4h));
  ExpectWindow(*Days("America/St_Johns"), Utc(2010, 3, 14, 3h + 30min),
               Utc(2010, 3, 15, 2h + 30min));
}

TEST(CalendarTest, RepeatedMidnightCountsTheFirstTime) {
  const auto days = Days("America/St_Johns");
  ExpectWindow(*days, Utc(2010, 11, 7, 2h + 30min), Utc(2010, 11, 8, 3h + 30min));
  // 23:01 of the 6th, for the second time, belongs to the 7th, which has begun.
  EXPECT_EQ(days->WindowOf(Utc(2010, 11, 7, 2h + 31min)), days->WindowOf(Utc(2010, 11, 7, 12h)));
  // Within the years that are computed beforehand: Havana, 01:00 -> 00:00.
  ExpectWindow(*Days("America/Havana"), Utc(2020, 11, 1, 4h), Utc(2020, 11, 2, 5h));
  ExpectWindow(*Days("America/Havana"), Utc(2020, 3, 8, 5h), Utc(2020, 3, 9, 4h));
}

TEST(CalendarTest, DayThatWasLeftOutHasNoInstants) {
  const auto days = Days("Pacific/Apia");  // from 29 December 2011 to the 31st
  const Instant transition = Utc(2011, 12, 30, 10h);
  const int64_t before = days->WindowOf(transition - kNano);
  EXPECT_EQ(days->WindowOf(transition), before + 2);
  EXPECT_EQ(days->StartOf(before + 1), transition);
  EXPECT_EQ(days->StartOf(before + 2), transition);
}

TEST(CalendarTest, WeeksBeginOnMonday) {
  const auto weeks = Calendar::Find(Unit::kWeek, "Europe/Stockholm");
  ExpectWindow(*weeks, Utc(2025, 12, 28, 23h), Utc(2026, 1, 4, 23h));
  EXPECT_EQ(Length(*weeks, weeks->WindowOf(Utc(2026, 3, 25))), 167h);
  EXPECT_EQ(Length(*weeks, weeks->WindowOf(Utc(2026, 10, 22))), 169h);
  EXPECT_EQ(weeks->WindowOf(Utc(1969, 12, 28, 23h)), 0);
  EXPECT_EQ(weeks->WindowOf(Utc(1969, 12, 28, 23h) - kNano), -1);
}

TEST(CalendarTest, MonthsAndYearsKnowLeapYears) {
  const auto months = Calendar::Find(Unit::kMonth, "UTC");
  const auto years = Calendar::Find(Unit::kYear, "UTC");
  const auto february = [&](int year) {
    return Length(*months, months->WindowOf(Utc(year, 2, 10)));
  };
  const auto year_of = [&](int year) { return Length(*years, years->WindowOf(Utc(year, 7, 1))); };
  for (const int year : {1904, 1960, 2000, 2024, 2028, 2060, 2096}) {
    EXPECT_EQ(february(year), 29 * 24h) << year;
    EXPECT_EQ(year_of(year), 366 * 24h) << year;
  }
  for (const int year : {1900, 1958, 2026, 2059, 2061, 2100}) {
    EXPECT_EQ(february(year), 28 * 24h) << year;
    EXPECT_EQ(year_of(year), 365 * 24h) << year;
  }
}

TEST(CalendarTest, RulesOfDaylightSavingGoOnAfterTwentySixty) {
  using namespace std::chrono;
  const auto days = Days("Europe/Stockholm");
  for (const int y : {2059, 2060, 2061, 2070, 2094}) {
    const sys_days spring = year(y) / March / Sunday[last],
                   autumn = year(y) / October / Sunday[last];
    EXPECT_EQ(Length(*days, days->WindowOf(At(spring.time_since_epoch()) + 12h)), 23h) << y;
    EXPECT_EQ(Length(*days, days->WindowOf(At(autumn.time_since_epoch()) + 12h)), 25h) << y;
  }
}

TEST(CalendarTest, EndsOfTheTimelineAreWithinAWindow) {
  for (const Unit unit : kUnits) {
    const auto calendar = Calendar::Find(unit, "Asia/Tokyo");
    EXPECT_LT(calendar->WindowOf(Instant::min()), calendar->WindowOf(k1958));
    EXPECT_GT(calendar->WindowOf(kEndOfTime), calendar->WindowOf(k2094));
    EXPECT_EQ(calendar->StartOf(INT64_MAX), FromNanos(INT64_MAX - 1));
    EXPECT_EQ(calendar->StartOf(INT64_MIN), Instant::min());
  }
}

constexpr std::string_view kZones[] = {
    "UTC",          "Europe/Stockholm", "America/St_Johns",    "America/Sao_Paulo", "Asia/Beirut",
    "Pacific/Apia", "America/Havana",   "Australia/Lord_Howe", "Africa/Casablanca", "Asia/Tehran"};

RC_GTEST_PROP(CalendarProperty, EveryInstantIsInExactlyOneWindow, ()) {
  const auto calendar =
      Calendar::Find(*rc::gen::elementOf(std::vector(std::begin(kUnits), std::end(kUnits))),
                     *rc::gen::elementOf(std::vector(std::begin(kZones), std::end(kZones))));
  const Instant now = FromNanos(
      *rc::gen::oneOf(rc::gen::inRange(ToNanos(k1958), ToNanos(k2094)),
                      rc::gen::map(rc::gen::inRange<int64_t>(-400, 80'000),
                                   [](int64_t day) { return day * 86'400'000'000'000; })));
  const int64_t window = calendar->WindowOf(now);
  RC_ASSERT(calendar->StartOf(window) <= now);
  RC_ASSERT(now < calendar->StartOf(window + 1));
}

TEST(CalendarTest, EveryBoundaryOfFortyYearsIsMet) {
  for (const std::string_view zone : kZones) {
    for (const Unit unit : kUnits) {
      const auto calendar = Calendar::Find(unit, zone);
      const int64_t end = calendar->WindowOf(Utc(2062, 1, 1));
      for (int64_t w = calendar->WindowOf(Utc(2019, 1, 1)); w <= end; ++w) {
        const Instant start = calendar->StartOf(w);
        ASSERT_EQ(calendar->WindowOf(start), w);
        ASSERT_EQ(calendar->WindowOf(start - kNano), w - 1);
      }
    }
  }
}

}  // namespace
}  // namespace weir::calendar_test
