// Chaos finds every planted bug, and nothing where there is none.
#include <gtest/gtest.h>

#include "lab/chaos/generate.h"
#include "lab/chaos/planted/planted.h"
#include "lab/chaos/planted/transcript.h"
#include "lab/chaos/run.h"
#include "lab/chaos/shrink.h"
#include "lab/chaos/subjects.h"

namespace weir::chaos::planted_bugs_test {
namespace {

constexpr uint64_t kSeeds = 400;
constexpr Duration kBusy = std::chrono::minutes(3);

class Planted : public testing::TestWithParam<PlantedBug> {};

TEST_P(Planted, IsCaughtAndTheSameSeedsPassWithoutIt) {
  const PlantedBug& bug = GetParam();
  const Subject real = RealSubject(bug.kind);
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Scenario scenario = Generate(seed, bug.kind, kBusy);
    const Outcome without = RunOnce(scenario, real);
    ASSERT_FALSE(without.violation) << "seed " << seed << ": " << without.violation->invariant
                                    << ": " << without.violation->what;
    const Outcome with = RunOnce(scenario, bug.subject);
    if (!with.violation) continue;
    RecordProperty("seed", static_cast<int>(seed));
    RecordProperty("invariant", with.violation->invariant);
    std::cout << "seed " << seed << " after " << Shown(with.violation->at) << ": "
              << with.violation->invariant << ": " << with.violation->what << "\n";
    return;
  }
  FAIL() << bug.mistake << ": not caught by " << kSeeds << " seeds";
}

std::string NameOfBug(const testing::TestParamInfo<PlantedBug>& bug) {
  std::string name;
  bool up = true;
  for (const char c : std::string(bug.param.name)) {
    if (c != '-') name += up ? static_cast<char>(c - 'a' + 'A') : c;
    up = c == '-';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(Bugs, Planted, testing::ValuesIn(PlantedBugs()), NameOfBug);

}  // namespace
}  // namespace weir::chaos::planted_bugs_test
