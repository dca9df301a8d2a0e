#include "algorithms/refund_marks.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

#include "algorithms/token_bucket.h"
#include "tests/algorithms/testing.h"

namespace weir::refund_marks_test {
namespace {

// A bucket that settles, as a store would do it.
struct Settling {
  TokenBucket bucket;
  TokenBucket::State state{};
  RefundMarks marks{};

  uint64_t Take(uint64_t n, Instant now) {
    marks.Observe(bucket.Debt(state, now));
    bucket.Take(state, n, now);
    return marks.Open(bucket.Debt(state, now));
  }
  void TakeForGood(uint64_t n, Instant now) {
    marks.Observe(bucket.Debt(state, now));
    bucket.Take(state, n, now);
  }
  uint128 Refund(uint64_t ticket, uint64_t n, Instant now) {
    marks.Observe(bucket.Debt(state, now));
    const uint128 back = bucket.GiveBack(state, n, marks.Mark(), now);
    marks.Lower(back);
    EXPECT_TRUE(marks.Close(ticket));
    return back;
  }
  uint64_t Room(Instant now) const { return bucket.Room(state, now).value_or(0); }
};

TEST(RefundMarksTest, PromptRefundGivesAllBack) {
  Settling s{TokenBucket(10, 10s, 10)};
  const uint64_t ticket = s.Take(10, k2026);
  s.Refund(ticket, 7, k2026);
  EXPECT_EQ(s.Room(k2026), 7u);
  EXPECT_TRUE(s.marks.empty());
}

TEST(RefundMarksTest, TenLongRefilledTicketsDoNotMakeTenBursts) {
  Settling s{TokenBucket(10, 10s, 10)};
  std::vector<uint64_t> tickets;
  Instant now = k2026;
  for (int i = 0; i < 10; ++i, now += 10s) tickets.push_back(s.Take(10, now));
  s.TakeForGood(10, now);
  for (const uint64_t ticket : tickets) EXPECT_TRUE(s.Refund(ticket, 10, now) == 0);
  EXPECT_EQ(s.Room(now), 0u);
}

TEST(RefundMarksTest, PartlyRefilledTicketGetsTheRest) {
  Settling s{TokenBucket(10, 10s, 10)};
  const uint64_t ticket = s.Take(10, k2026);
  s.TakeForGood(6, k2026 + 6s);  // the debt has been 4
  EXPECT_TRUE(s.Refund(ticket, 10, k2026 + 6s) == s.bucket.Tokens(4));
  EXPECT_EQ(s.Room(k2026 + 6s), 4u);
}

TEST(RefundMarksTest, RefundLowersTheMarksOfLaterTicketsToo) {
  // Debts 5, 10, 15; down to 9 by refill; 10 more. Without the three tickets 10 would be owed.
  Settling s{TokenBucket(10, 10s, 30)};
  const uint64_t a = s.Take(5, k2026), b = s.Take(5, k2026), c = s.Take(5, k2026);
  s.TakeForGood(10, k2026 + 6s);
  s.Refund(a, 5, k2026 + 6s);
  s.Refund(b, 5, k2026 + 6s);
  s.Refund(c, 5, k2026 + 6s);
  EXPECT_EQ(s.Room(k2026 + 6s), 20u);
}

TEST(RefundMarksTest, MarkRisesWhenTheOldestTicketIsClosed) {
  RefundMarks marks;
  const uint64_t old = marks.Open(5);
  marks.Observe(2);
  const uint64_t young = marks.Open(9);
  EXPECT_TRUE(marks.Mark() == 2);
  EXPECT_TRUE(marks.Close(old));
  EXPECT_TRUE(marks.Mark() == 9);
  EXPECT_TRUE(marks.Close(young));
  EXPECT_TRUE(marks.empty() && marks.Mark() == 0);
}

TEST(RefundMarksTest, TicketsOfOneMarkAreOneEntry) {
  RefundMarks marks;
  for (int i = 0; i < 1000; ++i) marks.Open(7);
  EXPECT_LE(marks.bytes(), 64u);
  for (uint64_t ticket = 1; ticket <= 1000; ++ticket) {
    EXPECT_FALSE(marks.empty());
    EXPECT_TRUE(marks.Close(ticket));
  }
  EXPECT_TRUE(marks.empty());
}

TEST(RefundMarksTest, UnknownTicketIsNotClosed) {
  RefundMarks marks;
  EXPECT_FALSE(marks.Close(1));
  const uint64_t ticket = marks.Open(3);
  EXPECT_FALSE(marks.Close(ticket + 1));
  EXPECT_FALSE(marks.Close(0));
  EXPECT_TRUE(marks.Close(ticket));
  EXPECT_FALSE(marks.Close(ticket));
}

TEST(RefundMarksTest, ManyMarksAreMergedAgainstTheRefund) {
  RefundMarks marks;
  std::vector<uint64_t> tickets;
  for (uint64_t i = 1; i <= 1000; ++i) tickets.push_back(marks.Open(i));
  EXPECT_LE(marks.bytes(), 64 * RefundMarks::kMost);
  EXPECT_TRUE(marks.Mark() == 1);
  for (uint64_t i = 0; i < 1000 - RefundMarks::kMost; ++i) {
    EXPECT_TRUE(marks.Close(tickets[i]));
    EXPECT_TRUE(marks.Mark() == 1);
  }
  EXPECT_TRUE(marks.Close(tickets[1000 - RefundMarks::kMost]));
  EXPECT_TRUE(marks.Mark() == 1000 - RefundMarks::kMost + 2);
}

// However tickets are opened and settled, the bucket owes no less than one that was told the true
// costs from the start, and hands out no more than burst + refill + what was given back.
RC_GTEST_PROP(RefundMarksProperty, NoRefundIsMoreThanAnHonestBucketWouldHave, ()) {
  Settling s{TokenBucket(10, 10s, 50)};
  const TokenBucket honest(10, 10s, 50);
  struct Taken {
    Instant at;
    uint64_t n;
    uint64_t ticket;
    uint64_t back;
  };
  std::vector<Taken> all;
  Instant now = k2026;
  for (int i = *rc::gen::inRange(0, 40); i > 0; --i) {
    now += Duration(*rc::gen::inRange<int64_t>(0, 3'000'000'000));
    std::vector<size_t> open;
    for (size_t k = 0; k < all.size(); ++k) {
      if (all[k].ticket != 0) open.push_back(k);
    }
    if (*rc::gen::inRange(0, 2) == 0 && !open.empty()) {
      Taken& taken = all[open[*rc::gen::inRange<size_t>(0, open.size())]];
      taken.back = *rc::gen::inRange<uint64_t>(0, taken.n + 1);
      s.Refund(std::exchange(taken.ticket, 0), taken.back, now);
    } else {
      const uint64_t n = *rc::gen::inRange<uint64_t>(0, s.Room(now) + 1);
      all.push_back({now, n, s.Take(n, now), 0});
    }
    TokenBucket::State state;
    for (const Taken& taken : all) honest.Take(state, taken.n - taken.back, taken.at);
    RC_ASSERT(s.bucket.Debt(s.state, now) >= honest.Debt(state, now));
  }
}

}  // namespace
}  // namespace weir::refund_marks_test
