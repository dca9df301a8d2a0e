#include "cluster/membership.h"

#include <gtest/gtest.h>

#include "cluster/messages.h"

namespace weir::cluster::membership_test {
namespace {

using namespace std::chrono_literals;

constexpr Instant kStart = FromNanos(1'700'000'000'000'000'000);

Membership Named(const std::vector<Member>& members) {
  Membership membership("self", {});
  EXPECT_FALSE(membership.SetMembers(members, kStart));
  return membership;
}

Peer& The(Membership& membership, const std::string& id) {
  return *membership.Find(NodeNumber(id));
}

// The addresses that are greeted now.
std::vector<std::string> Greeted(Membership& membership, Instant now) {
  const Membership::Calls calls = membership.Due(now);
  std::vector<std::string> addresses = calls.greetings;
  for (const Peer* peer : calls.quiet) addresses.push_back(peer->address);
  return addresses;
}

// When `id` dies if it falls silent now, and how many pings that takes.
Duration TimeToDie(Membership& membership, Instant now, int& pings) {
  const Instant silent = now;
  while (true) {
    now = std::max(now, membership.NextCall());
    const Membership::Calls calls = membership.Due(now);
    pings += static_cast<int>(calls.pings.size());
    if (!calls.died.empty()) return now - silent;
  }
}

TEST(Membership, OneThatFallsSilentIsDeadAfterFivePingsThatItMissed) {
  Membership membership = Named({{"a", "1.1.1.1:1"}});
  membership.Heard(The(membership, "a"), 1, kStart);
  EXPECT_EQ(membership.Alive(), std::vector<uint32_t>{NodeNumber("a")});
  int pings = 0;
  const Duration time = TimeToDie(membership, kStart, pings);
  EXPECT_EQ(pings, 5);
  EXPECT_GE(time, 3s);
  EXPECT_LE(time, 4s);
  EXPECT_TRUE(membership.Alive().empty());
}

TEST(Membership, WhoeverTalksIsNotPinged) {
  Membership membership = Named({{"a", "1.1.1.1:1"}});
  for (Instant now = kStart; now < kStart + 1min; now += 500ms) {
    membership.Heard(The(membership, "a"), 1, now);
    EXPECT_TRUE(membership.Due(now).pings.empty());
  }
}

TEST(Membership, TheDeadAreGreetedSoonAtFirstAndThenSeldom) {
  Membership membership = Named({{"a", "1.1.1.1:1"}});
  std::vector<Duration> greeted;
  while (greeted.size() < 8) {
    const Instant now = membership.NextCall();
    EXPECT_EQ(Greeted(membership, now), std::vector<std::string>{"1.1.1.1:1"});
    greeted.push_back(now - kStart);
  }
  EXPECT_EQ(greeted[0], 0s);
  EXPECT_EQ(greeted[1], 200ms);
  EXPECT_EQ(greeted[2], 600ms);
  EXPECT_EQ(greeted[7] - greeted[6], 3s);
}

TEST(Membership, OneThatReturnsIsToldFromOneThatBeginsANewLife) {
  Membership membership = Named({{"a", "1.1.1.1:1"}});
  Peer& peer = The(membership, "a");
  EXPECT_EQ(membership.Heard(peer, 7, kStart), Membership::News::kNewLife);
  EXPECT_EQ(membership.Heard(peer, 7, kStart), Membership::News::kNone);
  int pings = 0;
  const Instant later = kStart + TimeToDie(membership, kStart, pings);
  EXPECT_EQ(membership.Heard(peer, 7, later), Membership::News::kReturned);
  EXPECT_EQ(membership.Heard(peer, 8, later), Membership::News::kNewLife);
}

TEST(Membership, ANewListKeepsWhoStaysAndForgetsWhoWent) {
  Membership membership = Named({{"a", "1.1.1.1:1"}, {"b", "2.2.2.2:1"}});
  membership.Heard(The(membership, "a"), 1, kStart);
  membership.Heard(The(membership, "b"), 1, kStart);
  EXPECT_FALSE(membership.SetMembers({{"a", "3.3.3.3:1"}, {"c", "2.2.2.2:1"}}, kStart));
  EXPECT_TRUE(The(membership, "a").alive) << "it has moved";
  EXPECT_EQ(The(membership, "a").address, "3.3.3.3:1");
  EXPECT_EQ(membership.Find(NodeNumber("b")), nullptr) << "it was renamed";
  EXPECT_FALSE(The(membership, "c").alive);
  EXPECT_EQ(Greeted(membership, kStart), std::vector<std::string>{"2.2.2.2:1"});
}

TEST(Membership, ABadListIsRefusedAndChangesNothing) {
  Membership membership = Named({{"a", "1.1.1.1:1"}});
  const auto twice = membership.SetMembers({{"b", "1.1.1.1:1"}, {"b", "1.1.1.1:2"}}, kStart);
  ASSERT_TRUE(twice);
  EXPECT_EQ(twice->message, "\"b\" is there twice");
  EXPECT_TRUE(membership.SetMembers({{"no spaces", "1.1.1.1:1"}}, kStart));
  EXPECT_TRUE(membership.SetMembers({{std::string(65, 'x'), "1.1.1.1:1"}}, kStart));
  EXPECT_NE(membership.Find(NodeNumber("a")), nullptr);
}

TEST(Membership, TwoNamesWithOneNumberAreAMistakeThatIsTold) {
  // By the birthday paradox there are some among 100,000 names of 28 bits.
  std::map<uint32_t, std::string> names;
  std::string one, other;
  for (int i = 0; one.empty(); ++i) {
    const std::string name = "node-" + std::to_string(i);
    const auto [place, is_new] = names.try_emplace(NodeNumber(name), name);
    if (!is_new) one = place->second, other = name;
  }
  Membership membership("self", {});
  const auto error = membership.SetMembers({{one, "1.1.1.1:1"}, {other, "1.1.1.1:2"}}, kStart);
  ASSERT_TRUE(error);
  EXPECT_NE(error->message.find("the same number"), std::string::npos) << error->message;
  const auto own = Membership(one, {}).SetMembers({{other, "1.1.1.1:2"}}, kStart);
  ASSERT_TRUE(own);
}

TEST(Membership, OnesOwnNameIsSkipped) {
  Membership membership = Named({{"self", "1.1.1.1:1"}});
  EXPECT_TRUE(membership.alone());
  EXPECT_TRUE(membership.complete());
}

TEST(Membership, AnOpenOneLearnsWhoIsThereAndForgetsTheDeadInTime) {
  Membership membership("self", {.open = true});
  EXPECT_FALSE(membership.SetMembers({{"", "1.1.1.1:1"}}, kStart));
  EXPECT_EQ(Greeted(membership, kStart), std::vector<std::string>{"1.1.1.1:1"});
  Peer* peer = membership.Learn("a", "1.1.1.1:1", kStart);
  ASSERT_NE(peer, nullptr);
  membership.Heard(*peer, 1, kStart);
  EXPECT_TRUE(membership.complete());
  EXPECT_TRUE(Greeted(membership, kStart + 500ms).empty()) << "who lives is not greeted";
  EXPECT_FALSE(membership.SetMembers({}, kStart));
  Instant now = kStart;
  while (now < kStart + 9min) membership.Due(now = membership.NextCall());
  EXPECT_NE(membership.Find(NodeNumber("a")), nullptr);
  while (now < kStart + 11min) membership.Due(now += 1s);
  EXPECT_EQ(membership.Find(NodeNumber("a")), nullptr);
}

TEST(Membership, OneThatIsMetAtTwoAddressesIsAliveAtBoth) {
  Membership membership("self", {.open = true});
  EXPECT_FALSE(membership.SetMembers({{"", "1.1.1.1:1"}, {"", "[::1]:1"}}, kStart));
  Peer& peer = *membership.Learn("a", "1.1.1.1:1", kStart);
  membership.Heard(peer, 1, kStart);
  EXPECT_FALSE(membership.complete()) << "there might be another at [::1]:1";
  membership.MetAt("[::1]:1", peer);
  EXPECT_TRUE(membership.complete());
  EXPECT_TRUE(Greeted(membership, kStart + 500ms).empty());
  membership.Died(peer, kStart);
  EXPECT_FALSE(membership.complete());
  EXPECT_EQ(Greeted(membership, kStart + 5s).size(), 3u) << "it, and both of the list";
}

TEST(Membership, ANamedOneLearnsNobody) {
  Membership membership = Named({{"a", "1.1.1.1:1"}});
  EXPECT_EQ(membership.Learn("b", "2.2.2.2:1", kStart), nullptr);
}

TEST(Membership, AnOpenOneHasABound) {
  Membership membership("self", {.open = true, .most_peers = 3});
  for (int i = 0; i < 10; ++i) membership.Learn("n" + std::to_string(i), "1.1.1.1:1", kStart);
  EXPECT_EQ(membership.peers().size(), 3u);
}

}  // namespace
}  // namespace weir::cluster::membership_test
