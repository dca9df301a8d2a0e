// Questions whose answers may have to be waited for come to what those come to that are answered at once.
#include <gtest/gtest.h>

#include <map>

#include "lab/stores/faulty.h"
#include "store/memory_store.h"
#include "tests/limiter/calls.h"

namespace weir::calls_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::kStart;
using testing::NotedCall;
using testing::NotedDescriptors;
using testing::NotedSettle;
using testing::OverStore;
using testing::Thread;

// ---- The same decisions ----

void ExpectSame(const Decision& a, const Decision& b) {
  ASSERT_EQ(a.error, b.error);
  ASSERT_EQ(a.message, b.message);
  if (a.error != Code::kOk) return;
  ASSERT_EQ(a.allowed, b.allowed);
  ASSERT_EQ(a.degraded, b.degraded);
  ASSERT_EQ(a.granted, b.granted);
  ASSERT_EQ(a.remaining, b.remaining);
  ASSERT_EQ(a.retry_after, b.retry_after);
  ASSERT_EQ(a.reset_after, b.reset_after);
  ASSERT_EQ(a.limit, b.limit);
  ASSERT_EQ(static_cast<bool>(a.ticket), static_cast<bool>(b.ticket));
  ASSERT_EQ(a.tiers.has_value(), b.tiers.has_value());
  if (a.tiers) {
    ASSERT_EQ(a.tiers->tier, b.tiers->tier);
    ASSERT_EQ(a.tiers->tier_hits, b.tiers->tier_hits);
    ASSERT_EQ(a.tiers->hard_limited, b.tiers->hard_limited);
    ASSERT_EQ(a.tiers->hits_last_second, b.tiers->hits_last_second);
  }
  ASSERT_EQ(a.limits().size(), b.limits().size());
  for (size_t i = 0; i < a.limits().size(); ++i) {
    ASSERT_EQ(a.limits()[i].name, b.limits()[i].name);
    ASSERT_EQ(a.limits()[i].remaining, b.limits()[i].remaining);
    ASSERT_EQ(a.limits()[i].reset_after, b.limits()[i].reset_after);
    ASSERT_EQ(a.limits()[i].refused, b.limits()[i].refused);
  }
}

void ExpectSame(const DescriptorDecision& a, const DescriptorDecision& b) {
  ASSERT_EQ(a.error, b.error);
  ASSERT_EQ(a.over, b.over);
  ASSERT_EQ(a.degraded, b.degraded);
  ASSERT_EQ(a.statuses.size(), b.statuses.size());
  for (size_t i = 0; i < a.statuses.size(); ++i) {
    ASSERT_EQ(a.statuses[i].over, b.statuses[i].over);
    ASSERT_EQ(a.statuses[i].limited, b.statuses[i].limited);
    ASSERT_EQ(a.statuses[i].name, b.statuses[i].name);
    ASSERT_EQ(a.statuses[i].shadow, b.statuses[i].shadow);
    ASSERT_EQ(a.statuses[i].quota, b.statuses[i].quota);
    ASSERT_EQ(a.statuses[i].remaining, b.statuses[i].remaining);
    ASSERT_EQ(a.statuses[i].reset_after, b.statuses[i].reset_after);
    ASSERT_EQ(a.statuses[i].retry_after, b.statuses[i].retry_after);
  }
}

constexpr std::string_view kDescriptors = R"(
  d:
    descriptors:
      - {key: user, rate_limit: {unit: second, requests_per_unit: 5}}
      - {key: path, value: /a, rate_limit: {unit: minute, requests_per_unit: 7}, shadow_mode: true}
      - {key: one, rate_limit: {name: q1, unit: second, requests_per_unit: 3}, quota_mode: true}
      - {key: two, rate_limit: {name: q2, unit: minute, requests_per_unit: 4}, quota_mode: true}
)";

std::string AllRules() { return std::string(testing::kEveryAlgorithm) + std::string(kDescriptors); }
// Some of the limits are decided elsewhere, others here.
std::string MixedRules(Random& random) {
  std::string rules = AllRules();
  const auto mix = [&](std::string_view before, std::string_view shared) {
    for (size_t at = 0; (at = rules.find(before, at)) != std::string::npos; at += before.size()) {
      if (random.Below(2) == 0) continue;
      rules.insert(at, shared);
      at += shared.size();
    }
  };
  mix("algorithm: ", "coordination: shared, ");
  mix("name: second, ", "coordination: shared, ");
  mix("name: everyone, ", "coordination: shared, ");
  mix("hard_limit: 10", "coordination: shared\n          ");
  mix("rate_limit: ", "weir: {coordination: shared}, ");
  return rules;
}

