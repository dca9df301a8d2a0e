// Decisions go on while rules are replaced.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/limiter/testing.h"

namespace weir::threads_test {
namespace {

using testing::kStart;

TEST(LimiterThreads, DecideWhileRulesAreReplaced) {
  constexpr std::string_view kOne =
      "namespaces: {n: {resources: {r: {limits: [{name: q, limit: 1000, per: 1h}]}}}}";
  constexpr std::string_view kOther =
      "namespaces: {n: {resources: {r: {limits: [{name: q, limit: 1000, per: 1h, burst: 1000}, "
      "{name: all, limit: 1000000, per: 1h, key: []}]}}}}";
  const auto limiter = testing::Open(kOne);
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> admitted{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      while (!stop) {
        const Decision d = limiter->Decide({"n", "r", "x"}, kStart);
        ASSERT_EQ(d.error, Code::kOk);
        ASSERT_EQ(d.limit, "q");
        admitted += d.allowed;
      }
    });
  }
  for (int i = 0; i < 200; ++i) {
    limiter->Install(testing::Rules(i % 2 == 0 ? kOther : kOne), kStart);
    limiter->Tick(kStart);
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(admitted + limiter->Peek({"n", "r", "x"}, kStart).remaining, 1000u);
}

}  // namespace
}  // namespace weir::threads_test
