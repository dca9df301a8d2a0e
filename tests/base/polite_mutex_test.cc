#include "base/polite_mutex.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace weir::polite_mutex_test {
namespace {

TEST(PoliteMutex, ThreadsThatWaitHaveTheirTurnBetweenTwoSlices) {
  for (int round = 0; round < 50; ++round) {
    PoliteMutex mutex;
    constexpr uint64_t kOthers = 3;
    uint64_t turns = 0;  // guarded by mutex
    std::vector<std::thread> others;
    mutex.lock();
    for (uint64_t i = 0; i < kOthers; ++i) {
      others.emplace_back([&] {
        const std::lock_guard lock(mutex);
        ++turns;
      });
    }
    while (mutex.waiting() < kOthers) std::this_thread::yield();
    mutex.unlock();
    mutex.LetOthersIn();
    mutex.lock();
    EXPECT_EQ(turns, kOthers);
    mutex.unlock();
    for (std::thread& other : others) other.join();
  }
}

TEST(PoliteMutex, NobodyIsWaitedForWhereNobodyWaits) {
  PoliteMutex mutex;
  for (int i = 0; i < 3; ++i) {
    const std::lock_guard lock(mutex);
    EXPECT_FALSE(mutex.try_lock());
  }
  mutex.LetOthersIn();
  EXPECT_EQ(mutex.waiting(), 0u);
}

}  // namespace
}  // namespace weir::polite_mutex_test
