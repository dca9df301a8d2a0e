#include "lab/oracle/traffic.h"

#include <algorithm>

#include "lab/oracle/calendar_oracle.h"
#include "lab/oracle/random_limit.h"

namespace weir::oracle {
namespace {

constexpr int64_t kOneSecond = 1'000'000'000;
constexpr int64_t kFar = int64_t{1} << 62;  // 146 years
constexpr int64_t kMostBack = int64_t{68} * 31'536'000 * kOneSecond;
constexpr size_t kMostOpen = 40;  // below RefundMarks::kMost, where marks are merged

uint64_t CapacityOf(const Limit& limit) {
  return std::visit([](const auto& a) { return a.Capacity(); }, limit);
}

uint64_t SpanOf(const Limit& limit) {
  if (const auto* tiers = std::get_if<BurstTiers>(&limit)) {
    int64_t longest = 1;
    for (const auto& tier : tiers->tiers) longest = std::max(longest, tier.active.count());
    return static_cast<uint64_t>(longest);
  }
  return std::visit(
      [](const auto& a) -> uint64_t {
        if constexpr (requires { a.per; }) return static_cast<uint64_t>(a.per.count());
        return 1;
      },
      limit);
}

// A window or an entry that was forgotten and comes to life again under the same number or instant,
// after a step back, is taken for the first one by that one's tickets. False if this may happen.
bool TicketsOutliveSteps(const Limit& limit) {
  if (const auto* log = std::get_if<SlidingLog>(&limit)) return log->per.count() > kOneSecond;
  if (const auto* tiers = std::get_if<BurstTiers>(&limit)) {
    return std::all_of(tiers->tiers.begin(), tiers->tiers.end(),
                       [](const auto& tier) { return tier.window.count() > kOneSecond; });
  }
  return !std::holds_alternative<FixedWindow>(limit);
}

bool IsCalendar(const Limit& limit) {
  const auto* window = std::get_if<FixedWindow>(&limit);
  return window != nullptr && window->anchor == FixedWindow::Anchor::kCalendar;
}

}  // namespace

Traffic::Traffic(const Limit& limit, Random* random) : random_(random) {
  capacity_ = CapacityOf(limit);
  span_ns_ = SpanOf(limit);
  token_ns_ = span_ns_ / std::max<uint64_t>(1, capacity_) + 1;
  // Windows and logs count in 64 bits. The oracle of the bucket needs 128 for tokens * per.
  const bool bucket = std::holds_alternative<TokenBucket>(limit);
  most_charged_ = bucket ? uint128{1} << 66 : UINT64_MAX - 2 * uint128{capacity_};
  settles_ = OneIn(2);
  huge_ = OneIn(16);
  if (OneIn(4)) most_back_ns_ = kOneSecond;
  const bool windows =
      std::holds_alternative<FixedWindow>(limit) || std::holds_alternative<SlidingWindow>(limit);
  restarts_ = windows && OneIn(8);
  if (settles_ && !TicketsOutliveSteps(limit)) most_back_ns_ = 0;
  if (IsCalendar(limit)) {
    first_ = FromNanos(CalendarOracle::kFirstSecond * kOneSecond);
    last_ = FromNanos(CalendarOracle::kLastSecond * kOneSecond);
    // Mostly now, where the starts of windows are in a table.
    const Instant lowest = OneIn(4) ? first_ : FromNanos(1'600'000'000 * kOneSecond);
    const auto range = static_cast<uint64_t>((last_ - lowest).count());
    now_ = lowest + Duration(static_cast<int64_t>(random_->Below(range)));
  } else {
    const int64_t starts[] = {0,
                              1,
                              1'700'000'000 * kOneSecond,
                              1'700'000'000 * kOneSecond,
                              kOneSecond / 3,
                              -kOneSecond,
                              -kMostBack,
                              kFar};
    first_ = FromNanos(-kFar);
    last_ = FromNanos(kFar);
    now_ = FromNanos(OneOf(starts, random_));
  }
  latest_ = now_;
}

Instant Traffic::Within(int128 nanos) const {
  if (nanos < ToNanos(first_) || nanos > ToNanos(last_)) return now_;
  return FromNanos(static_cast<int64_t>(nanos));
}

Instant Traffic::NextInstant(const Session& oracle, const Answer& last) {
  const int128 now = ToNanos(now_);
  const int128 near = static_cast<int128>(random_->Below(3)) - 1;
  switch (random_->Below(16)) {
    case 0:
    case 1:
    case 2: return now_;
    case 3:
    case 4: return Within(now + 1 + near);
    case 5:
    case 6: return Within(now + AnyMagnitude(1, 2 * span_ns_, random_));
    case 7:
    case 8: return Within(now + AnyMagnitude(1, 4 * token_ns_, random_));
    case 9:
    case 10: return Within(std::max<int128>(now, ToNanos(last.retry_at) + near));
    case 11:
    case 12:
      changes_.clear();
      oracle.model().Changes(now_, &changes_);
      if (changes_.empty()) return Within(now + span_ns_ + near);
      return Within(ToNanos(changes_[random_->Below(changes_.size())]) + near);
    case 13: return Within(std::max<int128>(now, ToNanos(last.reset_at) + near));
    case 14: return OneIn(4) ? Within(now + AnyMagnitude(1, uint64_t{1} << 61, random_)) : now_;
    default:
      if (most_back_ns_ == 0) return now_;
      // Back, but not by more than that from the latest instant of all.
      return Within(std::max<int128>(now - AnyMagnitude(1, most_back_ns_, random_),
                                     int128{ToNanos(latest_)} - most_back_ns_));
  }
}

uint64_t Traffic::NextCost(std::optional<uint64_t> room) {
  const uint64_t left = room.value_or(0);
  const uint64_t choices[] = {0,
                              left,
                              left + 1,
                              left - (left > 0 ? 1 : 0),
                              left / 2,
                              capacity_,
                              capacity_ + 1,
                              capacity_ - (capacity_ > 0 ? 1 : 0),
                              uint64_t{1} << 31,
                              uint64_t{1} << 63,
                              UINT64_MAX};
  switch (random_->Below(4)) {
    case 0: return 1;
    case 1: return 1 + random_->Below(std::max<uint64_t>(1, std::min<uint64_t>(capacity_, 8)));
    case 2: return AnyMagnitude(1, std::max<uint64_t>(1, left), random_);
    default: return OneOf(choices, random_);
  }
}

uint64_t Traffic::TrueCost(uint64_t granted) {
  const uint64_t choices[] = {0,
                              0,
                              granted / 2,
                              granted - (granted > 0 ? 1 : 0),
                              granted,
                              granted + 1,
                              granted + 1 + capacity_ / 2,
                              granted + capacity_ + 1};
  uint64_t cost = OneOf(choices, random_);
  if (OneIn(4)) cost = random_->Below(granted + 1);
  if (huge_ && OneIn(8)) cost = OneIn(2) ? UINT64_MAX : AnyMagnitude(1, UINT64_MAX, random_);
  return cost > granted && charged_ + (cost - granted) > most_charged_ ? granted : cost;
}

Event Traffic::Restart() {
  const int128 back = AnyMagnitude(1, uint64_t{kMostBack}, random_);
  now_ = latest_ = Within(ToNanos(now_) - back);
  return {.kind = Event::Kind::kRestart, .now = now_};
}

Event Traffic::Settle(const Session::Open& open) {
  Event event{.kind = Event::Kind::kSettle, .now = now_, .ticket = open.ticket};
  event.cost = TrueCost(open.granted);
  if (event.cost > open.granted) charged_ += event.cost - open.granted;
  return event;
}

Event Traffic::Next(const Session& oracle, const Answer& last) {
  if (restarts_ && OneIn(16)) return Restart();
  now_ = NextInstant(oracle, last);
  latest_ = std::max(latest_, now_);
  const auto& open = oracle.open();
  if (!open.empty() && (OneIn(4) || open.size() >= kMostOpen)) {
    return Settle(open[random_->Below(open.size())]);
  }
  Event event{.now = now_};
  event.cost = NextCost(oracle.model().Room(now_));
  event.least = event.cost;
  if (OneIn(4)) event.least = std::min(event.cost, AnyMagnitude(1, UINT64_MAX, random_));
  if (OneIn(16)) event.least = 0;
  if (settles_ && OneIn(2)) event.ticket = next_ticket_++;
  return event;
}

}  // namespace weir::oracle
