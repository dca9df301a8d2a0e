// The number of a node's life grows, whatever the clock says, and never runs out.
#include "server/incarnation.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace weir::incarnation_test {
namespace {

constexpr Instant kNow = FromNanos(1'800'000'000'000'000'000);
constexpr Duration kYear = std::chrono::hours(24 * 365);

class Incarnation : public ::testing::Test {
 protected:
  Incarnation() {
    std::string pattern = ::testing::TempDir() + "weir_incarnation_XXXXXX";
    directory_ = mkdtemp(pattern.data());
  }
  ~Incarnation() override { std::filesystem::remove_all(directory_); }
  uint32_t Start(Instant now) {
    const Result<uint32_t> next = NextIncarnation(directory_ + "/incarnation", now);
    EXPECT_TRUE(next) << next.error().message;
    return next ? *next : 0;
  }
  std::string directory_;
};

TEST_F(Incarnation, GrowsThoughTheClockWasSetBack) {
  const uint32_t first = Start(kNow);
  EXPECT_GT(Start(kNow), first);
  EXPECT_GT(Start(kNow - 3 * kYear), first + 1);
  EXPECT_GT(Start(kNow + kYear), first + 2);
}

TEST_F(Incarnation, ANodeThatStartedUnderAClockFarAheadStartsAgain) {
  for (const int years : {28, 68, 230}) {
    uint32_t last = Start(kNow + years * kYear);
    for (int i = 0; i < 3; ++i) {
      const uint32_t next = Start(kNow);
      EXPECT_GT(next, last) << years << " years";
      last = next;
    }
  }
}

TEST_F(Incarnation, TheGreatestNumberIsNoReasonNotToStart) {
  std::ofstream(directory_ + "/incarnation") << UINT32_MAX << "\n";
  const uint32_t next = Start(kNow);
  EXPECT_EQ(next, *NextIncarnation("", kNow)) << "the clock is believed again";
  EXPECT_GT(Start(kNow), next);
}

}  // namespace
}  // namespace weir::incarnation_test
