// The contract of algorithm.h, held to by every algorithm whatever its numbers and its history.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <vector>

#include "algorithms/limit.h"
#include "tests/algorithms/testing.h"

namespace weir::contract_test {
namespace {

using rc::gen::element;
using rc::gen::inRange;
using rc::gen::oneOf;

constexpr Instant kLast = FromNanos(INT64_MAX - 1);  // stands for whatever is later still

rc::Gen<uint64_t> AnyLimit(uint64_t most) {
  return oneOf(inRange<uint64_t>(0, 4), inRange<uint64_t>(1, 100), element(most, most - 1));
}
rc::Gen<Duration> AnySpan() {
  const auto nanos = oneOf(inRange<int64_t>(1, 30), inRange<int64_t>(1, kTenYears.count() + 1),
                           element<int64_t>(1'000'000, 1'000'000'000, 60'000'000'000));
  return rc::gen::map(nanos, [](int64_t n) { return Duration(n); });
}

template <typename A>
A AnyNumbers();

template <>
TokenBucket AnyNumbers() {
  const uint64_t limit = *AnyLimit(kMostTokens);
  return TokenBucket(limit, *AnySpan(), limit == 0 ? 0 : std::max(*AnyLimit(kMostTokens), 1ul));
}
template <>
FixedWindow AnyNumbers() {
  using Anchor = FixedWindow::Anchor;
  FixedWindow a{*AnyLimit(kMostTokens), *AnySpan()};
  a.anchor = *element(Anchor::kEpoch, Anchor::kFirstRequest, Anchor::kCalendar);
  if (a.anchor != Anchor::kCalendar) return a;
  using Unit = Calendar::Unit;
  a.calendar = Calendar::Find(*element(Unit::kDay, Unit::kWeek, Unit::kMonth, Unit::kYear),
                              *element("Europe/Stockholm", "America/St_Johns", "Pacific/Apia"));
  a.per = 31h;
  return a;
}
template <>
SlidingLog AnyNumbers() {
  return {*AnyLimit(1'000'000), *AnySpan(), *rc::gen::arbitrary<bool>()};
}
template <>
SlidingWindow AnyNumbers() {
  using Edge = SlidingWindow::Edge;
  return {*AnyLimit(kMostTokens), *AnySpan(),
          *oneOf(inRange<uint32_t>(1, 4), inRange<uint32_t>(1, 30), element(10'000u)),
          *element(Edge::kDrop, Edge::kWeighted, Edge::kStrict)};
}
template <>
BurstTiers AnyNumbers() {
  BurstTiers a;
  const auto span = *oneOf(inRange<int64_t>(1, 30), element(kTenYears.count() / 30));
  for (int i = *inRange(0, 5); i > 0; --i) {
    a.tiers.push_back({*inRange<uint64_t>(0, 6), Duration(*inRange<int64_t>(1, span + 1)),
                       Duration(*inRange<int64_t>(1, span + 1)),
                       Duration(*inRange<int64_t>(0, span + 1)), *rc::gen::arbitrary<bool>()});
  }
  return a;
}

template <typename A>
Duration SpanOf(const A& a) {
  return a.per;
}
Duration SpanOf(const BurstTiers& a) {
  Duration longest{1};
  for (const BurstTiers::Tier& tier : a.tiers) longest = std::max(longest, tier.window);
  return longest;
}

template <typename A>
void ExpectExactWait(const A& a, const typename A::State& state, uint64_t n, Instant now) {
  const Instant when = a.When(state, n, now);
  RC_ASSERT(Admits(a, state, n, now) == (when == now));
  if (when == now || when == kLast) return;
  if (when == kEndOfTime) {
    RC_ASSERT(n > a.Capacity() || a.Capacity() == 0);
    return;
  }
  RC_ASSERT(when > now);
  RC_ASSERT(Admits(a, state, n, when));
  RC_ASSERT(!Admits(a, state, n, when - kNano));
  for (int64_t part = 1; part < 5; ++part) {
    RC_ASSERT(!Admits(a, state, n, now + (when - kNano - now) / 5 * part));
  }
}

template <typename A>
bool IsUnused(const A& a, const typename A::State& state, Instant now) {
  if constexpr (std::is_same_v<A, BurstTiers>) {
    if (a.Current(state, now).tier != 0) return false;
  }
  return a.Use(state, now) == 0 && a.Fill(state, now) == 0 && a.Room(state, now) == a.Capacity();
}

template <typename A>
void ExpectExactReset(const A& a, const typename A::State& state, Instant now) {
  const Instant reset = a.Reset(state, now);
  if (reset == kLast) return;
  if (reset == kEndOfTime) {
    RC_ASSERT(a.Capacity() == 0);
    return;
  }
  RC_ASSERT(reset >= now);
  RC_ASSERT(IsUnused(a, state, reset));
  RC_ASSERT(reset == now || !IsUnused(a, state, reset - kNano));
}

template <typename A>
void ExpectTrueAnswers(const A& a, const typename A::State& state, Instant now) {
  const typename A::State before = state;
  const uint64_t room = a.Room(state, now).value_or(0);
  RC_ASSERT(room <= a.Capacity());
  for (const uint64_t n : {uint64_t{0}, uint64_t{1}, room, room + 1, a.Capacity() / 2, a.Capacity(),
                           a.Capacity() + 1, UINT64_MAX}) {
    ExpectExactWait(a, state, n, now);
  }
  ExpectExactReset(a, state, now);
  RC_ASSERT(state == before);
}

template <typename A>
struct History {
  using Receipt = decltype(A().Take(std::declval<typename A::State&>(), 0, Instant{}));
  struct Taken {
    Receipt receipt;
    uint64_t n;
  };
};

template <typename A>
void Step(const A& a, typename A::State& state, Instant now,
          std::vector<typename History<A>::Taken>& history) {
  const std::optional<uint64_t> room = a.Room(state, now);
  const int kind = *inRange(0, 10);
  if (kind == 0 && !history.empty()) {
    auto& taken = history[*inRange<size_t>(0, history.size())];
    const uint64_t n = *inRange<uint64_t>(0, taken.n + 1);
    const uint64_t back = a.Refund(state, taken.receipt, n, now);
    RC_ASSERT(back <= n);
    taken.n -= back;
  } else if (kind == 1) {
    const uint64_t n = *inRange<uint64_t>(0, 5);
    history.push_back({a.Charge(state, n, now), n});
  } else if (room.has_value()) {
    const uint64_t n = *element(uint64_t{0}, uint64_t{1}, *room / 2, *room);
    if (n > *room) return;
    history.push_back({a.Take(state, n, now), n});
    RC_ASSERT(a.Room(state, now) == *room - n);
  } else if constexpr (std::is_same_v<A, SlidingLog>) {
    a.Reject(state, *inRange<uint64_t>(0, 3), now);
  }
}

template <>
struct History<TokenBucket> {
  struct Taken {};
};
template <>
void Step(const TokenBucket& a, TokenBucket::State& state, Instant now,
          std::vector<History<TokenBucket>::Taken>&) {
  const std::optional<uint64_t> room = a.Room(state, now);
  if (*inRange(0, 10) == 0) {
    a.Charge(state, *inRange<uint64_t>(0, 5), now);
  } else if (room.has_value()) {
    const uint64_t n = *element(uint64_t{0}, uint64_t{1}, *room / 2, *room);
    if (n > *room) return;
    a.Take(state, n, now);
    RC_ASSERT(a.Room(state, now) == *room - n);
  }
}

template <typename A>
class ContractTest : public testing::Test {};
using Algorithms = testing::Types<TokenBucket, FixedWindow, SlidingLog, SlidingWindow, BurstTiers>;
TYPED_TEST_SUITE(ContractTest, Algorithms);

TYPED_TEST(ContractTest, AnswersAreTrueWhateverCameBefore) {
  EXPECT_TRUE(rc::check([] {
    const auto a = AnyNumbers<TypeParam>();
    RC_PRE(Check(Limit(a), nullptr).empty());
    typename TypeParam::State state;
    std::vector<typename History<TypeParam>::Taken> history;
    const int64_t span = SpanOf(a).count();
    Instant now = *element(k1958, k2026, k2094);
    for (int i = *inRange(0, 20); i > 0; --i) {
      // Mostly onwards, now and then back.
      const int64_t step = *oneOf(element<int64_t>(0, 1, span / 7, span / 2, span - 1, span,
                                                   span + 1, span / 20, span / 10),
                                  inRange<int64_t>(-span / 4, span + 1));
      now = std::clamp(After(now, Duration(step)), k1958 - kTenYears, k2094 + 5 * kTenYears);
      Step(a, state, now, history);
      ExpectTrueAnswers(a, state, now);
      ExpectTrueAnswers(a, state, now + Duration(*inRange<int64_t>(0, span + 1)));
      ExpectTrueAnswers(a, state, now - Duration(*inRange<int64_t>(0, span + 1)));
    }
  }));
}

TYPED_TEST(ContractTest, DefaultStateIsUnused) {
  EXPECT_TRUE(rc::check([] {
    const auto a = AnyNumbers<TypeParam>();
    RC_PRE(Check(Limit(a), nullptr).empty());
    const typename TypeParam::State state;
    for (const Instant now : {k1958, At(0s), k2026, k2094}) {
      RC_ASSERT(IsUnused(a, state, now));
      RC_ASSERT(a.Reset(state, now) == now);
    }
  }));
}

TYPED_TEST(ContractTest, StartHasTheUseItWasGiven) {
  EXPECT_TRUE(rc::check([] {
    const auto a = AnyNumbers<TypeParam>();
    RC_PRE(Check(Limit(a), nullptr).empty());
    const uint64_t use = *inRange<uint64_t>(0, 200);
    const Instant now = *element(k1958, k2026, k2094);
    const bool expressible = !std::is_same_v<TypeParam, BurstTiers>;
    RC_ASSERT(a.Use(a.Start(use, now), now) == (expressible ? use : 0));
  }));
}

}  // namespace
}  // namespace weir::contract_test
