// PoolCounter's lines.
#include <gtest/gtest.h>

#include <thread>

#include "fronts/poolcounter/poolcounter_front.h"
#include "tests/fronts/testing.h"

namespace weir::poolcounter_test {
namespace {

using std::chrono::seconds;
using testing::FakeLink;
using testing::kStart;

struct PoolCounter : ::testing::Test {
  std::unique_ptr<Limiter> limiter = testing::Open("namespaces: {}");
  PoolCounterFront front{*limiter};
  FakeLink a{front}, b{front}, c{front};
};

TEST_F(PoolCounter, WhatIsNotUnderstoodIsAnError) {
  EXPECT_EQ(a.Send("GARBAGE\n\n"), "ERROR BAD_COMMAND\nERROR BAD_COMMAND\n");
  EXPECT_EQ(a.Send("acq4me l 1 1 1\n"), "ERROR BAD_COMMAND\n");
  for (const std::string bad : {"ACQ4ME ", "ACQ4ME l", "ACQ4ANY l 0 1 1", "ACQ4ME l 1 0 1",
                                "ACQ4ME l x 1 1", "ACQ4ANY l -1 1 1", "ACQ4ME l 1 x 1"}) {
    EXPECT_EQ(a.Send(bad + "\n"), "ERROR BAD_SYNTAX\n") << bad;
  }
  EXPECT_EQ(a.Send("ACQ4ME " + std::string(2000, 'k') + " 1 1 1\n"), "ERROR BAD_SYNTAX\n");
  EXPECT_EQ(a.Send("RELEASE\n"), "NOT_LOCKED\n");
  EXPECT_EQ(limiter->Stats().sessions, 0u);
  EXPECT_EQ(a.Send(std::string(5000, 'x')), "ERROR BAD_SYNTAX\n");
  EXPECT_TRUE(a.protocol().done());
}

TEST_F(PoolCounter, ALockIsHeldOnceAndReleasedOnce) {
  EXPECT_EQ(a.Send("ACQ4ME l 1 2 0\r\n"), "LOCKED\n");
  EXPECT_EQ(a.Send("ACQ4ME m 1 2 0\n"), "LOCK_HELD\n");
  EXPECT_EQ(b.Send("ACQ4ME l 1 2 0\n"), "TIMEOUT\n");
  EXPECT_EQ(b.Send("ACQ4ME l 1 1 5\n"), "QUEUE_FULL\n") << "who works is in the queue, too";
  EXPECT_EQ(b.Send("ACQ4ME other 1 1 5\n"), "LOCKED\n");
  EXPECT_EQ(a.Send("RELEASE\nRELEASE\n"), "RELEASED\nNOT_LOCKED\n");
  EXPECT_EQ(c.Send("ACQ4ME l 1 1 0\n"), "LOCKED\n");
}

TEST_F(PoolCounter, WhoWaitsIsLockedWhenAnotherThreadReleases) {
  EXPECT_EQ(a.Send("ACQ4ME l 1 2 5\n"), "LOCKED\n");
  EXPECT_EQ(b.Send("ACQ4ME l 1 2 5\n"), "");
  EXPECT_EQ(c.Send("ACQ4ME l 1 2 5\n"), "QUEUE_FULL\n");
  EXPECT_EQ(b.Send("ACQ4ME l 1 2 5\n"), "ERROR WAIT_FOR_RESPONSE\n");
  std::thread([&] { EXPECT_EQ(a.Send("RELEASE\n"), "RELEASED\n"); }).join();
  EXPECT_EQ(b.Written(), "");
  EXPECT_EQ(b.RunPosted(), "LOCKED\n");
  EXPECT_EQ(b.Send("RELEASE\n"), "RELEASED\n");
}

TEST_F(PoolCounter, PatienceEnds) {
  EXPECT_EQ(a.Send("ACQ4ME l 1 2 5\n"), "LOCKED\n");
  EXPECT_EQ(b.Send("ACQ4ME l 1 2 5\n"), "");
  limiter->Tick(kStart + seconds(4));
  EXPECT_EQ(b.RunPosted(), "");
  limiter->Tick(kStart + seconds(6));
  EXPECT_EQ(b.RunPosted(), "TIMEOUT\n");
  EXPECT_EQ(b.Send("RELEASE\n"), "NOT_LOCKED\n");
}

TEST_F(PoolCounter, WhoeverTakesAnybodysWorkIsToldThatItIsDone) {
  EXPECT_EQ(a.Send("ACQ4ANY l 1 9 5\n"), "LOCKED\n");
  EXPECT_EQ(b.Send("ACQ4ANY l 1 9 5\n"), "");
  EXPECT_EQ(a.Send("RELEASE\n"), "RELEASED\n");
  EXPECT_EQ(b.RunPosted(), "DONE\n");
  EXPECT_EQ(b.Send("RELEASE\n"), "NOT_LOCKED\n");
}

TEST_F(PoolCounter, WaitingCanBeGivenUp) {
  EXPECT_EQ(a.Send("ACQ4ME l 1 9 5\n"), "LOCKED\n");
  EXPECT_EQ(b.Send("ACQ4ME l 1 9 5\n"), "");
  EXPECT_EQ(b.Send("RELEASE\nACQ4ME l 1 9 5\n"), "RELEASED\n");
  EXPECT_EQ(b.RunPosted(), "") << "nothing is said of what was given up";
  a.Close();
  EXPECT_EQ(b.RunPosted(), "LOCKED\n");
}

TEST_F(PoolCounter, ClosingReleases) {
  EXPECT_EQ(a.Send("ACQ4ME l 1 9 5\n"), "LOCKED\n");
  EXPECT_FALSE(a.protocol().idle());
  EXPECT_EQ(b.Send("ACQ4ME l 1 9 5\n"), "");
  EXPECT_EQ(c.Send("ACQ4ME l 1 9 5\n"), "");
  b.Close();
  a.Close();
  EXPECT_EQ(c.RunPosted(), "LOCKED\n");
  c.Close();
  EXPECT_EQ(limiter->Stats().sessions, 0u);
  EXPECT_EQ(limiter->Stats().holds, 0u);
}

TEST_F(PoolCounter, AnAddressThatWaitsAsOftenAsItMayLeavesRoomForOthers) {
  testing::WaitAsOftenAsMay(*limiter, "192.0.2.7");
  FakeLink other{front, "192.0.2.8"};
  EXPECT_EQ(a.Send("ACQ4ME l 1 9 5\n"), "LOCKED\n");
  EXPECT_EQ(b.Send("ACQ4ME l 1 9 5\n"), "QUEUE_FULL\n");
  EXPECT_EQ(other.Send("ACQ4ME l 1 9 5\n"), "");
}

}  // namespace
}  // namespace weir::poolcounter_test
