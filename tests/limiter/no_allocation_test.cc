// In steady state a decision allocates nothing.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "tests/limiter/testing.h"

namespace {
std::atomic<uint64_t> allocations{0};
}  // namespace

void* operator new(size_t bytes) {
  ++allocations;
  if (void* memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace weir {
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
      for (const std::string& subject : subjects) {
        for (int i = 0; i < 12; ++i) {
          limiter->Decide({"n", resource, subject}, now + std::chrono::milliseconds(i), decision);
        }
      }
    };
    round(kStart);
    round(kStart + std::chrono::seconds(10));
    const uint64_t before = allocations;
    round(kStart + std::chrono::seconds(20));
    EXPECT_EQ(allocations - before, 0u) << resource;
  }
  EXPECT_GT(allocations, 0u);  // the counter counts
}

}  // namespace
}  // namespace weir
