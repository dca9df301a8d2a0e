// The number of a node's life grows, whatever the clock says, and never runs out.
#include "server/data/incarnation.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/random.h"

namespace weir::incarnation_test {
namespace {

constexpr Instant kNow = FromNanos(1'800'000'000'000'000'000);
constexpr Duration kYear = std::chrono::hours(24 * 365);

class LivesOfANode : public ::testing::Test {
 protected:
  LivesOfANode() {
    std::string pattern = ::testing::TempDir() + "weir_incarnation_XXXXXX";
    directory_ = mkdtemp(pattern.data());
  }
  ~LivesOfANode() override { std::filesystem::remove_all(directory_); }
  uint32_t Start(Instant now) {
    const Result<Incarnation> next = NextIncarnation(directory_ + "/incarnation", now);
    EXPECT_TRUE(next) << next.error().message;
    return next ? next->number : 0;
  }
  std::string directory_;
};

TEST_F(LivesOfANode, GrowsThoughTheClockWasSetBack) {
  const uint32_t first = Start(kNow);
  EXPECT_GT(Start(kNow), first);
  EXPECT_GT(Start(kNow - 3 * kYear), first + 1);
  EXPECT_GT(Start(kNow + kYear), first + 2);
}

TEST_F(LivesOfANode, ANodeThatStartedUnderAClockFarAheadStartsAgain) {
  for (const int years : {28, 68, 230}) {
    uint32_t last = Start(kNow + years * kYear);
    for (int i = 0; i < 3; ++i) {
      const uint32_t next = Start(kNow);
      EXPECT_GT(next, last) << years << " years";
      last = next;
    }
  }
}

TEST_F(LivesOfANode, TheGreatestNumberIsNoReasonNotToStart) {
  std::ofstream(directory_ + "/incarnation") << UINT32_MAX << "\n";
  const uint32_t next = Start(kNow);
  EXPECT_EQ(next, NextIncarnation("", kNow)->number) << "the clock is believed again";
  EXPECT_GT(Start(kNow), next);
}

// Killed as soon as it has said a word, and started again at once.
TEST_F(LivesOfANode, NoTwoThatHaveSpokenShareANumberHoweverSoonTheyFollow) {
  Random random(1);
  Instant now = kNow;
  uint32_t last = 0;
  for (int i = 0; i < 10'000; ++i) {
    const Incarnation life = *NextIncarnation("", now);
    EXPECT_GT(life.silent_for, Duration::zero());
    EXPECT_LE(life.silent_for, std::chrono::milliseconds(250));
    ASSERT_GT(life.number, last);
    last = life.number;
    now += life.silent_for + Duration(random.Below(random.Below(2) == 0 ? 1'000 : 400'000'000));
  }
}

TEST_F(LivesOfANode, OneWhosePredecessorIsKnownNeedNotKeepSilent) {
  const std::string path = directory_ + "/incarnation";
  const Incarnation first = *NextIncarnation(path, kNow);
  EXPECT_GT(first.silent_for, Duration::zero()) << "one before it may have kept nothing";
  const Incarnation second = *NextIncarnation(path, kNow);
  EXPECT_EQ(second.silent_for, Duration::zero());
  EXPECT_GT(second.number, first.number);
}

}  // namespace
}  // namespace weir::incarnation_test
