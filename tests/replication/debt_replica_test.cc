// Nodes that share a debt: never far past the limit, and of one mind once it is quiet.
#include "replication/debt_replica.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "lab/replicated/spotify.h"
#include "tests/replication/everything.h"

namespace weir::debt_replica_test {
namespace {

constexpr Instant kStart = FromNanos(1'800'000'000'000'000'000);
constexpr ReplicatedBucket kLimit{100, 10, std::chrono::seconds(1)};
constexpr Key kKey{1, 2};
using std::chrono::milliseconds;
using std::chrono::seconds;

lab::MakeReplica Debt() {
  return [](Origin self, Instant start) {
    return std::make_unique<DebtReplica>(self, DebtOptions{}, start);
  };
}

// Whose home this node is.
Key KeyAt(const DebtReplica& node, uint32_t home) {
  for (uint64_t i = 1;; ++i) {
    if (node.HomeOf({i, i}) == home) return {i, i};
  }
}

// How many tokens are admitted until they have to be told.
int UrgentAfter(DebtReplica& node, const Key& key) {
  for (int tokens = 1;; ++tokens) {
    EXPECT_TRUE(node.Admit(key, kLimit, 1, kStart));
    if (node.NextTick() <= kStart) return tokens;
  }
}

TEST(DebtReplica, HandsOverWhenWhatIsUntoldReachesItsShareOfHalfTheRoom) {
  DebtReplica node({0, 1}, {}, kStart);
  node.SetPeers({0, 1, 2});
  EXPECT_EQ(UrgentAfter(node, KeyAt(node, 2)), 17) << "a sixth of 100, for three nodes";
  const std::vector<Envelope> out = node.Tick(kStart);
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].to, 2u);
  EXPECT_TRUE(node.Tick(kStart).empty()) << "told once";
}

TEST(DebtReplica, AHomeTellsWhatItAdmitsItselfAtItsShare) {
  DebtReplica node({0, 1}, {}, kStart);
  node.SetPeers({0, 1, 2});
  EXPECT_EQ(UrgentAfter(node, KeyAt(node, 0)), 17);
  EXPECT_EQ(node.Tick(kStart).size(), 2u) << "it would be lost with it";
}

TEST(DebtReplica, WhoLeavesTellsAllForThereIsNoTimeToWaitForAHome) {
  DebtReplica node({0, 1}, {}, kStart);
  node.SetPeers({0, 1, 2});
  node.Take(KeyAt(node, 2), kLimit, 1, kStart);
  EXPECT_EQ(node.Farewell(kStart).size(), 2u);
}

TEST(DebtReplica, ADeafHomeIsDoneWithout) {
  DebtReplica node({0, 1}, {}, kStart), other({1, 1}, {}, kStart);
  node.SetPeers({0, 1, 2});
  other.SetPeers({0, 1, 2});
  const Key key = KeyAt(node, 2);
  node.Take(key, kLimit, 20, kStart);
  ASSERT_EQ(node.Tick(kStart).size(), 1u) << "to the home, which does not answer";
  const Instant later = kStart + DebtOptions{}.answer_patience;
  EXPECT_LE(node.NextTick(), later);
  bool good = false;
  for (const Envelope& told : node.Tick(later)) {
    if (told.to == 1) other.Receive(told.bytes, later, good);
  }
  EXPECT_TRUE(good);
  EXPECT_EQ(other.Remaining(key, kLimit, later), 80u);
  node.Take(key, kLimit, 20, later);
  EXPECT_EQ(node.Tick(later).size(), 2u) << "at once, while it is deaf";
}

TEST(DebtReplica, WhatIsHandedIsAnsweredAndToldToAll) {
  DebtReplica home({0, 1}, {}, kStart), one({1, 1}, {}, kStart), other({2, 1}, {}, kStart);
  for (DebtReplica* node : {&home, &one, &other}) node->SetPeers({0, 1, 2});
  const Key key = KeyAt(home, 0);
  bool good = false;
  one.Take(key, kLimit, 30, kStart);
  for (const Envelope& told : one.Tick(kStart)) home.Receive(told.bytes, kStart, good);
  std::vector<Envelope> out = home.Tick(kStart);
  ASSERT_EQ(out.size(), 1u) << "there is room yet: an answer, no more";
  EXPECT_EQ(out[0].to, 1u);
  one.Receive(out[0].bytes, kStart, good);
  one.Take(key, kLimit, 30, kStart);
  for (const Envelope& told : one.Tick(kStart)) home.Receive(told.bytes, kStart, good);
  out = home.Tick(kStart);
  ASSERT_EQ(out.size(), 2u);
  for (const Envelope& told : out) (told.to == 1 ? one : other).Receive(told.bytes, kStart, good);
  EXPECT_EQ(other.Remaining(key, kLimit, kStart), 40u);
  EXPECT_GT(one.NextTick(), kStart + DebtOptions{}.answer_patience) << "it was answered";
}

