// Rows of a debt: merging them in any order, twice or not at all, ends in the same debt.
#include "replication/debt_rows.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace weir::debt_rows_test {
namespace {

constexpr Instant kStart = FromNanos(1'800'000'000'000'000'000);
constexpr ReplicatedBucket kLimit{10, 1, std::chrono::seconds(1)};
const Ticks kTicks(kLimit);
constexpr Origin kSelf{1, 1}, kOther{2, 1};
using std::chrono::milliseconds;
using std::chrono::seconds;

bool Charge(DebtRows& rows, Origin self, uint64_t cost, Instant now) {
  static uint64_t segments = 0;
  if (rows.Debt(kTicks, now) + kTicks.Of(cost) > kTicks.Of(kLimit.capacity)) return false;
  rows.Charge(kTicks, self, cost, now, segments);
  return true;
}

TEST(DebtRows, OneNodeAloneIsATokenBucket) {
  DebtRows rows;
  EXPECT_TRUE(Charge(rows, kSelf, 10, kStart));
  EXPECT_FALSE(Charge(rows, kSelf, 1, kStart + milliseconds(999)));
  EXPECT_TRUE(Charge(rows, kSelf, 1, kStart + seconds(1)));
  EXPECT_FALSE(Charge(rows, kSelf, 1, kStart + seconds(1)));
  EXPECT_EQ(rows.rows().size(), 1u) << "one busy period, one row";
  EXPECT_EQ(rows.ZeroAt(kTicks, kStart + seconds(1)), kStart + seconds(11));
}

TEST(DebtRows, IdleTimeIsNoCredit) {
  DebtRows rows;
  EXPECT_TRUE(Charge(rows, kSelf, 2, kStart));
  EXPECT_TRUE(Charge(rows, kSelf, 2, kStart + seconds(100)));
  EXPECT_EQ(rows.Debt(kTicks, kStart + seconds(100)), kTicks.Of(2));
  EXPECT_EQ(rows.rows().size(), 2u) << "another period, another row";
}

TEST(DebtRows, DebtBeyondTheCapacityIsCarried) {
  DebtRows rows;
  rows.Merge({kOther, 1, kStart, 10, 0});
  rows.Merge({{3, 1}, 1, kStart, 10, 0});
  EXPECT_EQ(rows.Debt(kTicks, kStart), kTicks.Of(20));
  EXPECT_FALSE(Charge(rows, kSelf, 1, kStart + seconds(10)));
  EXPECT_TRUE(Charge(rows, kSelf, 1, kStart + seconds(11)));
}

TEST(DebtRows, EndedPeriodsAreDroppedTogether) {
  DebtRows rows;
  rows.Merge({kOther, 1, kStart, 5, 0});
  rows.Merge({kSelf, 1, kStart + seconds(2), 5, 0});    // the same period: until 10 s
  rows.Merge({kOther, 2, kStart + seconds(20), 5, 0});  // until 25 s
  rows.Merge({kOther, 3, kStart + seconds(40), 5, 0});  // runs
  rows.DropEnded(kTicks, kStart + seconds(9), kStart + seconds(41));
  EXPECT_EQ(rows.rows().size(), 4u);
  rows.DropEnded(kTicks, kStart + seconds(10), kStart + seconds(41));
  EXPECT_EQ(rows.rows().size(), 2u);
  rows.DropEnded(kTicks, kStart + seconds(30), kStart + seconds(41));
  EXPECT_EQ(rows.rows().size(), 1u);
  EXPECT_EQ(rows.Debt(kTicks, kStart + seconds(41)), kTicks.Of(4));
}

TEST(DebtRows, ARefundIsTakenFromTheLatest) {
  DebtRows rows;
  EXPECT_TRUE(Charge(rows, kSelf, 3, kStart));
  EXPECT_TRUE(rows.Refund(kTicks, kSelf, 2, kStart));
  EXPECT_EQ(rows.Debt(kTicks, kStart), kTicks.Of(1));
  EXPECT_TRUE(rows.Refund(kTicks, kSelf, 100, kStart));
  EXPECT_EQ(rows.Debt(kTicks, kStart), kTicks.Of(0)) << "not below nothing";
  EXPECT_FALSE(rows.Refund(kTicks, kSelf, 1, kStart)) << "there is nothing left";
}

TEST(DebtRows, OfWhatIsOverNothingIsTakenBack) {
  DebtRows rows;
  EXPECT_TRUE(Charge(rows, kSelf, 3, kStart));
  EXPECT_FALSE(rows.Refund(kTicks, kSelf, 3, kStart + seconds(4)));
  EXPECT_TRUE(Charge(rows, kSelf, 2, kStart + seconds(5)));
  EXPECT_TRUE(rows.Refund(kTicks, kSelf, 5, kStart + seconds(5)));
  EXPECT_EQ(rows.rows().front().refunded, 0u);
}

TEST(DebtRows, TellWhenTheDebtBecameZero) {
  DebtRows rows;
  EXPECT_TRUE(Charge(rows, kSelf, 2, kStart));
  EXPECT_EQ(rows.ZeroAt(kTicks, kStart), kStart + seconds(2));
  EXPECT_EQ(rows.ZeroAt(kTicks, kStart + seconds(100)), kStart + seconds(2));
}

std::vector<DebtRows::Row> SomeRows() {
  std::vector<DebtRows::Row> rows;
  const int count = *rc::gen::inRange(1, 12);
  for (int i = 0; i < count; ++i) {
    const uint64_t charged = *rc::gen::inRange<uint64_t>(1, 9);
    rows.push_back({{*rc::gen::inRange<uint32_t>(0, 3), 1},
                    *rc::gen::inRange<uint64_t>(1, 4),
                    kStart + milliseconds(*rc::gen::inRange(0, 20'000)),
                    charged,
                    *rc::gen::inRange<uint64_t>(0, charged)});
  }
  return rows;
}

RC_GTEST_PROP(DebtRows, MergingIsCommutativeAssociativeIdempotent, ()) {
  const std::vector<DebtRows::Row> all = SomeRows();
  std::vector<DebtRows::Row> shuffled = all;
  for (size_t i = shuffled.size(); i > 1; --i) {
    std::swap(shuffled[i - 1], shuffled[*rc::gen::inRange<size_t>(0, i)]);
  }
  const size_t again = *rc::gen::inRange<size_t>(0, all.size());
  shuffled.push_back(all[again]);
  DebtRows one, other;
  for (const DebtRows::Row& row : all) one.Merge(row);
  for (const DebtRows::Row& row : shuffled) other.Merge(row);
  RC_ASSERT(one.rows() == other.rows());
  const Instant now = kStart + seconds(*rc::gen::inRange(0, 60));
  RC_ASSERT(one.Debt(kTicks, now) == other.Debt(kTicks, now));
  for (const DebtRows::Row& row : all) RC_ASSERT(!one.Merge(row));
}

// What is kept between decisions is what folding everything anew would give.
RC_GTEST_PROP(DebtRows, TheKeptDebtIsTheFoldOfAllRows, ()) {
  DebtRows kept;
  Instant now = kStart;
  for (int i = 0; i < 30; ++i) {
    now += milliseconds(*rc::gen::inRange(0, 3000));
    if (*rc::gen::inRange(0, 3) == 0) {
      kept.Merge({kOther, *rc::gen::inRange<uint64_t>(1, 5),
                  now - milliseconds(*rc::gen::inRange(0, 2000)), *rc::gen::inRange<uint64_t>(1, 9),
                  0});
    } else {
      Charge(kept, kSelf, *rc::gen::inRange<uint64_t>(1, 4), now);
    }
    DebtRows anew;
    for (const DebtRows::Row& row : kept.rows()) anew.Merge(row);
    RC_ASSERT(kept.Debt(kTicks, now) == anew.Debt(kTicks, now));
  }
}

}  // namespace
}  // namespace weir::debt_rows_test
