#include "algorithms/limit.h"

namespace weir {
namespace {

constexpr uint64_t kMostTokens = uint64_t{1} << 53;
constexpr uint64_t kMostLogged = 1'000'000;
constexpr uint32_t kMostSlices = 10'000;
constexpr Duration kLongest = std::chrono::days(3653);
constexpr Duration kLongestRefill = std::chrono::days(36525);

// Keeps the first mistake.
struct Checker {
  std::string prefix, field, complaint;

  void Expect(bool good, std::string_view name, std::string_view what) {
    if (good || !complaint.empty()) return;
    field = prefix + std::string(name);
    complaint = field + " " + std::string(what);
  }
  void Tokens(uint64_t n, std::string_view name) {
    Expect(n <= kMostTokens, name, "must be at most 9007199254740992 (2^53)");
  }
  void Logged(uint64_t n) {
    Expect(n <= kMostLogged, "limit", "must be at most 1000000, since every hit is kept");
  }
  void Span(Duration d, std::string_view name) {
    Expect(d.count() >= 1, name, "must be longer than zero");
    Expect(d <= kLongest, name, "must be at most ten years (3653d)");
  }
};

void CheckNumbers(const TokenBucket& a, Checker& check) {
  check.Tokens(a.limit, "limit");
  check.Tokens(a.burst, "burst");
  check.Span(a.per, "per");
  check.Expect(a.limit > 0 || a.burst == 0, "burst",
               "must be 0 where limit is 0, since it would never refill");
  check.Expect(a.limit == 0 || a.burst > 0, "burst",
               "must be at least 1, or nothing is ever admitted; to block, set limit to 0");
  const auto nanos = [](Duration d) { return static_cast<uint64_t>(d.count()); };
  check.Expect(uint128{a.burst} * nanos(a.per) <= uint128{a.limit} * nanos(kLongestRefill), "burst",
               "must refill within a hundred years: lower it, or raise the rate");
}

void CheckNumbers(const FixedWindow& a, Checker& check) {
  check.Tokens(a.limit, "limit");
  check.Span(a.per, "per");
  check.Expect(a.anchor != FixedWindow::Anchor::kCalendar || a.calendar != nullptr, "time_zone",
               "must be that of a known time zone, such as Europe/Stockholm");
}

void CheckNumbers(const SlidingLog& a, Checker& check) {
  check.Logged(a.limit);
  check.Span(a.per, "per");
}

void CheckNumbers(const SlidingWindow& a, Checker& check) {
  check.Tokens(a.limit, "limit");
  check.Span(a.per, "per");
  check.Expect(a.slices >= 1 && a.slices <= kMostSlices, "slices", "must be from 1 to 10000");
  check.Expect(a.slices <= a.per.count(), "slices", "must be at most the nanoseconds in per");
}

void CheckNumbers(const BurstTiers& a, Checker& check) {
  check.Expect(a.tiers.size() <= BurstTiers::kMost, "tiers", "must be at most 16");
  for (size_t i = 0; i < a.tiers.size(); ++i) {
    check.prefix = "tiers[" + std::to_string(i) + "].";
    check.Logged(a.tiers[i].limit);
    check.Span(a.tiers[i].window, "window");
    check.Span(a.tiers[i].active, "active");
    check.Expect(a.tiers[i].cooldown.count() >= 0, "cooldown", "must not be negative");
  }
}

void CheckNumbers(const Copies& a, Checker& check) { check.Tokens(a.limit, "limit"); }

bool Same(const TokenBucket& a, const TokenBucket& b) {
  return a.limit == b.limit && a.per == b.per && a.burst == b.burst;
}
bool Same(const FixedWindow& a, const FixedWindow& b) {
  if (a.limit != b.limit || a.per != b.per || a.anchor != b.anchor) return false;
  if (a.calendar == b.calendar) return true;
  return a.calendar != nullptr && b.calendar != nullptr &&
         a.calendar->unit() == b.calendar->unit() &&
         a.calendar->time_zone() == b.calendar->time_zone();
}
bool Same(const SlidingLog& a, const SlidingLog& b) {
  return a.limit == b.limit && a.per == b.per && a.keep_rejected == b.keep_rejected;
}
bool Same(const SlidingWindow& a, const SlidingWindow& b) {
  return a.limit == b.limit && a.per == b.per && a.slices == b.slices && a.edge == b.edge;
}
bool Same(const BurstTiers& a, const BurstTiers& b) { return a.tiers == b.tiers; }
bool Same(const Copies& a, const Copies& b) { return a.limit == b.limit; }

std::string_view Name(const TokenBucket&) { return "token_bucket"; }
std::string_view Name(const FixedWindow&) { return "fixed_window"; }
std::string_view Name(const SlidingLog&) { return "sliding_log"; }
std::string_view Name(const SlidingWindow&) { return "sliding_window"; }
std::string_view Name(const BurstTiers&) { return "burst_tiers"; }
std::string_view Name(const Copies&) { return "copies"; }

template <typename A>
LimitNumbers NumbersOf(const A& a) {
  return {a.limit, a.per, a.Capacity()};
}
LimitNumbers NumbersOf(const BurstTiers& a) {
  return {a.Capacity(), Duration::zero(), a.Capacity()};
}
LimitNumbers NumbersOf(const Copies& a) { return {a.limit, Duration::zero(), a.limit}; }

}  // namespace

std::string_view AlgorithmName(const Limit& limit) {
  return std::visit([](const auto& a) { return Name(a); }, limit);
}

LimitNumbers Numbers(const Limit& limit) {
  return std::visit([](const auto& a) { return NumbersOf(a); }, limit);
}

std::string Check(const Limit& limit, std::string* field) {
  Checker check;
  std::visit([&](const auto& a) { CheckNumbers(a, check); }, limit);
  if (field != nullptr) *field = std::move(check.field);
  return std::move(check.complaint);
}

bool SameNumbers(const Limit& a, const Limit& b) {
  if (a.index() != b.index()) return false;
  return std::visit([&](const auto& x) { return Same(x, std::get<std::decay_t<decltype(x)>>(b)); },
                    a);
}

}  // namespace weir
