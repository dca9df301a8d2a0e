// Tickets: bounded, and nobody's flood voids another's.
#include <gtest/gtest.h>

#include "limiter/ticket_book.h"
#include "tests/limiter/testing.h"

namespace weir::ticket_book_test {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using testing::kStart;

class Tickets : public ::testing::Test {
 protected:
  MemoryStore store_{uint64_t{64} << 20, kStart};
  std::vector<Receipt> forgone_;
  // In steps, none of which is long.
  void Expire(TicketBook& book, Instant now) {
    for (bool more = true; more;) {
      const size_t before = book.open();
      more = book.ExpireSome(now, &forgone_);
      ASSERT_LE(before - book.open(), TicketBook::kExpireAtOnce);
    }
  }
  Ticket Issue(TicketBook& book, uint32_t owner, Instant now = kStart) {
    return book.Issue(std::vector<Receipt>(1), owner, 0, now, &forgone_);
  }
};

TEST_F(Tickets, TheOwnerWithTheMostLosesItsOldest) {
  TicketBook book("n", minutes(10), 1600, uint64_t{1} << 30, store_);
  std::vector<Ticket> few;
  for (int i = 0; i < 100; ++i) few.push_back(Issue(book, 1));
  const Ticket first = Issue(book, 2);
  Ticket last;
  for (int i = 0; i < 100'000; ++i) last = Issue(book, 2);
  EXPECT_LE(book.open(), 1616u);
  EXPECT_EQ(forgone_.size(), 100'101u - book.open());
  for (const Ticket& ticket : few) EXPECT_TRUE(book.Close(ticket, kStart));
  EXPECT_FALSE(book.Close(first, kStart));
  EXPECT_TRUE(book.Close(last, kStart));
  EXPECT_FALSE(book.Close(last, kStart)) << "once";
}

TEST_F(Tickets, AreBoundedInBytesWhichCountInTheStore) {
  const uint64_t before = store_.bytes();
  TicketBook book("n", minutes(10), size_t{1} << 30, uint64_t{1} << 20, store_);
  for (int i = 0; i < 100'000; ++i) {
    Issue(book, static_cast<uint32_t>(i % 3));
    ASSERT_LE(book.bytes(), uint64_t{1} << 20);
  }
  EXPECT_GT(book.bytes(), uint64_t{1} << 19);
  EXPECT_EQ(store_.bytes(), before + book.bytes());
  Expire(book, kStart + minutes(10));
  EXPECT_EQ(book.open(), 0u);
  EXPECT_EQ(forgone_.size(), 100'000u);
  EXPECT_EQ(store_.bytes(), before);
}

// An open ticket that nobody settles keeps nothing behind it.
TEST_F(Tickets, ClosedOnesLeaveNothing) {
  TicketBook book("n", minutes(10), size_t{1} << 20, uint64_t{1} << 30, store_);
  const Ticket lost = Issue(book, 1);
  const uint64_t of_one = book.bytes();
  for (int i = 0; i < 10'000; ++i) ASSERT_TRUE(book.Close(Issue(book, 1), kStart));
  EXPECT_EQ(book.bytes(), of_one);
  EXPECT_TRUE(book.Close(lost, kStart + minutes(10) - seconds(1)));
  EXPECT_EQ(book.bytes(), 0u);
}

TEST_F(Tickets, OfOneNamespaceOutliveAFloodOfAnother) {
  auto limiter = testing::Open(R"(
namespaces:
  shop: {resources: {a: {limits: [{limit: 1000, per: 1d}]}}}
  flood: {resources: {a: {limits: [{limit: 1000000, per: 1d}]}}}
)",
                               {.memory_bytes = uint64_t{8} << 20});
  const Ticket ticket =
      limiter->Decide({"shop", "a", "ann", 100, std::nullopt, true}, kStart).ticket;
  ASSERT_TRUE(ticket);
  Request request{"flood", "a", "bob"};
  request.settle = true;
  for (int i = 0; i < 100'000; ++i) ASSERT_TRUE(limiter->Decide(request, kStart).allowed);
  EXPECT_LE(limiter->Stats().bytes, uint64_t{8} << 20);
  const Result<Settled> settled = limiter->Settle(ticket, 1, kStart);
  ASSERT_TRUE(settled);
  EXPECT_EQ(settled->remaining, 999u);
}

}  // namespace
}  // namespace weir::ticket_book_test
