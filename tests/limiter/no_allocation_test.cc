// In steady state a decision allocates nothing.
#include <gtest/gtest.h>

#include "tests/limiter/testing.h"
#include "tests/rules/allocations.h"

namespace weir::no_allocation_test {
namespace {

using testing::kStart;

TEST(NoAllocation, PerDecisionInSteadyState) {
  const auto limiter = testing::Open(testing::kEveryAlgorithm);
  std::vector<std::string> subjects;
  for (int i = 0; i < 1000; ++i)
    subjects.push_back("a-subject-of-some-length-" + std::to_string(i));
  for (const char* resource : {"a", "b", "c", "d", "e", "f"}) {
    Decision decision;
    const auto round = [&](Instant now) {
      for (int i = 0; i < 12; ++i) {
        for (const std::string& subject : subjects) {
          limiter->Decide({"n", resource, subject}, now + std::chrono::milliseconds(i), decision);
        }
      }
    };
    round(kStart);
    round(kStart + std::chrono::seconds(10));
    const size_t before = Allocations();
    round(kStart + std::chrono::seconds(20));
    EXPECT_EQ(Allocations(), before) << resource;
  }
  EXPECT_GT(Allocations(), 0u);  // the counter counts
}

}  // namespace
}  // namespace weir::no_allocation_test
