// Sealed datagrams: what is changed, repeated, redirected or of another cluster is not opened.
#include "cluster/seal.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

#include "cluster/state_stream.h"
#include "replication/debt_replica.h"

namespace weir::cluster::seal_test {
namespace {

using Outcome = Opener::Outcome;

constexpr Origin kSender{1234567, 7}, kReceiver{89, 3};

ClusterKey Key(const std::string& text = "a secret that all nodes of a cluster share") {
  return *ClusterKey::FromText(text);
}

Outcome Open(Opener& opener, std::string_view datagram, std::string& plain,
             Origin receiver = kReceiver) {
  const auto head = ReadSealedHead(datagram);
  return head ? opener.Open(*head, datagram, receiver, plain) : Outcome::kUnreadable;
}

Outcome OpenFresh(std::string_view datagram, Origin receiver = kReceiver,
                  const ClusterKey& key = Key()) {
  Opener opener(key, kSender);
  std::string plain;
  return Open(opener, datagram, plain, receiver);
}

RC_GTEST_PROP(Seal, WhatIsSealedIsOpenedAndCostsThirtyBytes, (const std::string& text)) {
  const std::string told = "x" + text.substr(0, kMostPlainBytes - 1);
  Sealer sealer(Key(), kSender, 1);
  Opener opener(Key(), kSender);
  for (const bool for_anybody : {false, true}) {
    const std::string datagram =
        for_anybody ? sealer.SealForAnybody(told) : sealer.SealFor(kReceiver, told);
    RC_ASSERT(datagram.size() == told.size() + 30);
    RC_ASSERT(ReadSealedHead(datagram)->sender == kSender);
    RC_ASSERT(ReadSealedHead(datagram)->for_anybody == for_anybody);
    std::string plain;
    RC_ASSERT(Open(opener, datagram, plain) == Outcome::kOpened);
    RC_ASSERT(plain == told);
  }
}

TEST(Seal, EveryBitThatIsFlippedIsNoticed) {
  Sealer sealer(Key(), kSender, 1);
  const std::string good = sealer.SealFor(kReceiver, "what was told");
  ASSERT_EQ(OpenFresh(good), Outcome::kOpened);
  for (size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << bit % 8));
    EXPECT_EQ(OpenFresh(bad), Outcome::kUnreadable) << bit;
  }
}

TEST(Seal, EveryLengthThatIsNotItsOwnIsNoticed) {
  Sealer sealer(Key(), kSender, 1);
  const std::string good = sealer.SealFor(kReceiver, "what was told");
  for (size_t length = 0; length < good.size(); ++length) {
    EXPECT_EQ(OpenFresh(good.substr(0, length)), Outcome::kUnreadable) << length;
  }
  EXPECT_EQ(OpenFresh(good + "x"), Outcome::kUnreadable);
  EXPECT_FALSE(ReadSealedHead(std::string(kMostDatagramBytes + 1, '\x10')));
  EXPECT_FALSE(ReadSealedHead(std::string(kSealBytes, '\x10'))) << "nothing is told in it";
}

TEST(Seal, AnotherKeyAnotherReceiverAndAnotherLifeOpenNothing) {
  Sealer sealer(Key(), kSender, 1);
  const std::string datagram = sealer.SealFor(kReceiver, "for you");
  EXPECT_EQ(OpenFresh(datagram, kReceiver, Key("another secret, just as long as the first")),
            Outcome::kUnreadable);
  EXPECT_EQ(OpenFresh(datagram, {kReceiver.node + 1, kReceiver.incarnation}), Outcome::kUnreadable);
  EXPECT_EQ(OpenFresh(datagram, {kReceiver.node, kReceiver.incarnation + 1}), Outcome::kUnreadable);
  EXPECT_EQ(OpenFresh(sealer.SealForAnybody("hello"), {1, 1}), Outcome::kOpened);
}

