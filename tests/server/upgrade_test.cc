// A cluster is upgraded a node at a time. What a node of the version before sent to another is kept in
// tests/server/upgrade/version_N.txt; a node of this version is told it, and must count together with that one.
//
// The story: b runs, and uses something; a starts and copies it; both use more; each settles a ticket of the
// other; b leaves. WEIR_RECORD=FILE writes what nodes of this version say in it, for the next.
#include <fstream>
#include <sstream>

#include "tests/server/upgrade_site.h"

namespace weir::upgrade_test {
namespace {

constexpr Duration kLatency = 1ms;
constexpr uint32_t kLifeOfA = 7, kLifeOfB = 3;
constexpr uint64_t kUsedBefore = 30, kUsedByB = 20, kUsedByA = 5;

enum Step { kUseBefore, kStartA, kUseB, kUseA, kSettleAtA, kSettleAtB, kLeaveB, kEnd };
constexpr Duration kWhen[] = {2500ms, 3s, 6s, 7s, 8s, 9s, 15s, 20s};
Instant When(Step step) { return kStart + kWhen[step]; }

void UseAll(Site& site, const std::string& subject, uint64_t cost, Instant now) {
  for (const char* resource : kResources) {
    EXPECT_TRUE(site.Use(resource, subject, cost, now).allowed) << resource;
  }
}

// What a does by itself.
void ActA(Site& a, Step step, const Ticket& of_b) {
  if (step == kUseA) UseAll(a, "told", kUsedByA, When(step));
  if (step == kSettleAtA) a.Settle(of_b, 4, When(step));
}

std::string Hex(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) {
    for (const int shift : {4, 0}) out += "0123456789abcdef"[static_cast<uint8_t>(c) >> shift & 15];
  }
  return out;
}

std::string Unhex(const std::string& text) {
  std::string out;
  for (size_t i = 0; i + 1 < text.size(); i += 2) {
    out.push_back(static_cast<char>(std::stoi(text.substr(i, 2), nullptr, 16)));
  }
  return out;
}

TEST(Upgrade, IsRecordedForTheNextVersion) {
  const char* file = std::getenv("WEIR_RECORD");
  if (file == nullptr) GTEST_SKIP() << "WEIR_RECORD is not set";
  Site b("b", kLifeOfB, "a", kStart);
  std::unique_ptr<Site> a;
  std::vector<Sent> all;
  Ticket of_b, of_a;
  size_t from_a = 0, from_b = 0;
  for (Instant now = kStart; now < When(kEnd); now += kLatency) {
    for (int step = 0; step < kEnd; ++step) {
      if (When(static_cast<Step>(step)) != now) continue;
      if (step == kUseBefore) {
        UseAll(b, "copied", kUsedBefore, now);
        of_b = b.Use("debt", "of b", 10, now, true).ticket;
      }
      if (step == kStartA) a = std::make_unique<Site>("a", kLifeOfA, "b", now);
      if (step == kUseB) UseAll(b, "told", kUsedByB, now);
      if (step == kSettleAtB) b.Settle(a->Use("debt", "of a", 10, now, true).ticket, 4, now);
      if (step == kLeaveB) b.node->Leave(now);
      if (a != nullptr) ActA(*a, static_cast<Step>(step), of_b);
    }
    std::vector<Sent> flying;
    for (; from_b < b.sent.size(); ++from_b) flying.push_back(b.sent[from_b]);
    for (; a != nullptr && from_a < a->sent.size(); ++from_a) flying.push_back(a->sent[from_a]);
    for (Sent& one : flying) {
      one.at = now;
      if (one.to != one.from && a != nullptr) all.push_back(one);
      if (one.to == "a" && a != nullptr) a->Receive(one, now);
      if (one.to == "b" && now < When(kLeaveB)) b.Receive(one, now);
    }
    if (now < When(kLeaveB)) b.TickUntil(now);
    if (a != nullptr) a->TickUntil(now);
  }
  std::ofstream out(file);
  for (const Sent& one : all) {
    out << ToNanos(one.at) - ToNanos(kStart) << ' ' << one.from << ' ' << Hex(one.bytes) << '\n';
  }
  ASSERT_TRUE(b.settled && b.settled->ok());
  ASSERT_TRUE(a->settled && a->settled->ok());
}

std::vector<Sent> Recorded(const std::string& version) {
  std::ifstream in(std::string(WEIR_SOURCE_DIR) + "/tests/server/upgrade/" + version + ".txt");
  std::vector<Sent> all;
  int64_t at = 0;
  for (std::string from, hex; in >> at >> from >> hex;) {
    all.push_back({kStart + Duration(at), from, from == "a" ? "b" : "a", Unhex(hex)});
  }
  EXPECT_FALSE(all.empty());
  return all;
}

// A node of this version in the place of a: b is the recording.
std::unique_ptr<Site> Replay(const std::string& version) {
  auto a = std::make_unique<Site>("a", kLifeOfA, "b", When(kStartA));
  const std::vector<Sent> all = Recorded(version);
  auto next = all.begin();
  for (Instant now = When(kStartA); now < When(kEnd); now += kLatency) {
    for (int step = 0; step < kEnd; ++step) {
      if (When(static_cast<Step>(step)) == now) ActA(*a, static_cast<Step>(step), {1, 1});
    }
    for (; next != all.end() && next->at <= now; ++next) {
      if (next->to == "a") a->Receive(*next, now);
    }
    a->TickUntil(now);
  }
  return a;
}

TEST(Upgrade, ANodeOfTheVersionBeforeIsCountedWith) {
  const std::unique_ptr<Site> a = Replay("version_1");
  for (const char* resource : kResources) {
    EXPECT_EQ(a->Remaining(resource, "copied", When(kEnd)), 100 - kUsedBefore) << resource;
    EXPECT_EQ(a->Remaining(resource, "told", When(kEnd)), 100 - kUsedByB - kUsedByA) << resource;
  }
  const cluster::NodeStatus status = a->node->Status(When(kEnd));
  EXPECT_EQ(status.copies.received, 1u);
  for (const uint64_t rejected : status.rejected) EXPECT_EQ(rejected, 0u);
}

TEST(Upgrade, ANodeOfTheVersionBeforeSettlesForThisOne) {
  const std::unique_ptr<Site> a = Replay("version_1");
  ASSERT_TRUE(a->settled.has_value());
  ASSERT_TRUE(a->settled->ok()) << a->settled->error().message;
  EXPECT_EQ((*a->settled)->charged, 4u);
}

}  // namespace
}  // namespace weir::upgrade_test
