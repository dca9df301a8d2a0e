#include "algorithms/fixed_window.h"

#include <gtest/gtest.h>

#include "tests/algorithms/testing.h"

namespace weir::fixed_window_test {
namespace {

using Anchor = FixedWindow::Anchor;
using Unit = Calendar::Unit;

FixedWindow OnCalendar(uint64_t limit, Unit unit, std::string_view zone) {
  return {limit, 24h, Anchor::kCalendar, Calendar::Find(unit, zone)};
}

TEST(FixedWindowTest, TenAtTheEndOfAWindowAndTenAtTheBeginningOfTheNext) {
  const FixedWindow window{10, 500ms};
  FixedWindow::State state;
  EXPECT_TRUE(Ask(window, state, 10, At(400ms)));
  EXPECT_FALSE(Ask(window, state, 1, At(500ms - kNano)));
  EXPECT_EQ(window.When(state, 1, At(400ms)), At(500ms));
  EXPECT_TRUE(Ask(window, state, 10, At(500ms)));
  EXPECT_FALSE(Ask(window, state, 1, At(500ms)));
}

TEST(FixedWindowTest, RefusalLeavesStateUntouched) {
  const FixedWindow window{2, 1s};
  FixedWindow::State state;
  EXPECT_TRUE(Ask(window, state, 2, k2026));
  const FixedWindow::State before = state;
  EXPECT_FALSE(Ask(window, state, 1, k2026 + 999ms));
  EXPECT_EQ(state, before);
}

TEST(FixedWindowTest, CostAboveLimitIsNeverAdmitted) {
  const FixedWindow window{2, 1s};
  EXPECT_EQ(window.When({}, 3, k2026), kEndOfTime);
  EXPECT_EQ(window.When({}, 2, k2026), k2026);
}

// Erratum 18: Listing 4.2 moves on by one window with each request, so that after a pause of five
// windows each of five requests finds a fresh one.
TEST(FixedWindowTest, WindowsThatPassedUnusedAreSkippedAtOnce) {
  const FixedWindow window{2, 10s};
  FixedWindow::State state;
  int admitted = 0, admitted_by_listing = 0, count = 2;
  EXPECT_TRUE(Ask(window, state, 2, At(0s)));
  Duration window_end = 10s;
  for (int i = 0; i < 10; ++i) {
    admitted += Ask(window, state, 1, At(50s));
    if (50s >= window_end) window_end += 10s, count = 0;
    admitted_by_listing += ++count <= 2;
  }
  EXPECT_EQ(admitted, 2);
  EXPECT_EQ(admitted_by_listing, 6);
  EXPECT_EQ(window.Reset(state, At(50s)), At(60s));
}

TEST(FixedWindowTest, EpochWindowsAreAlignedBeforeNineteenSeventyToo) {
  const FixedWindow window{1, 10s};
  EXPECT_EQ(window.WindowOf(At(0s)), 0);
  EXPECT_EQ(window.WindowOf(At(-kNano)), -1);
  EXPECT_EQ(window.WindowOf(At(-10s)), -1);
  EXPECT_EQ(window.WindowOf(At(-10s - kNano)), -2);
  FixedWindow::State state;
  EXPECT_TRUE(Ask(window, state, 1, At(-3s)));
  EXPECT_EQ(window.When(state, 1, At(-3s)), At(0s));
}

TEST(FixedWindowTest, FirstRequestAnchorsAnewAfterExpiry) {
  const FixedWindow window{2, 10s, Anchor::kFirstRequest};
  FixedWindow::State state;
  EXPECT_TRUE(Ask(window, state, 1, At(7s)));
  EXPECT_TRUE(Ask(window, state, 1, At(16s)));
  EXPECT_EQ(window.When(state, 1, At(16s)), At(17s));
  EXPECT_FALSE(Ask(window, state, 1, At(17s - kNano)));
  EXPECT_TRUE(Ask(window, state, 1, At(23s)));  // the window begins at 23 s, not at 17
  EXPECT_EQ(window.Reset(state, At(23s)), At(33s));
}

TEST(FixedWindowTest, CalendarDayLastsTwentyThreeOrTwentyFiveHours) {
  const FixedWindow tries = OnCalendar(5, Unit::kDay, "Europe/Stockholm");
  for (const auto& [start, length] :
       {std::pair(Utc(2026, 3, 28, 23h), 23h), std::pair(Utc(2026, 10, 24, 22h), 25h)}) {
    FixedWindow::State state;
    EXPECT_TRUE(Ask(tries, state, 5, start));
    EXPECT_EQ(tries.When(state, 1, start), start + length);
    EXPECT_FALSE(Ask(tries, state, 1, start + length - kNano));
    EXPECT_TRUE(Ask(tries, state, 5, start + length));
  }
}

TEST(FixedWindowTest, RepeatedMidnightFreesNobodyTwice) {
  const FixedWindow daily = OnCalendar(1, Unit::kDay, "America/St_Johns");
  FixedWindow::State state;
  EXPECT_TRUE(Ask(daily, state, 1, Utc(2010, 11, 7, 2h + 30min)));
  EXPECT_FALSE(Ask(daily, state, 1, Utc(2010, 11, 7, 2h + 31min)));  // 23:01 again
  EXPECT_FALSE(Ask(daily, state, 1, Utc(2010, 11, 7, 3h + 30min)));  // midnight again
  EXPECT_EQ(daily.When(state, 1, Utc(2010, 11, 7, 3h)), Utc(2010, 11, 8, 3h + 30min));
}

TEST(FixedWindowTest, CalendarMonthsFollowTheCalendar) {
  const FixedWindow monthly = OnCalendar(1000, Unit::kMonth, "UTC");
  FixedWindow::State state;
  EXPECT_TRUE(Ask(monthly, state, 1000, Utc(2028, 2, 1)));
  EXPECT_EQ(monthly.When(state, 1, Utc(2028, 2, 1)), Utc(2028, 3, 1));
  EXPECT_EQ(monthly.Reset(state, Utc(2028, 2, 29)), Utc(2028, 3, 1));
}

TEST(FixedWindowTest, StampsOutOfOrderAcrossABoundaryFreeNothing) {
  for (const Anchor anchor : {Anchor::kEpoch, Anchor::kFirstRequest}) {
    const FixedWindow window{10, 1s, anchor};
    FixedWindow::State state;
    uint64_t admitted = 0;
    for (int i = 0; i < 100; ++i) {
      for (const auto& [n, now] :
           {std::pair(uint64_t{9}, k2026), std::pair(uint64_t{1}, k2026 - kNano)}) {
        if (Ask(window, state, n, now)) admitted += n;
      }
    }
    EXPECT_EQ(admitted, 10u);
  }
}

TEST(FixedWindowTest, ClockThatStepsBackIsTreatedAsTheWindowsOwn) {
  const FixedWindow window{10, 1s};
  FixedWindow::State state;
  EXPECT_TRUE(Ask(window, state, 10, k2026 + 5s));
  EXPECT_EQ(window.Room(state, k2026), 0u);
  EXPECT_EQ(window.When(state, 1, k2026), k2026 + 6s);
  EXPECT_FALSE(Ask(window, state, 1, k2026 + 6s - kNano));
  EXPECT_TRUE(Ask(window, state, 1, k2026 + 6s));
}

TEST(FixedWindowTest, StateStoredUnderAClockAheadIsRenumberedAndLocksNobodyOut) {
  for (const FixedWindow& window : {FixedWindow{10, 1s}, FixedWindow{10, 1s, Anchor::kFirstRequest},
                                    OnCalendar(10, Unit::kDay, "Europe/Stockholm")}) {
    FixedWindow::State state;
    EXPECT_TRUE(Ask(window, state, 10, k2094));
    window.Renumber(state, k2026);
    EXPECT_EQ(window.Room(state, k2026), 0u);
    EXPECT_LE(window.When(state, 1, k2026), k2026 + 24h);
    EXPECT_TRUE(Ask(window, state, 10, k2026 + 24h));
    const FixedWindow::State before = state;
    window.Renumber(state, k2026 + 48h);
    EXPECT_EQ(state, before);
  }
}

TEST(FixedWindowTest, RefundsOnlyToTheWindowThatWasCharged) {
  const FixedWindow window{10, 1s};
  FixedWindow::State state;
  const FixedWindow::Receipt first = window.Take(state, 10, k2026);
  EXPECT_EQ(window.Refund(state, first, 4, k2026 + 1s - kNano), 4u);
  EXPECT_EQ(window.Room(state, k2026), 4u);
  window.Take(state, 10, k2026 + 1s);
  EXPECT_EQ(window.Refund(state, first, 6, k2026 + 1s), 0u);
  EXPECT_EQ(window.Room(state, k2026 + 1s), 0u);
}

TEST(FixedWindowTest, OverdrawnWindowRefusesEvenNothingUntilItEnds) {
  const FixedWindow window{10, 1s};
  FixedWindow::State state;
  window.Charge(state, 11, k2026);
  EXPECT_EQ(window.Room(state, k2026), std::nullopt);
  EXPECT_EQ(window.When(state, 0, k2026), k2026 + 1s);
  window.Charge(state, UINT64_MAX, k2026);
  EXPECT_EQ(window.Use(state, k2026), UINT64_MAX);
}

TEST(FixedWindowTest, ExtremeNumbersAreExact) {
  const FixedWindow tiny{kMostTokens, 1ns}, vast{kMostTokens, kTenYears};
  for (const Instant now : {k1958, k2026, k2094}) {
    FixedWindow::State state;
    EXPECT_TRUE(Ask(tiny, state, kMostTokens, now));
    EXPECT_EQ(tiny.When(state, 1, now), now + kNano);
    state = {};
    EXPECT_TRUE(Ask(vast, state, kMostTokens, now));
    const Instant end = vast.When(state, 1, now);
    EXPECT_GT(end, now);
    EXPECT_LE(end, now + kTenYears);
    EXPECT_EQ(ToNanos(end) % kTenYears.count(), 0);
  }
}

}  // namespace
}  // namespace weir::fixed_window_test