TEST(DebtReplica, ANewHomeIsHandedWhatTheOldOneKnew) {
  DebtReplica one({1, 1}, {}, kStart), home({0, 1}, {}, kStart);
  one.SetPeers({0, 1, 2});
  const Key key = KeyAt(one, 2);
  one.Take(key, kLimit, 20, kStart);
  ASSERT_EQ(one.Tick(kStart).size(), 1u) << "which gets lost, with the home";
  one.SetPeers({0, 1});
  home.SetPeers({0, 1});
  bool good = false;
  for (const Envelope& told : one.Tick(kStart)) home.Receive(told.bytes, kStart, good);
  EXPECT_TRUE(good);
  EXPECT_EQ(home.Remaining(key, kLimit, kStart), 80u);
}

// What a newcomer asked for may come after what it was handed as a home, and faster.
TEST(DebtReplica, AHomeThatIsToldEverythingStillTellsWhatItWasHanded) {
  DebtReplica owner({0, 1}, {}, kStart), home({2, 1}, {}, kStart);
  for (DebtReplica* node : {&owner, &home}) node->SetPeers({0, 1, 2});
  const Key key = KeyAt(owner, 2);
  owner.Take(key, kLimit, 3, kStart);
  const Instant told = owner.NextTick();
  const std::vector<Envelope> handed = owner.Tick(told);
  ASSERT_EQ(handed.size(), 1u);
  ASSERT_EQ(handed[0].to, 2u);
  bool good = false;
  home.Receive(handed[0].bytes, told + milliseconds(5), good);
  for (const Envelope& envelope : Everything(owner, 2, told + milliseconds(6))) {
    home.Receive(envelope.bytes, told + milliseconds(6), good);
    EXPECT_TRUE(good);
  }
  size_t rows = 0;
  for (Instant now = told; now < told + seconds(10) && rows == 0; now += milliseconds(100)) {
    for (const Envelope& envelope : home.Tick(now)) {
      if (envelope.to != 1) continue;
      EnvelopeReader reader(envelope.bytes);
      ReadDebtHead(reader);
      rows += ReadDebtRows(reader, now).size();
    }
  }
  EXPECT_EQ(rows, 1u);
}

TEST(DebtReplica, WhatLeavesNoRoomIsToldToAllAtOnce) {
  DebtReplica node({0, 1}, {}, kStart);
  node.SetPeers({0, 1, 2});
  node.Take(KeyAt(node, 2), kLimit, 60, kStart);
  EXPECT_EQ(node.Tick(kStart).size(), 2u) << "its home would have to do the same, only later";
}

TEST(DebtReplica, BrokenBytesChangeNothing) {
  DebtReplica one({0, 1}, {}, kStart), other({1, 1}, {}, kStart);
  one.SetPeers({0, 1});
  other.SetPeers({0, 1});
  for (int i = 0; i < 50; ++i) one.Admit(kKey, kLimit, 1, kStart);
  const std::vector<Envelope> out = one.Tick(kStart);
  ASSERT_EQ(out.size(), 1u);
  bool good = true;
  for (size_t length = 0; length < out[0].bytes.size(); ++length) {
    other.Receive(out[0].bytes.substr(0, length), kStart, good);
    EXPECT_EQ(other.keys(), 0u) << "after " << length << " bytes";
  }
  other.Receive(out[0].bytes, kStart, good);
  EXPECT_TRUE(good);
  EXPECT_EQ(other.Remaining(kKey, kLimit, kStart), 50u);
}

TEST(DebtReplica, WhatIsGivenBackIsThereAgain) {
  DebtReplica node({0, 1}, {}, kStart);
  Replica& replica = node;
  ASSERT_TRUE(replica.Admit(kKey, kLimit, 30, kStart));
  replica.Refund(kKey, 20, kStart);
  EXPECT_EQ(node.Remaining(kKey, kLimit, kStart), 90u);
}

TEST(DebtReplica, WhatAReturnedPeerRemembersConfirmsNothingNew) {
  DebtReplica one({0, 1}, {}, kStart), other({1, 1}, {}, kStart);
  one.SetPeers({0, 1});
  other.SetPeers({0, 1});
  const ReplicatedBucket slow{100, 1, std::chrono::hours(1)};
  bool good = true;
  Instant now = kStart;
  for (int i = 0; i < 4; ++i) {
    one.Take(kKey, slow, 20, now);
    for (const Envelope& told : one.Tick(now)) other.Receive(told.bytes, now, good);
  }
  one.SetPeers({0});  // dead to the one; the other has not noticed
  one.SetPeers({0, 1});
  const auto tell = [&](DebtReplica& from, DebtReplica& to) {
    for (const Envelope& told : from.Tick(now)) to.Receive(told.bytes, now, good);
  };
  now += seconds(1);
  tell(other, one);
  one.Take(kKey, slow, 50, now);
  EXPECT_FALSE(one.Tick(now).empty()) << "which gets lost";
  other.Take({3, 4}, slow, 90, now);
  tell(other, one);
  for (int i = 0; i < 10; ++i) {
    now += seconds(1);
    tell(one, other);
    tell(other, one);
  }
  EXPECT_EQ(other.Level(kKey, slow, now), one.Level(kKey, slow, now));
  EXPECT_LT(other.Level(kKey, slow, now), 0) << "it was told again";
}

