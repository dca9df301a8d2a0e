#include "base/shared_array.h"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <thread>

namespace weir::shared_array_test {
namespace {

using Numbers = SharedArray<std::shared_ptr<int>>;

Numbers Counting(int size) {
  Numbers none;
  Numbers::Edit edit(none);
  edit.Grow(static_cast<size_t>(size));
  for (int i = 0; i < size; ++i) edit.At(static_cast<size_t>(i)) = std::make_shared<int>(i);
  return std::move(edit).Finish();
}

TEST(SharedArray, AnEditChangesOnlyTheNewOne) {
  const Numbers before = Counting(1000);
  Numbers::Edit edit(before);
  edit.At(500) = std::make_shared<int>(-1);
  edit.At(501) = nullptr;
  edit.Grow(1001);
  EXPECT_EQ(edit[1000], nullptr);
  const Numbers after = std::move(edit).Finish();
  EXPECT_EQ(before.size(), 1000u);
  EXPECT_EQ(after.size(), 1001u);
  EXPECT_EQ(*before[500], 500);
  EXPECT_EQ(*before[501], 501);
  EXPECT_EQ(*after[500], -1);
  EXPECT_EQ(after[501], nullptr);
  for (size_t i = 0; i < before.size(); ++i) {
    if (i != 500 && i != 501) {
      EXPECT_EQ(before[i], after[i]);
    }
  }
}

TEST(SharedArray, WhatDidNotChangeIsNotCopied) {
  const Numbers before = Counting(10'000);
  Numbers::Edit edit(before);
  edit.At(77) = nullptr;
  const Numbers after = std::move(edit).Finish();
  size_t copied = 0;
  for (size_t i = 0; i < after.size(); ++i) copied += &before[i] != &after[i] ? 1 : 0;
  EXPECT_LE(copied, 64u);
}

TEST(SharedArray, WhatNobodyHasAnyMoreIsFreed) {
  std::weak_ptr<int> seen;
  {
    Numbers all = Counting(200);
    seen = all[150];
    Numbers::Edit edit(all);
    edit.At(150) = nullptr;
    all = std::move(edit).Finish();
    EXPECT_TRUE(seen.expired()) << "the last that had it is gone";
    EXPECT_EQ(*all[151], 151);
  }
}

TEST(SharedArray, ManyThreadsReadAndGiveUpOld) {
  auto now = std::make_shared<const Numbers>(Counting(1000));
  std::mutex mutex;
  std::atomic<bool> done{false};
  std::vector<std::thread> readers;
  for (int t = 0; t < 3; ++t) {
    readers.emplace_back([&] {
      while (!done.load()) {
        std::shared_ptr<const Numbers> mine;
        {
          const std::lock_guard lock(mutex);
          mine = now;
        }
        int64_t sum = 0;
        for (size_t i = 0; i < mine->size(); ++i) sum += *(*mine)[i];
        EXPECT_GE(sum, 1000 * 999 / 2);
      }
    });
  }
  for (int i = 0; i < 300; ++i) {
    Numbers::Edit edit(*now);
    edit.At(static_cast<size_t>(i * 37 % 1000)) = std::make_shared<int>(5000);
    auto next = std::make_shared<const Numbers>(std::move(edit).Finish());
    const std::lock_guard lock(mutex);
    now.swap(next);
  }
  done = true;
  for (std::thread& reader : readers) reader.join();
}

}  // namespace
}  // namespace weir::shared_array_test
