#include "net/keep_alive.h"

#include <gtest/gtest.h>

namespace weir::keep_alive_test {
namespace {

TEST(KeepAlive, TheLastQuestionFallsOnTheSecondAtWhichThePeerIsGivenUp) {
  for (int seconds = 2; seconds <= 3600; ++seconds) {
    const KeepAlive times = KeepAliveFor(std::chrono::seconds(seconds));
    EXPECT_EQ(times.give_up_s, seconds);
    EXPECT_LT(times.idle_s, seconds) << "it is asked at least once";
    EXPECT_EQ((seconds - times.idle_s) % times.interval_s, 0) << seconds;
    EXPECT_LE((seconds - times.idle_s) / times.interval_s, kKeepAliveQuestions) << seconds;
  }
}

TEST(KeepAlive, IsNeverLaterThanWasAskedForAndHasBounds) {
  EXPECT_EQ(KeepAliveFor(std::chrono::milliseconds(2999)).give_up_s, 2);
  EXPECT_EQ(KeepAliveFor(std::chrono::milliseconds(1)).give_up_s, 1);
  EXPECT_EQ(KeepAliveFor(kNever).give_up_s, 3600);
}

}  // namespace
}  // namespace weir::keep_alive_test
