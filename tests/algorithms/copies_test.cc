#include "algorithms/copies.h"

#include <gtest/gtest.h>

#include "tests/algorithms/testing.h"

namespace weir::copies_test {
namespace {

TEST(CopiesTest, HeldCopiesComeBackWhenReturned) {
  const Copies copies{5};
  Copies::State state;
  EXPECT_TRUE(Ask(copies, state, 3, k2026));
  EXPECT_FALSE(Ask(copies, state, 3, k2026));
  EXPECT_EQ(copies.Room(state, k2094), 2u);  // time does nothing
  EXPECT_EQ(copies.Return(state, 2), 2u);
  EXPECT_TRUE(Ask(copies, state, 3, k2026));
  EXPECT_EQ(state.held, 4u);
}

TEST(CopiesTest, NoMoreIsReturnedThanIsHeld) {
  const Copies copies{5};
  Copies::State state{2};
  EXPECT_EQ(copies.Return(state, 3), 2u);
  EXPECT_EQ(state.held, 0u);
}

TEST(CopiesTest, LoweredLimitTakesNothingAway) {
  const Copies lowered{1};
  Copies::State state{3};
  EXPECT_EQ(lowered.Room(state, k2026), 0u);
  EXPECT_EQ(lowered.Return(state, 2), 2u);
  EXPECT_EQ(lowered.Room(state, k2026), 0u);
}

TEST(CopiesTest, NobodyKnowsWhenAHoldEnds) {
  const Copies copies{2};
  EXPECT_EQ(copies.When({1}, 1, k2026), k2026);
  EXPECT_EQ(copies.When({1}, 2, k2026), kEndOfTime);
  EXPECT_EQ(copies.Reset({1}, k2026), kEndOfTime);
  EXPECT_EQ(copies.Reset({0}, k2026), k2026);
}

TEST(CopiesTest, HeldCopiesAreForgottenLast) {
  EXPECT_EQ(Copies{1000}.Fill({1}, k2026), 16 * kFull);
  EXPECT_EQ(Copies{1000}.Fill({0}, k2026), 0u);
}

}  // namespace
}  // namespace weir::copies_test
