// States that several nodes share: what others use comes in between a ticket and its settling.
#include <gtest/gtest.h>

#include "tests/store/testing.h"

namespace weir::share_test {
namespace {

using std::chrono::seconds;
using testing::KeyOf;
using testing::kStart;

// The other nodes, who have used what they are told to have used.
class Others final : public Coordinator {
 public:
  void Note(const Use& use) override {
    taken += use.taken;
    refunded += use.refunded;
  }
  std::vector<OthersUse> Begin(const Key&, const CoordinatedLimit&, Windows, Instant) override {
    return {};
  }
  std::vector<OthersUse> News(const Key&, const CoordinatedLimit&, Instant) override {
    return std::exchange(news, {});
  }
  void Forget(const Key&) override { news.clear(); }
  void Defer(const Key&, const OthersUse&) override {}

  std::vector<OthersUse> news;
  uint64_t taken = 0, refunded = 0;
};

struct Coordinated : ::testing::Test {
  const TokenBucket bucket{10, seconds(10), 10};  // one a second
  Others others;
  MemoryStore store{testing::Mib(4), kStart};
  const LimitSlot* slot =
      store.limits().Add(bucket, SlotTraits{.replication = Replication::kDebt}, kStart);
  Coordinated() { store.CoordinateWith(&others); }

  Receipt Take(uint64_t n, Instant now) {
    Receipt receipt;
    Charge charge(KeyOf(1), slot, n, n);
    charge.receipt = &receipt;
    EXPECT_TRUE(store.AdmitNow({&charge, 1}, now).allowed);
    return receipt;
  }
  void OthersTake(uint64_t n, Instant now) {
    others.news = {{0, static_cast<int128>(bucket.Tokens(n))}};
    store.ApplyOthers(KeyOf(1), now);
  }
};

// Six were taken and have come back by themselves, but for one. Then others take eight: those are not
// given back for the ticket.
TEST_F(Coordinated, WhatHadComeBackBeforeOthersCameIsNotGivenBackOnTop) {
  for (const bool cancel : {true, false}) {
    const Instant start = kStart + seconds(cancel ? 0 : 100);
    const Receipt receipt = Take(6, start);
    OthersTake(8, start + seconds(5));
    EXPECT_EQ(testing::Remaining(store, slot, 1, start + seconds(5)), 1u);
    if (cancel) {
      store.Cancel({&receipt, 1}, start + seconds(5));
    } else {
      store.SettleNow({&receipt, 1}, 0, start + seconds(5));
    }
    EXPECT_EQ(testing::Remaining(store, slot, 1, start + seconds(5)), 2u);
  }
}

// Others are told of whole tokens only, so no part of one is given back: it errs against the subject by
// less than a token.
TEST_F(Coordinated, WholeTokensAreGivenBackAndToldToTheOthers) {
  const Receipt receipt = Take(4, kStart);
  const Instant now = kStart + std::chrono::milliseconds(500);
  store.Cancel({&receipt, 1}, now);
  EXPECT_EQ(others.taken, 4u);
  EXPECT_EQ(others.refunded, 3u) << "of the three and a half that had not come back";
  Charge look(KeyOf(1), slot, 0, 0);
  store.PeekNow({&look, 1}, now);
  EXPECT_EQ(look.reset_after, std::chrono::milliseconds(500));
}

}  // namespace
}  // namespace weir::share_test
