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
    const uint128 back = bucket.GiveBack(state, n, marks.MarkOf(ticket), now);
    marks.Lower(ticket, back);
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

TEST(RefundMarksTest, EachTicketHasTheLeastDebtSinceItWasIssued) {
  RefundMarks marks;
  const uint64_t old = marks.Open(5);
  marks.Observe(2);
  const uint64_t young = marks.Open(9);
  EXPECT_TRUE(marks.MarkOf(old) == 2 && marks.MarkOf(young) == 9);
  EXPECT_TRUE(marks.Close(old));
  EXPECT_TRUE(marks.MarkOf(young) == 9);
  EXPECT_TRUE(marks.Close(young));
  EXPECT_TRUE(marks.empty() && marks.MarkOf(young) == 0);
}

TEST(RefundMarksTest, ARefundLowersLaterMarksByItAndEarlierOnesAsFarAsNeeded) {
  RefundMarks marks;
  const uint64_t a = marks.Open(5), b = marks.Open(12), c = marks.Open(20);
  marks.Lower(b, 4);  // b has had at least 8, so a has still had its 5
  EXPECT_TRUE(marks.MarkOf(a) == 5 && marks.MarkOf(b) == 8 && marks.MarkOf(c) == 16);
  marks.Lower(b, 6);
  EXPECT_TRUE(marks.MarkOf(a) == 2 && marks.MarkOf(b) == 2 && marks.MarkOf(c) == 10);
  EXPECT_EQ(marks.entries(), 2u);
  marks.Lower(c, 10);
  EXPECT_TRUE(marks.MarkOf(a) == 0 && marks.MarkOf(b) == 0 && marks.MarkOf(c) == 0);
  EXPECT_EQ(marks.entries(), 1u);
}

TEST(RefundMarksTest, ATicketLeftOpenTakesNothingFromOthers) {
  Settling s{TokenBucket(100'000, 1h, 100'000)};
  s.Take(10, k2026);  // and is lost
  for (int i = 0; i < 20; ++i) {
    const uint64_t ticket = s.Take(4000, k2026);
    EXPECT_TRUE(s.Refund(ticket, 3900, k2026) == s.bucket.Tokens(3900));
  }
  EXPECT_EQ(s.Room(k2026), 100'000u - 10 - 20 * 100);
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
  constexpr uint64_t kTickets = 4 * RefundMarks::kMost;
  RefundMarks marks;
  std::vector<uint64_t> tickets;
  for (uint64_t i = 1; i <= kTickets; ++i) tickets.push_back(marks.Open(10 * i));
  EXPECT_LE(marks.entries(), RefundMarks::kMost);
  EXPECT_LE(marks.bytes(), 64 * RefundMarks::kMost);
  for (uint64_t i = 1; i <= kTickets; ++i) {
    const uint128 mark = marks.MarkOf(tickets[i - 1]);
    EXPECT_TRUE(mark <= 10 * i);
    EXPECT_TRUE(mark + 10 * 16 >= 10 * i) << i << ": what was merged lay close";
  }
  for (const uint64_t ticket : tickets) EXPECT_TRUE(marks.Close(ticket));
  EXPECT_TRUE(marks.empty());
}

// Against a slow model: every ticket's own mark, by the words of the specification. The model keeps
// every debt that was seen; a refund is taken off all that were seen since the ticket.
RC_GTEST_PROP(RefundMarksProperty, EqualASlowModel, ()) {
  RefundMarks marks;
  std::vector<int64_t> seen;
  struct Ticket {
    uint64_t number;
    size_t since;
  };
  std::vector<Ticket> open;
  int64_t debt = 0;
  const auto mark_of = [&](const Ticket& ticket) {
    return *std::min_element(seen.begin() + static_cast<std::ptrdiff_t>(ticket.since), seen.end());
  };
  for (int i = *rc::gen::inRange(0, 80); i > 0; --i) {
    debt = std::max<int64_t>(0, debt - *rc::gen::inRange<int64_t>(0, 30));  // time passes
    seen.push_back(debt);
    marks.Observe(static_cast<uint128>(debt));
    const int what = *rc::gen::inRange(0, 3);
    if (what == 0 || open.empty()) {
      debt += *rc::gen::inRange<int64_t>(0, 40);
      seen.push_back(debt);
      open.push_back({marks.Open(static_cast<uint128>(debt)), seen.size() - 1});
    } else {
      const size_t chosen = *rc::gen::inRange<size_t>(0, open.size());
      const Ticket ticket = open[chosen];
      const int64_t back = *rc::gen::inRange<int64_t>(0, mark_of(ticket) + 1);
      marks.Lower(ticket.number, static_cast<uint128>(back));
      for (size_t k = ticket.since; k < seen.size(); ++k) seen[k] -= back;
      debt -= back;
      if (what == 1) {
        RC_ASSERT(marks.Close(ticket.number));
        open.erase(open.begin() + static_cast<std::ptrdiff_t>(chosen));
      }
    }
    for (const Ticket& ticket : open) {
      RC_ASSERT(marks.MarkOf(ticket.number) == static_cast<uint128>(mark_of(ticket)));
    }
    RC_ASSERT(marks.entries() <= open.size());
  }
}

// However tickets are opened, settled and lost, the bucket owes exactly what one would that was told
// from the start what each of them has kept: nothing is minted, and nothing is lost on the way. So it
// owes no less than one that was told the true costs.
RC_GTEST_PROP(RefundMarksProperty, ABucketOwesWhatAnHonestOneWould, ()) {
  Settling s{TokenBucket(10, 10s, 50)};
  const TokenBucket honest(10, 10s, 50);
  struct Taken {
    Instant at;
    uint64_t n;
    uint64_t ticket;
    uint64_t back;
    uint128 given{};  // ticks
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
      taken.given = s.Refund(std::exchange(taken.ticket, 0), taken.back, now);
    } else {
      const uint64_t n = *rc::gen::inRange<uint64_t>(0, s.Room(now) + 1);
      all.push_back({now, n, s.Take(n, now), 0});
    }
    TokenBucket::State true_costs, kept;
    for (const Taken& taken : all) {
      honest.Take(true_costs, taken.n - taken.back, taken.at);
      honest.Take(kept, taken.n, taken.at);
      kept.full_at -= taken.given;
    }
    RC_ASSERT(s.bucket.Debt(s.state, now) >= honest.Debt(true_costs, now));
    RC_ASSERT(s.bucket.Debt(s.state, now) == honest.Debt(kept, now));
  }
}

}  // namespace
}  // namespace weir::refund_marks_test
