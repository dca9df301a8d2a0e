// Limits with `persist` go on after a restart where they were; the others start anew.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "tests/limiter/testing.h"

namespace weir::persist_test {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::kStart;

constexpr std::string_view kRules = R"(
namespaces:
  n:
    resources:
      bucket: {limits: [{limit: 7, per: 1h, burst: 9, persist: true}]}
      fixed: {limits: [{name: quota, algorithm: fixed_window, limit: 10, per: 1h, persist: true}]}
      calendar: {limits: [{algorithm: fixed_window, limit: 10, per: 1d, anchor: calendar,
                           time_zone: Europe/Stockholm, persist: true}]}
      log: {limits: [{algorithm: sliding_log, limit: 10, per: 1h, persist: true}]}
      window: {limits: [{algorithm: sliding_window, limit: 10, per: 1h, slices: 6, persist: true}]}
      tiers: {tiers: {persist: true, tiers: [{limit: 5, window: 1m, active: 1h}, {limit: 9, window: 1m, active: 1m, cooldown: 1h}]}}
      fleeting: {limits: [{limit: 7, per: 1h}]}
)";
constexpr const char* kResources[] = {"bucket", "fixed", "calendar", "log", "window", "tiers"};
constexpr std::array<uint64_t, 2> kSecret = {1, 2};

std::unique_ptr<Limiter> Start(std::string_view rules = kRules) {
  return testing::Open(rules, {.secret = kSecret});
}

// What every answer says, for comparing.
std::string Told(const Decision& d) {
  return std::to_string(d.allowed) + " " + std::to_string(d.granted) + " " +
         std::to_string(d.remaining) + " " + std::to_string(d.retry_after.count()) + " " +
         std::to_string(d.reset_after.count());
}

RC_GTEST_PROP(Persist, ARestartChangesNoAnswer, ()) {
  auto one = Start();
  Instant now = kStart;
  std::vector<SavedState> disk;
  for (int i = 0; i < 40; ++i) {
    now += Duration(*rc::gen::inRange<int64_t>(0, 1'200'000'000'000));
    const std::string resource =
        *rc::gen::elementOf(std::vector<std::string>(std::begin(kResources), std::end(kResources)));
    one->Decide({"n", resource, "ann", *rc::gen::inRange<uint64_t>(1, 4)}, now);
    for (SavedState& state : one->TakeChanged(now)) disk.push_back(std::move(state));
  }
  auto two = testing::Open(kRules, {.secret = kSecret});
  std::vector<SavedState> latest;
  for (auto it = disk.rbegin(); it != disk.rend(); ++it) latest.push_back(*it);
  two->Restore(latest, now);  // the newest of each is taken, the others come too late
  for (const char* resource : kResources) {
    const Instant then = now + Duration(*rc::gen::inRange<int64_t>(0, 600'000'000'000));
    RC_ASSERT(Told(one->Peek({"n", resource, "ann"}, then)) ==
              Told(two->Peek({"n", resource, "ann"}, then)));
  }
}

TEST(Persist, OnlyWhatIsPersistentAndChangedIsTaken) {
  auto limiter = Start();
  limiter->Decide({"n", "fleeting", "ann"}, kStart);
  EXPECT_TRUE(limiter->TakeChanged(kStart).empty());
  limiter->Decide({"n", "fixed", "ann"}, kStart);
  limiter->Decide({"n", "fixed", "ann"}, kStart);
  EXPECT_EQ(limiter->TakeChanged(kStart).size(), 1u);
  EXPECT_TRUE(limiter->TakeChanged(kStart).empty());
  EXPECT_FALSE(limiter->Decide({"n", "fixed", "ann", 100}, kStart).allowed);
  EXPECT_TRUE(limiter->TakeChanged(kStart).empty()) << "a refusal changes nothing";
}

TEST(Persist, SettlingIsKeptToo) {
  auto one = Start();
  const Decision decision = one->Decide({"n", "fixed", "ann", 8, 8, true}, kStart);
  one->TakeChanged(kStart);
  one->Settle(decision.ticket, 3, kStart);
  auto two = Start();
  EXPECT_EQ(two->Restore(one->TakeChanged(kStart), kStart), 1u);
  EXPECT_EQ(two->Peek({"n", "fixed", "ann"}, kStart).remaining, 7u);
}

TEST(Persist, OtherNumbersKeepWhatWasUsed) {
  auto one = Start();
  one->Decide({"n", "fixed", "ann", 4}, kStart);
  auto two = Start(
      "namespaces: {n: {resources: {fixed: {limits: [{name: quota, algorithm: sliding_window, "
      "limit: 20, per: "
      "2h, persist: true}]}}}}");
  EXPECT_EQ(two->Restore(one->TakeChanged(kStart), kStart), 1u);
  EXPECT_EQ(two->Peek({"n", "fixed", "ann"}, kStart).remaining, 16u);
}

TEST(Persist, AClockThatWasAheadFreesNothingAndLocksNobodyOut) {
  for (const char* resource : kResources) {
    auto one = Start();
    const Instant ahead = kStart + hours(24 * 365 * 68);
    one->Tick(ahead);
    one->Decide({"n", resource, "ann", 3}, ahead);
    auto two = Start();
    EXPECT_EQ(two->Restore(one->TakeChanged(ahead), kStart), 1u) << resource;
    EXPECT_LE(two->Peek({"n", resource, "ann"}, kStart).remaining, 11u) << resource;
    EXPECT_GT(two->Peek({"n", resource, "ann"}, kStart + hours(25)).remaining, 4u) << resource;
  }
}

TEST(Persist, WhatIsOwedBeyondTheBurstIsOwedAfterAClockThatWasAheadToo) {
  auto one = Start();
  const Instant ahead = kStart + hours(24 * 365 * 68);
  const Decision decision = one->Decide({"n", "bucket", "ann", 9, 9, true}, ahead);
  ASSERT_TRUE(one->Settle(decision.ticket, 23, ahead));
  auto two = Start();
  EXPECT_EQ(two->Restore(one->TakeChanged(ahead), kStart), 1u);
  EXPECT_FALSE(two->Decide({"n", "bucket", "ann"}, kStart + hours(2)).allowed);
  EXPECT_TRUE(two->Decide({"n", "bucket", "ann", 2}, kStart + hours(3)).allowed);
}

TEST(Persist, BadBytesAreRefused) {
  auto one = Start();
  for (const char* resource : kResources) one->Decide({"n", resource, "ann", 2}, kStart);
  for (SavedState state : one->TakeChanged(kStart)) {
    for (size_t cut = 0; cut < state.state.size(); ++cut) {
      SavedState bad = state;
      bad.state = state.state.substr(0, cut);
      if (bad.state.empty()) continue;
      auto two = Start();
      EXPECT_EQ(two->Restore({&bad, 1}, kStart), 0u) << state.limit << " cut at " << cut;
    }
    state.limit = "unknown";
    auto two = Start();
    EXPECT_EQ(two->Restore({&state, 1}, kStart), 0u);
  }
}

}  // namespace
}  // namespace weir::persist_test
