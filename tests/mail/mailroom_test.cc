#include "mail/mailroom.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace weir::mailroom_test {
namespace {

using namespace std::chrono_literals;

constexpr Instant kStart = FromNanos(1'700'000'000'000'000'000);
constexpr auto kUnknown = static_cast<EnvelopeKind>(200);

std::string Written(EnvelopeKind kind) { return EnvelopeWriter({kind, {1, 1}, 0}).Take(); }

// Keeps what it is told, and has so many envelopes to copy, one a slice.
struct Reader : Correspondent {
  void SetPeers(std::vector<uint32_t> all) override { peers = std::move(all); }
  std::vector<Envelope> Tick(Instant) override {
    ticks += 1;
    due = kEndOfTime;
    return {{2, "tick"}};
  }
  Instant NextTick() const override { return due; }
  std::vector<Envelope> Receive(std::string_view bytes, Instant, bool& good) override {
    received.emplace_back(bytes);
    good = bytes != "broken";
    return {{2, "answer"}};
  }
  Slice Everything(uint32_t to, CopyCursor& cursor, const SliceSize& most, Instant) override {
    EXPECT_LE(cursor.part, copies);
    if (cursor.part == copies) return {.envelopes = {}, .keys = 0, .last = true};
    if (most.keys == 0) return {};
    cursor.NextPart();
    return {.envelopes = {{to, "copy"}}, .keys = 1, .last = cursor.part == copies};
  }

  std::vector<uint32_t> peers;
  std::vector<std::string> received;
  Instant due = kEndOfTime;
  int ticks = 0;
  size_t copies = 0;
};

class MailroomOfTwo : public ::testing::Test {
 protected:
  MailroomOfTwo() {
    room.Give({EnvelopeKind::kCounter, EnvelopeKind::kQueue}, one);
    room.Give({EnvelopeKind::kDebt}, other);
  }
  std::vector<Envelope> Receive(const std::string& bytes) {
    return room.Receive(bytes, kStart, good);
  }

  Reader one, other;
  Mailroom room;
  bool good = false;
};

TEST_F(MailroomOfTwo, EachKindGoesToWhoReadsIt) {
  EXPECT_EQ(Receive(Written(EnvelopeKind::kQueue)).size(), 1u);
  EXPECT_TRUE(good);
  EXPECT_EQ(Receive(Written(EnvelopeKind::kDebt)).size(), 1u);
  EXPECT_EQ(one.received, std::vector{Written(EnvelopeKind::kQueue)});
  EXPECT_EQ(other.received, std::vector{Written(EnvelopeKind::kDebt)});
}

TEST_F(MailroomOfTwo, WhatNobodyReadsIsCountedAndDropped) {
  good = true;
  EXPECT_TRUE(Receive(Written(kUnknown)).empty());
  EXPECT_FALSE(good);
  good = true;
  EXPECT_TRUE(Receive("").empty());
  EXPECT_FALSE(good);
  EXPECT_EQ(room.unknown(), 1u);
  EXPECT_TRUE(one.received.empty() && other.received.empty());
}

TEST_F(MailroomOfTwo, OnlyWhoIsDueTicks) {
  EXPECT_EQ(room.NextTick(), kEndOfTime);
  one.due = kStart + 2s;
  other.due = kStart + 1s;
  EXPECT_EQ(room.NextTick(), kStart + 1s);
  EXPECT_EQ(room.Tick(kStart + 1s).size(), 1u);
  EXPECT_EQ(one.ticks, 0);
  EXPECT_EQ(other.ticks, 1);
  EXPECT_EQ(room.NextTick(), kStart + 2s);
  EXPECT_EQ(room.Farewell(kStart).size(), 2u) << "all have something to say at the end";
  room.SetPeers({3, 4});
  EXPECT_EQ(one.peers, other.peers);
}

TEST_F(MailroomOfTwo, ACopyIsOfAllOfThemHoweverSmallItsSlices) {
  for (const size_t keys : {1, 2, 3, 100}) {
    for (size_t first = 0; first < 4; ++first) {
      one.copies = first;
      other.copies = 3;
      CopyCursor cursor;
      size_t copied = 0;
      for (int slices = 0; slices < 20; ++slices) {
        const Slice slice = room.Everything(2, cursor, {.keys = keys}, kStart);
        EXPECT_LE(slice.keys, keys);
        copied += slice.envelopes.size();
        if (slice.last) break;
        ASSERT_LT(slices, 19) << "never the last";
      }
      EXPECT_EQ(copied, first + 3);
    }
  }
}

// Whoever cannot read an envelope must know whose it is: else it looks like one of an impostor.
TEST(EnvelopeHead, IsReadWhateverTheVersion) {
  std::string bytes = EnvelopeWriter({EnvelopeKind::kDebt, {7, 9}, 5}).Take();
  bytes[1] = 99;
  const EnvelopeReader reader(bytes);
  EXPECT_FALSE(reader.ok());
  EXPECT_EQ(reader.head().sender, (Origin{7, 9}));
}

}  // namespace
}  // namespace weir::mailroom_test
