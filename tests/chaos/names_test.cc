// A second node of a name never splits a cluster; and chaos finds it if it does.
#include "lab/chaos/names/names.h"

#include <gtest/gtest.h>

namespace weir::chaos::names_test {
namespace {

constexpr uint64_t kSeeds = 150;

void HoldsFor(uint64_t first, uint64_t seeds) {
  uint64_t seconds = 0, clean = 0, yielded = 0;
  for (uint64_t seed = first; seed < first + seeds; ++seed) {
    const NamesOutcome outcome = RunNames(seed);
    ASSERT_EQ(outcome.violation, "") << "weir-lab chaos --kind names --seeds 1 --seed " << seed;
    seconds += outcome.seconds, clean += outcome.clean, yielded += outcome.yielded;
  }
  EXPECT_GT(seconds, seeds);
  EXPECT_GT(clean, seeds / 4);
  EXPECT_GT(yielded, seeds / 2);
}

TEST(ChaosNames, EveryNameEndsUpWithOneProcessForManySeeds) { HoldsFor(1, kSeeds); }
TEST(ChaosNames, LongEveryNameEndsUpWithOneProcessForThousandsOfSeeds) { HoldsFor(1000, 3000); }

TEST(ChaosNames, PlantedBugsAreCaught) {
  for (const PlantedNamesBug& bug : PlantedNamesBugs()) {
    uint64_t seed = 1;
    while (seed <= kSeeds && RunNames(seed, bug.subject).violation.empty()) ++seed;
    EXPECT_LE(seed, kSeeds) << bug.mistake;
    std::cout << bug.name << ": seed " << seed << " " << RunNames(seed, bug.subject).violation
              << "\n";
  }
}

TEST(ChaosNames, TheSameSeedGivesTheSameTrace) {
  std::vector<std::string> traces[2];
  for (auto& trace : traces) RunNames(7, {}, &trace);
  EXPECT_GT(traces[0].size(), 5u);
  EXPECT_EQ(traces[0], traces[1]);
}

}  // namespace
}  // namespace weir::chaos::names_test
