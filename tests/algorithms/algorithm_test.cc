#include "algorithms/algorithm.h"

#include <gtest/gtest.h>

#include "tests/algorithms/testing.h"

namespace weir::algorithm_test {
namespace {

TEST(AlgorithmTest, DivisionRoundsTowardsTheEndItNames) {
  EXPECT_TRUE(FloorDiv(7, 2) == 3 && FloorDiv(-7, 2) == -4 && FloorDiv(-8, 2) == -4);
  EXPECT_TRUE(CeilDiv(7, 2) == 4 && CeilDiv(-7, 2) == -3 && CeilDiv(8, 2) == 4);
  EXPECT_TRUE(FloorDiv(0, 5) == 0 && CeilDiv(0, 5) == 0);
}

TEST(AlgorithmTest, FillSaturatesAndIsNeverZeroForAnyUse) {
  EXPECT_EQ(FillOf(0, 10), 0u);
  EXPECT_EQ(FillOf(5, 10), kFull / 2);
  EXPECT_EQ(FillOf(10, 10), kFull);
  EXPECT_EQ(FillOf(1, uint128{1} << 120), 1u);
  EXPECT_EQ(FillOf(uint128{1} << 120, uint128{1} << 120), kFull);
  EXPECT_EQ(FillOf(161, 10), 16 * kFull);
  EXPECT_EQ(FillOf(1, 0), 16 * kFull);
}

TEST(AlgorithmTest, InstantsOutsideTheTimelineAreItsEnds) {
  EXPECT_EQ(InstantAt(5), FromNanos(5));
  EXPECT_EQ(InstantAt(int128{1} << 100), FromNanos(INT64_MAX - 1));
  EXPECT_EQ(InstantAt(INT64_MAX), FromNanos(INT64_MAX - 1));
  EXPECT_EQ(InstantAt(-(int128{1} << 100)), Instant::min());
}

}  // namespace
}  // namespace weir::algorithm_test