// Asks both limiters the same: one at once, the other by calls whose bytes are gone when it waits.
class Workload {
 public:
  Workload(uint64_t seed, std::shared_ptr<const Rulebook> rules, const LimiterOptions& options,
           bool mixed = false)
      : mixed_(mixed),
        random_(seed),
        model_(rules, Alone(), kStart),
        limiter_(rules, options, kStart) {}

  void Run() {
    for (int step = 0; step < 400 && !::testing::Test::HasFatalFailure(); ++step) {
      thread_.clock.Advance(
          Duration(random_.Below(3) == 0 ? random_.Below(400'000'000) : random_.Below(1000)));
      const Instant now = thread_.clock.Now();
      switch (random_.Below(8)) {
        case 0: Adhoc(now); break;
        case 1: Descriptors(now); break;
        case 2: Settle(now); break;
        case 3:
          // With limits in both places, those that wait together see of each other what may be given back.
          mixed_ ? One(now) : Batch(now);
          break;
        default: One(now);
      }
      if (random_.Below(20) == 0) {
        model_.Tick(now);
        limiter_.Tick(now);
      }
    }
    const LimiterStats stats = limiter_.Stats();
    EXPECT_EQ(stats.open_tickets, model_.Stats().open_tickets);
    EXPECT_EQ(stats.awaited, 0u);
    for (const FailureCount& failure : stats.failures) EXPECT_EQ(failure.count, 0u);
    const LimiterCounts counts = limiter_.AllCounts(), expected = model_.AllCounts();
    ASSERT_EQ(counts.resources.size(), expected.resources.size());
    for (size_t i = 0; i < counts.resources.size(); ++i) {
      EXPECT_EQ(counts.resources[i].total, expected.resources[i].total);
    }
    for (const std::string_view resource : {"a", "b", "c", "d", "e", "f"}) {
      EXPECT_EQ(Names(limiter_.Busiest("n", resource)), Names(model_.Busiest("n", resource)));
      EXPECT_EQ(Names(limiter_.MostRefused("n", resource)),
                Names(model_.MostRefused("n", resource)));
    }
  }

 private:
  static std::map<std::string, uint64_t> Names(const std::vector<SubjectCount>& subjects) {
    std::map<std::string, uint64_t> names;
    for (const SubjectCount& one : subjects) names[one.subject] = one.count;
    return names;
  }
  static LimiterOptions Alone() {
    LimiterOptions options;
    options.secret = {1, 2};
    return options;
  }
  Request Draw() {
    static constexpr std::string_view kResources[] = {"a", "b", "c", "d", "e", "f", "none"};
    subject_ = "subject-" + std::to_string(random_.Below(3));
    resource_ = kResources[random_.Below(7)];
    namespace_ = "n";
    Request request{namespace_, resource_, subject_, random_.Below(5)};
    if (random_.Below(3) == 0) request.min_cost = random_.Below(request.cost + 1);
    request.settle = random_.Below(3) == 0;
    return request;
  }
  // Nobody may look at what was asked any more.
  void Overwrite() {
    for (std::string* text : {&namespace_, &resource_, &subject_}) {
      std::fill(text->begin(), text->end(), '#');
    }
  }
  void Await(auto& call, When when) {
    Overwrite();
    thread_.Await(call, when);
  }
  void Keep(const Decision& here, const Decision& there) {
    if (here.ticket && there.ticket) tickets_.emplace_back(here.ticket, there.ticket);
  }

