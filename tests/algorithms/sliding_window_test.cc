#include "algorithms/sliding_window.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

#include "tests/algorithms/testing.h"

namespace weir::sliding_window_test {
namespace {

using Edge = SlidingWindow::Edge;

constexpr Edge kEdges[] = {Edge::kDrop, Edge::kWeighted, Edge::kStrict};

TEST(SlidingWindowTest, SlicesAreCutWithoutRounding) {
  const SlidingWindow window{1, 10ns, 3};  // a slice is 3 1/3 ns
  const int64_t expected[] = {0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 3};
  for (int64_t t = 0; t <= 10; ++t) EXPECT_EQ(window.SliceOf(FromNanos(t)), expected[t]) << t;
  EXPECT_EQ(window.SliceOf(FromNanos(-1)), -1);
  EXPECT_EQ(window.SliceOf(FromNanos(-10)), -3);
  for (int64_t slice = -100; slice <= 100; ++slice) {
    EXPECT_EQ(window.SliceOf(window.StartOf(slice)), slice);
    EXPECT_EQ(window.SliceOf(window.StartOf(slice) - kNano), slice - 1);
  }
}

TEST(SlidingWindowTest, DropForgetsTheOldestSlice) {
  const SlidingWindow window{10, 10s, 10, Edge::kDrop};
  SlidingWindow::State state;
  EXPECT_TRUE(Ask(window, state, 10, At(999ms)));
  EXPECT_FALSE(Ask(window, state, 1, At(10s - kNano)));
  EXPECT_EQ(window.When(state, 1, At(1s)), At(10s));
  EXPECT_EQ(window.Reset(state, At(1s)), At(10s));
  EXPECT_TRUE(Ask(window, state, 10, At(10s)));
}

TEST(SlidingWindowTest, OneDroppedSliceIsTheFixedWindow) {
  const SlidingWindow window{10, 500ms, 1, Edge::kDrop};
  SlidingWindow::State state;
  EXPECT_TRUE(Ask(window, state, 10, At(400ms)));
  EXPECT_FALSE(Ask(window, state, 1, At(500ms - kNano)));
  EXPECT_TRUE(Ask(window, state, 10, At(500ms)));
}

TEST(SlidingWindowTest, OneWeightedSliceIsTheTwoCounterWindow) {
  const SlidingWindow window{100, 60s, 1, Edge::kWeighted};
  SlidingWindow::State state;
  EXPECT_TRUE(Ask(window, state, 84, At(30s)));
  EXPECT_TRUE(Ask(window, state, 36, At(75s)));
  // A quarter into the minute: three quarters of 84 and 36 make 99.
  EXPECT_EQ(window.Use(state, At(75s)), 99u);
  EXPECT_EQ(window.Room(state, At(75s)), 1u);
  EXPECT_EQ(window.When(state, 22, At(75s)), At(90s));
  EXPECT_FALSE(Admits(window, state, 22, At(90s - kNano)));
}

TEST(SlidingWindowTest, WeightIsRoundedAgainstTheSubject) {
  const SlidingWindow window{3, 3ns, 1, Edge::kWeighted};
  SlidingWindow::State state;
  EXPECT_TRUE(Ask(window, state, 2, At(0ns)));
  EXPECT_EQ(window.Use(state, At(3ns)), 2u);
  EXPECT_EQ(window.Use(state, At(4ns)), 2u);  // 4/3
  EXPECT_EQ(window.Use(state, At(5ns)), 1u);  // 2/3
  EXPECT_EQ(window.Use(state, At(6ns)), 0u);
}

TEST(SlidingWindowTest, StrictCountsTheOldestSliceWhole) {
  const SlidingWindow window{10, 10s, 10, Edge::kStrict};
  SlidingWindow::State state;
  EXPECT_TRUE(Ask(window, state, 10, At(0s)));
  EXPECT_FALSE(Ask(window, state, 1, At(11s - kNano)));
  EXPECT_EQ(window.When(state, 1, At(0s)), At(11s));
  EXPECT_EQ(window.Reset(state, At(0s)), At(11s));
}

TEST(SlidingWindowTest, CostAboveLimitIsNeverAdmitted) {
  for (const Edge edge : kEdges) {
    const SlidingWindow window{5, 1s, 10, edge};
    EXPECT_EQ(window.When({}, 5, k2026), k2026);
    EXPECT_EQ(window.When({}, 6, k2026), kEndOfTime);
  }
}

TEST(SlidingWindowTest, RefusalLeavesStateUntouched) {
  for (const Edge edge : kEdges) {
    const SlidingWindow window{5, 1s, 10, edge};
    SlidingWindow::State state;
    window.Take(state, 5, k2026);
    const SlidingWindow::State before = state;
    EXPECT_FALSE(Ask(window, state, 1, k2026 + 500ms));
    EXPECT_EQ(state, before);
  }
}

// All at the last nanosecond of a slice, and as much as there is room for a window later.
uint64_t WorstBurst(const SlidingWindow& window, Duration later) {
  SlidingWindow::State state;
  const Instant first = window.StartOf(window.SliceOf(k2026) + 1) - kNano;
  EXPECT_TRUE(Ask(window, state, window.limit, first));
  const Instant second = first + later;
  EXPECT_LT(second - first, window.per);
  const uint64_t room = window.Room(state, second).value();
  EXPECT_TRUE(Ask(window, state, room, second));
  return window.limit + room;
}

TEST(SlidingWindowTest, DropReachesTwiceTheLimit) {
  for (const uint32_t slices : {1u, 2u, 10u, 100u}) {
    const SlidingWindow window{50, 10s, slices, Edge::kDrop};
    EXPECT_EQ(WorstBurst(window, window.per - window.per / slices + kNano), 100u);
  }
}

TEST(SlidingWindowTest, WeightedReachesTwiceTheLimitLessOne) {
  for (const uint32_t slices : {1u, 2u, 10u, 100u}) {
    const SlidingWindow window{50, 10s, slices, Edge::kWeighted};
    EXPECT_EQ(WorstBurst(window, window.per - kNano), 99u);
  }
}

TEST(SlidingWindowTest, StrictReachesTheLimit) {
  for (const uint32_t slices : {1u, 2u, 10u, 100u}) {
    const SlidingWindow window{50, 10s, slices, Edge::kStrict};
    EXPECT_EQ(WorstBurst(window, window.per - kNano), 50u);
  }
}

uint64_t BoundOf(const SlidingWindow& window) {
  switch (window.edge) {
    case Edge::kDrop: return 2 * window.limit;
    case Edge::kWeighted: return 2 * window.limit - 1;
    case Edge::kStrict: return window.limit;
  }
  return 0;
}

RC_GTEST_PROP(SlidingWindowProperty, NoSearchExceedsTheBoundOfItsEdge, ()) {
  const int64_t per = *rc::gen::inRange<int64_t>(6, 60);
  const SlidingWindow window{*rc::gen::inRange<uint64_t>(1, 30), Duration(per),
                             *rc::gen::inRange<uint32_t>(1, 7),
                             *rc::gen::element(Edge::kDrop, Edge::kWeighted, Edge::kStrict)};
  SlidingWindow::State state;
  std::vector<std::pair<Instant, uint64_t>> admitted;
  Instant now = k2026;
  for (int i = *rc::gen::inRange(0, 100); i > 0; --i) {
    now += Duration(*rc::gen::oneOf(rc::gen::inRange<int64_t>(0, 4), rc::gen::just(per - 1),
                                    rc::gen::inRange<int64_t>(0, per)));
    const uint64_t room = window.Room(state, now).value();
    const uint64_t n = *rc::gen::element(room, room, room / 2, std::min(room, uint64_t{1}));
    window.Take(state, n, now);
    admitted.push_back({now, n});
  }
  for (size_t i = 0; i < admitted.size(); ++i) {
    uint64_t sum = 0;
    for (size_t j = i; j < admitted.size(); ++j) {
      if (admitted[j].first - admitted[i].first <= window.per) sum += admitted[j].second;
    }
    RC_ASSERT(sum <= BoundOf(window));
  }
}

TEST(SlidingWindowTest, StampsOutOfOrderAcrossASliceFreeNothing) {
  for (const Edge edge : kEdges) {
    const SlidingWindow window{100, 1s, 10, edge};
    SlidingWindow::State state;
    uint64_t admitted = 0;
    for (int i = 0; i < 1000; ++i) {
      for (const Instant now : {k2026, k2026 - kNano}) {
        if (Ask(window, state, 1, now)) ++admitted;
      }
    }
    EXPECT_EQ(admitted, 100u);
  }
}

TEST(SlidingWindowTest, StateStoredUnderAClockAheadIsRenumberedAndLocksNobodyOut) {
  for (const Edge edge : kEdges) {
    const SlidingWindow window{10, 1s, 10, edge};
    SlidingWindow::State state;
    window.Take(state, 4, k2094);
    window.Take(state, 6, k2094 + 300ms);
    window.Renumber(state, k2026 + 300ms);
    SlidingWindow::State expected;
    window.Take(expected, 4, k2026);
    window.Take(expected, 6, k2026 + 300ms);
    EXPECT_EQ(state, expected);
    window.Renumber(state, k2026 + 5s);
    EXPECT_EQ(state, expected);
  }
}

TEST(SlidingWindowTest, MemoryDoesNotDependOnTheNumberOfRequests) {
  const SlidingWindow window{kMostTokens, 1s, 10, Edge::kWeighted};
  SlidingWindow::State state;
  window.Take(state, 1, k2026);
  const size_t bytes = state.bytes();
  EXPECT_EQ(bytes, 16 * sizeof(uint64_t));
  for (int i = 0; i < 100'000; ++i) window.Take(state, 1, k2026 + i * 1ms);
  EXPECT_EQ(state.bytes(), bytes);
}

TEST(SlidingWindowTest, RefundsOnlyToTheSliceThatWasChargedWhileItCounts) {
  const SlidingWindow window{10, 10s, 10, Edge::kDrop};
  SlidingWindow::State state;
  const SlidingWindow::Receipt slice = window.Take(state, 4, At(0s));
  window.Take(state, 6, At(5s));
  EXPECT_EQ(window.Refund(state, slice, 3, At(10s - kNano)), 3u);
  EXPECT_EQ(window.Room(state, At(9s)), 3u);
  EXPECT_EQ(window.Refund(state, slice, 1, At(10s)), 0u);
  EXPECT_EQ(window.Refund(state, slice + 100, 1, At(5s)), 0u);

  const SlidingWindow strict{10, 10s, 10, Edge::kStrict};
  EXPECT_EQ(strict.Refund(state, slice, 1, At(11s - kNano)), 1u);
}

TEST(SlidingWindowTest, OverdrawnWindowRefusesEvenNothing) {
  const SlidingWindow window{10, 10s, 10, Edge::kStrict};
  SlidingWindow::State state;
  window.Charge(state, 8, At(0s));
  window.Charge(state, 3, At(5s));
  EXPECT_EQ(window.Room(state, At(5s)), std::nullopt);
  EXPECT_EQ(window.When(state, 0, At(5s)), At(11s));
  window.Charge(state, UINT64_MAX, At(5s));
  EXPECT_EQ(window.Use(state, At(5s)), UINT64_MAX);
}

TEST(SlidingWindowTest, ExtremeNumbersAreExact) {
  for (const Instant now : {k1958, k2026, k2094}) {
    for (const Edge edge : kEdges) {
      const SlidingWindow tiny{kMostTokens, 1ns, 1, edge};
      SlidingWindow::State state;
      EXPECT_TRUE(Ask(tiny, state, kMostTokens, now));
      EXPECT_EQ(tiny.When(state, 1, now), now + (edge == Edge::kDrop ? 1ns : 2ns));

      const SlidingWindow vast{kMostTokens, kTenYears, 10'000, edge};
      state = {};
      EXPECT_TRUE(Ask(vast, state, kMostTokens, now));
      const Instant when = vast.When(state, 1, now);
      EXPECT_TRUE(Admits(vast, state, 1, when));
      EXPECT_FALSE(Admits(vast, state, 1, when - kNano));
    }
  }
  // 2^53 hits, of which one has to leave: a 2^53th of the slice of 8766 h.
  const SlidingWindow weighted{kMostTokens, kTenYears, 10, Edge::kWeighted};
  SlidingWindow::State state;
  const Instant start = weighted.StartOf(weighted.SliceOf(k2026));
  EXPECT_TRUE(Ask(weighted, state, kMostTokens, start));
  const Instant window_end = weighted.StartOf(weighted.SliceOf(start) + 10);
  EXPECT_EQ(weighted.When(state, 1, start), window_end + 4ns);
}

}  // namespace
}  // namespace weir::sliding_window_test