TEST(Seal, ARepetitionIsToldFromADatagramThatIsLate) {
  Sealer sealer(Key(), kSender, 1);
  std::vector<std::string> sent;
  for (int i = 0; i < 10'000; ++i) sent.push_back(sealer.SealFor(kReceiver, "x"));
  Opener opener(Key(), kSender);
  std::string plain;
  EXPECT_EQ(Open(opener, sent[100], plain), Outcome::kOpened);
  EXPECT_EQ(Open(opener, sent[99], plain), Outcome::kRepeated) << "from before the first";
  EXPECT_EQ(Open(opener, sent[5000], plain), Outcome::kOpened);
  EXPECT_EQ(Open(opener, sent[5000], plain), Outcome::kRepeated);
  EXPECT_EQ(Open(opener, sent[4000], plain), Outcome::kOpened) << "late, but new";
  EXPECT_EQ(Open(opener, sent[4000], plain), Outcome::kRepeated);
  EXPECT_EQ(Open(opener, sent[5000 - ReplayWindow::kWindow], plain), Outcome::kTooOld);
  EXPECT_EQ(Open(opener, sent[5001 - ReplayWindow::kWindow], plain), Outcome::kOpened);
  EXPECT_EQ(Open(opener, sent[9999], plain), Outcome::kOpened);
  EXPECT_EQ(Open(opener, sent[5000], plain), Outcome::kTooOld);
}

RC_GTEST_PROP(ReplayWindow, AgreesWithASetOfAllThatCame, (const std::vector<uint16_t>& steps)) {
  ReplayWindow window;
  std::set<uint64_t> seen;
  uint64_t first = 0, latest = 0;
  for (const uint16_t step : steps) {
    // Mostly about where the last one was, now and then far ahead.
    const uint64_t number = std::max<uint64_t>(1, latest + step % 100 + (step % 7 == 0 ? step : 0) -
                                                      std::min<uint64_t>(latest, step % 90));
    const bool too_old = number + ReplayWindow::kWindow <= latest;
    const bool came = number < first || seen.contains(number);
    const auto expected = too_old ? ReplayWindow::Seen::kTooOld
                          : came  ? ReplayWindow::Seen::kRepeated
                                  : ReplayWindow::Seen::kNew;
    RC_ASSERT(window.Look(number) == expected);
    if (expected != ReplayWindow::Seen::kNew) continue;
    window.Note(number);
    seen.insert(number);
    if (first == 0) first = number;
    latest = std::max(latest, number);
  }
}

TEST(Seal, ANonceIsNeverUsedTwiceNotEvenByTwoLivesWithOneNumber) {
  // The same words, sealed by lives of one node: no two datagrams share a key and a sequence, for then
  // they would share bytes behind the head.
  std::set<std::string> hidden;
  const Origin lives[] = {{5, 1}, {5, 2}, {5, 3}, {6, 1}};
  for (const Origin life : lives) {
    Sealer sealer(Key(), life, 1000);
    for (int i = 0; i < 100; ++i) {
      hidden.insert(sealer.SealFor(kReceiver, "the same words").substr(kSealedHeadBytes, 14));
    }
  }
  EXPECT_EQ(hidden.size(), 400u);
  // A life that was given the number of another begins elsewhere.
  Sealer once(Key(), {5, 1}, 1000), again(Key(), {5, 1}, 77'000'000);
  once.SealFor(kReceiver, "x");
  again.SealFor(kReceiver, "x");
  EXPECT_NE(once.sequence(), again.sequence());
}

TEST(SealDeathTest, ALifeThatHasUsedUpItsSequencesSealsNoMore) {
  Sealer sealer(Key(), kSender, kSequences - 1);
  sealer.SealFor(kReceiver, "the last");
  EXPECT_DEATH(sealer.SealFor(kReceiver, "one more"), "used up its sequence numbers");
}

TEST(ClusterKey, PurposesAndContextsHaveKeysOfTheirOwn) {
  EXPECT_NE(Key().Derive("a"), Key().Derive("b"));
  EXPECT_NE(Key().Derive("a", "1"), Key().Derive("a", "2"));
  EXPECT_NE(Key().Derive("a", "1"), Key().Derive("a1"));
  EXPECT_EQ(Key().HashSecret(), Key().HashSecret());
  EXPECT_NE(Key().HashSecret(), Key("another secret, just as long as the first").HashSecret());
}

TEST(ClusterKey, SpaceAroundItDoesNotCountAndAShortOneIsRefused) {
  const std::string key = "0123456789abcdef0123456789abcdef";
  EXPECT_EQ(Key(key).HashSecret(), Key("\n " + key + "\n").HashSecret());
  for (const std::string& text : {std::string(), std::string("\n\n"), key.substr(1) + "\n"}) {
    const auto short_key = ClusterKey::FromText(text);
    ASSERT_FALSE(short_key);
    EXPECT_NE(short_key.error().message.find("too short"), std::string::npos);
  }
}

TEST(StateStream, PiecesComeInOrderAndFitNoOtherStream) {
  DebtReplica state(kSender, {}, Instant{});
  for (uint64_t i = 0; i < 5'000; ++i) state.Take({i, i}, {}, 1, Instant{} + std::chrono::hours(1));
  const StateQuestion question{kReceiver, kSender, 42};
  uint64_t bytes = 0, sealed = 0;
  StateStream stream(Key(), question, state, bytes);
  std::vector<std::string> pieces;
  while (const auto piece = stream.Next(Instant{} + std::chrono::hours(1))) {
    pieces.push_back(*piece);
    sealed += piece->size();
  }
  ASSERT_EQ(pieces.size(), 5u) << "a thousand keys each";
  EXPECT_GT(bytes, 5'000u * sizeof(weir::Key));
  EXPECT_LT(bytes, sealed);
  for (const std::string& piece : pieces) EXPECT_LE(piece.size(), kMostPieceBytes);
  StateReader reader(Key(), question);
  for (const std::string& piece : pieces) EXPECT_TRUE(reader.Open(piece));
  EXPECT_FALSE(StateReader(Key(), question).Open(pieces[1])) << "not the first";
  EXPECT_FALSE(StateReader(Key(), {kReceiver, kSender, 43}).Open(pieces[0])) << "another question";
  EXPECT_FALSE(StateReader(Key(), {kSender, kReceiver, 42}).Open(pieces[0])) << "the other way";
}

}  // namespace
}  // namespace weir::cluster::seal_test