  void One(Instant now) {
    call_.ask = random_.Below(4) == 0 ? DecideCall::Ask::kPeek : DecideCall::Ask::kRequest;
    call_.request = Draw();
    const Decision expected = call_.ask == DecideCall::Ask::kPeek
                                  ? model_.Peek(call_.request, now)
                                  : model_.Decide(call_.request, now);
    Await(call_, limiter_.Decide(call_, now));
    ASSERT_NO_FATAL_FAILURE(ExpectSame(call_.decision, expected));
    Keep(call_.decision, expected);
  }
  void Batch(Instant now) {
    std::vector<std::unique_ptr<NotedCall>> calls;
    std::vector<DecideCall*> all;
    std::vector<Decision> expected;
    std::vector<std::string> texts;
    texts.reserve(100);
    for (uint64_t i = 1 + random_.Below(40); i > 0; --i) {
      calls.push_back(std::make_unique<NotedCall>(&thread_.executor));
      Request request = Draw();
      request.resource = texts.emplace_back(resource_);
      request.subject = texts.emplace_back(subject_);
      calls.back()->request = request;
      all.push_back(calls.back().get());
      expected.push_back(model_.Decide(request, now));
    }
    const size_t late = limiter_.Decide(all, now);
    Overwrite();
    for (std::string& text : texts) std::fill(text.begin(), text.end(), '#');
    thread_.executor.RunAll();
    size_t answered = 0;
    for (size_t i = 0; i < calls.size(); ++i) {
      answered += static_cast<size_t>(calls[i]->answers);
      ASSERT_NO_FATAL_FAILURE(ExpectSame(calls[i]->decision, expected[i]));
      Keep(calls[i]->decision, expected[i]);
    }
    ASSERT_EQ(answered, late);
  }
  void Adhoc(Instant now) {
    subject_ = "key-" + std::to_string(random_.Below(3));
    call_.ask = DecideCall::Ask::kAdhoc;
    call_.adhoc = {subject_, 1 + random_.Below(3), seconds(1), 1 + random_.Below(8),
                   random_.Below(4)};
    Decision expected;
    model_.DecideAdhoc(call_.adhoc, now, expected);
    Await(call_, limiter_.Decide(call_, now));
    ASSERT_NO_FATAL_FAILURE(ExpectSame(call_.decision, expected));
  }
  void Descriptors(Instant now) {
    static constexpr std::string_view kKeys[] = {"user", "path", "one", "two", "unknown"};
    namespace_ = "d";
    std::vector<std::string> texts;
    texts.reserve(8);
    std::vector<DescriptorEntry> entries;
    for (uint64_t i = 1 + random_.Below(3); i > 0; --i) {
      const std::string_view key = kKeys[random_.Below(5)];
      texts.emplace_back(key);
      texts.emplace_back(key == "path" ? "/a" : std::to_string(random_.Below(2)));
      entries.push_back({texts[texts.size() - 2], texts.back()});
    }
    std::vector<Descriptor> descriptors;
    for (const DescriptorEntry& entry : entries) {
      Descriptor& one = descriptors.emplace_back();
      one.entries = {&entry, 1};
      if (random_.Below(4) == 0) one.hits_addend = random_.Below(3);
      if (random_.Below(5) == 0) one.is_negative_hits = true;
      if (random_.Below(5) == 0) one.limit = {6, RateUnit::kMinute};
    }
    descriptors_.request = {namespace_, descriptors, 1 + random_.Below(2)};
    DescriptorDecision expected;
    model_.DecideDescriptors(descriptors_.request, now, expected);
    const When when = limiter_.Decide(descriptors_, now);
    for (std::string& text : texts) std::fill(text.begin(), text.end(), '#');
    descriptors.clear();
    entries.clear();
    Await(descriptors_, when);
    ASSERT_NO_FATAL_FAILURE(ExpectSame(descriptors_.decision, expected));
  }
  void Settle(Instant now) {
    if (tickets_.empty()) return;
    const size_t i = random_.Below(tickets_.size());
    settle_.request = {tickets_[i].first, random_.Below(7)};
    const Result<Settled> expected = model_.Settle(tickets_[i].second, settle_.request.cost, now);
    Await(settle_, limiter_.Settle(settle_, now));
    tickets_.erase(tickets_.begin() + static_cast<std::ptrdiff_t>(i));
    ASSERT_EQ(settle_.answer.ok(), expected.ok());
    if (!expected) return;
    ASSERT_EQ(settle_.answer->charged, expected->charged);
    ASSERT_EQ(settle_.answer->remaining, expected->remaining);
  }

  const bool mixed_;
  Random random_;
  Limiter model_, limiter_;
  Thread thread_{limiter_};
  std::string namespace_, resource_, subject_;
  NotedCall call_{&thread_.executor};
  NotedDescriptors descriptors_{&thread_.executor};
  NotedSettle settle_{&thread_.executor};
  std::vector<std::pair<Ticket, Ticket>> tickets_;
};

TEST(Calls, OverMemoryDecideAsWhoAsksAtOnce) {
  LimiterOptions options;
  options.secret = {1, 2};
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    Workload(seed, testing::Rules(AllRules()), options).Run();
  }
}

TEST(Calls, OverAStoreThatAnswersLaterDecideAsWhoAsksAtOnce) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    Workload(seed, testing::Rules(AllRules()), OverStore<lab::Later>(nullptr, true)).Run();
  }
}

TEST(Calls, WithLimitsInBothPlacesDecideAsWhoAsksAtOnce) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const auto rules = testing::SharedRules(MixedRules(random));
    Workload(seed, rules, OverStore<lab::Later>(nullptr, false), true).Run();
  }
}

}  // namespace
}  // namespace weir::calls_test