TEST(DebtReplica, AnIdleSubjectCostsNothing) {
  DebtReplica node({0, 1}, {}, kStart);
  node.SetPeers({0, 1});
  node.Admit(kKey, kLimit, 5, kStart);
  Instant now = kStart;
  for (int i = 0; i < 40; ++i) node.Tick(now += seconds(1));
  EXPECT_EQ(node.keys(), 0u);
}

TEST(DebtReplica, ManyWindowsLeaveNoLargeTableBehind) {
  DebtReplica node({0, 1}, {}, kStart);
  const size_t before = node.bytes();
  ReplicatedBucket window{.capacity = 10, .limit = 0, .per = seconds(20)};
  for (window.window = 1; window.window <= 1000; ++window.window) {
    node.Take(kKey, window, 1, kStart);
  }
  node.Tick(kStart);
  EXPECT_GT(node.bytes(), before + 100'000);
  Instant now = kStart;
  while (node.NextTick() < kEndOfTime) node.Tick(now = std::max(now, node.NextTick()));
  EXPECT_EQ(node.keys(), 0u);
  EXPECT_LE(now, kStart + seconds(21));
  EXPECT_LT(node.bytes(), before + 30'000);
}

// How long is told in whole seconds, rounded up.
TEST(DebtReplica, WhatIsToldAgainAndAgainIsNotKeptLonger) {
  DebtReplica owner({0, 1}, {}, kStart), one({1, 1}, {}, kStart), other({2, 1}, {}, kStart);
  for (DebtReplica* node : {&owner, &one, &other}) node->SetPeers({0, 1, 2});
  const ReplicatedBucket window{.capacity = 10, .limit = 0, .per = seconds(20), .window = 7};
  owner.Take(kKey, window, 3, kStart);
  const auto tell = [](DebtReplica& from, DebtReplica& to, uint32_t number, Instant now) {
    bool good = false;
    for (const Envelope& envelope : Everything(from, number, now)) {
      to.Receive(envelope.bytes, now, good);
      EXPECT_TRUE(good);
    }
  };
  tell(owner, one, 1, kStart + milliseconds(100));
  for (Instant now = kStart + milliseconds(200); now < kStart + seconds(30);
       now += milliseconds(300)) {
    tell(one, other, 2, now);
    tell(other, one, 1, now + milliseconds(100));
    for (DebtReplica* node : {&one, &other}) {
      node->Tick(now + milliseconds(100));
      const bool known = node->Remaining(kKey, window, now + milliseconds(100)) == 7;
      EXPECT_TRUE(known || now > kStart + milliseconds(19'900));
      EXPECT_FALSE(known && now > kStart + seconds(22));
    }
  }
}

TEST(DebtReplica, AWindowThatIsOverIsNotTakenInAgain) {
  DebtReplica owner({0, 1}, {}, kStart), other({1, 1}, {}, kStart);
  for (DebtReplica* node : {&owner, &other}) node->SetPeers({0, 1});
  const ReplicatedBucket window{.capacity = 10, .limit = 0, .per = seconds(20), .window = 7};
  owner.Take(kKey, window, 3, kStart);
  for (const Duration passed : {seconds(21), seconds(19)}) {
    bool good = false;
    for (const Envelope& envelope : Everything(owner, 1, kStart + passed)) {
      other.Receive(envelope.bytes, kStart + passed, good);
    }
    EXPECT_TRUE(good);
    EXPECT_EQ(other.keys(), passed < seconds(20) ? 1u : 0u);
  }
}

TEST(DebtReplica, ANodeThatComesNewIsToldEverything) {
  DebtReplica one({0, 1}, {}, kStart), fresh({1, 2}, {}, kStart);
  one.SetPeers({0, 1});
  fresh.SetPeers({0, 1});
  one.Admit(kKey, kLimit, 30, kStart);
  bool good = false;
  for (const Envelope& envelope : Everything(one, 1, kStart)) {
    fresh.Receive(envelope.bytes, kStart, good);
    EXPECT_TRUE(good);
  }
  EXPECT_EQ(fresh.Remaining(kKey, kLimit, kStart), 70u);
}

// A few nodes and a network that loses, doubles and reorders, by hand.
RC_GTEST_PROP(DebtReplica, AfterQuietAllAreOfOneMind, ()) {
  constexpr uint32_t kNodes = 4;
  std::vector<std::unique_ptr<DebtReplica>> nodes;
  std::vector<uint32_t> all;
  for (uint32_t i = 0; i < kNodes; ++i) all.push_back(i);
  for (const uint32_t i : all) {
    nodes.push_back(std::make_unique<DebtReplica>(Origin{i, 1}, DebtOptions{}, kStart));
    nodes.back()->SetPeers(all);
  }
  std::vector<Envelope> flying;
  const auto add = [&](std::vector<Envelope> more) {
    for (Envelope& one : more) flying.push_back(std::move(one));
  };
  uint64_t admitted = 0;
  Instant now = kStart;
  const ReplicatedBucket slow{100, 1,
                              std::chrono::hours(1)};  // so that nothing is forgotten meanwhile
  for (int step = 0; step < 60; ++step) {
    now += milliseconds(*rc::gen::inRange(0, 200));
    const auto node = *rc::gen::inRange<uint32_t>(0, kNodes);
    if (nodes[node]->Admit(kKey, slow, 1, now)) admitted += 1;
    for (const uint32_t i : all) {
      if (nodes[i]->NextTick() <= now) add(nodes[i]->Tick(now));
    }
    for (int i = *rc::gen::inRange(0, 4); i > 0 && !flying.empty(); --i) {
      const auto which = *rc::gen::inRange<size_t>(0, flying.size());
      const Envelope one = flying[which];
      const int fate = *rc::gen::inRange(0, 4);  // 0: lost, 1: comes and will come again
      if (fate != 1) flying.erase(flying.begin() + static_cast<std::ptrdiff_t>(which));
      bool good = false;
      if (fate > 0) add(nodes[one.to]->Receive(one.bytes, now, good));
    }
  }
  flying.clear();
  for (int quiet = 0; quiet < 400; ++quiet) {
    now += milliseconds(100);
    for (const uint32_t i : all) {
      if (nodes[i]->NextTick() <= now) add(nodes[i]->Tick(now));
    }
    bool good = false;
    for (std::vector<Envelope> batch; !flying.empty();) {
      batch.swap(flying);
      for (const Envelope& one : batch) add(nodes[one.to]->Receive(one.bytes, now, good));
      batch.clear();
    }
  }
  for (const uint32_t i : all) {
    RC_ASSERT(nodes[i]->Remaining(kKey, slow, now) == 100 - admitted);
  }
}

struct Wanted {
  const char* name;
  double precision;
};

class DebtOnSpotify : public ::testing::TestWithParam<Wanted> {};

TEST_P(DebtOnSpotify, IsAsGoodAsOneLimiter) {
  const lab::SpotifyExperiment experiment = lab::MakeSpotify(GetParam().name, 1000, 7);
  const lab::Measured measured = Simulate(experiment.requests, Debt(), {.limit = experiment.limit});
  EXPECT_GE(measured.precision(), GetParam().precision);
  EXPECT_LE(measured.precision(), 100.5);
  EXPECT_LE(measured.over_admission_max, 10u) << "one percent of the capacity";
  EXPECT_LE(measured.wrongful_refusals, measured.requests / 100 + 8);
}

INSTANTIATE_TEST_SUITE_P(Sets, DebtOnSpotify,
                         ::testing::Values(Wanted{"spotify-b-extreme", 99.9},
                                           Wanted{"spotify-b-substantial", 99.9},
                                           Wanted{"spotify-b-barely", 99},
                                           Wanted{"spotify-b-under", 100},
                                           Wanted{"spotify-d", 100}));

TEST(DebtOnSpotify, LossCostsLittle) {
  const lab::SpotifyExperiment experiment = lab::MakeSpotify("spotify-b-substantial", 1000, 7);
  lab::SimulationOptions options{.limit = experiment.limit};
  options.network = {.jitter = milliseconds(5), .loss = 0.1, .duplication = 0.1};
  const lab::Measured measured = Simulate(experiment.requests, Debt(), options);
  EXPECT_GE(measured.precision(), 99);
  EXPECT_LE(measured.over_admission_max, 30u);
}

TEST(DebtOnSpotify, TheSameSeedIsTheSameRun) {
  const lab::SpotifyExperiment experiment = lab::MakeSpotify("spotify-b-barely", 1000, 3);
  lab::SimulationOptions options{.limit = experiment.limit};
  options.network.loss = 0.1;
  const lab::Measured one = Simulate(experiment.requests, Debt(), options);
  const lab::Measured two = Simulate(experiment.requests, Debt(), options);
  EXPECT_EQ(one.bytes_sent, two.bytes_sent);
  EXPECT_EQ(one.refused, two.refused);
}

}  // namespace
}  // namespace weir::debt_replica_test
