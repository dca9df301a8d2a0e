#include "lab/oracle/implementation.h"

#include <cstdlib>
#include <map>
#include <mutex>

#include "lab/oracle/burst_tiers_oracle.h"
#include "lab/oracle/calendar_oracle.h"
#include "lab/oracle/fixed_window_oracle.h"
#include "lab/oracle/sliding_log_oracle.h"
#include "lab/oracle/sliding_window_oracle.h"
#include "lab/oracle/token_bucket_oracle.h"

namespace weir::oracle {
namespace {

// Reading a zone takes milliseconds: once for each.
const CalendarOracle& CalendarFor(const Calendar& calendar) {
  static std::mutex mutex;
  static std::map<std::pair<Calendar::Unit, std::string>, CalendarOracle> calendars;
  const std::lock_guard lock(mutex);
  const auto key = std::pair(calendar.unit(), calendar.time_zone());
  return calendars.try_emplace(key, key.first, key.second).first->second;
}

FixedWindowOracle::WindowAt WindowsOf(const FixedWindow& limit) {
  switch (limit.anchor) {
    case FixedWindow::Anchor::kEpoch: return FixedWindowOracle::FromEpoch(limit.per.count());
    case FixedWindow::Anchor::kFirstRequest:
      return FixedWindowOracle::FromFirstRequest(limit.per.count());
    case FixedWindow::Anchor::kCalendar: break;
  }
  return [calendar = &CalendarFor(*limit.calendar)](Instant now) {
    const CalendarOracle::Window window = calendar->At(now);
    return FixedWindowOracle::Window{ToNanos(window.start), ToNanos(window.end)};
  };
}

struct OracleMaker {
  std::unique_ptr<Model> operator()(const TokenBucket& a) const {
    return std::make_unique<TokenBucketOracle>(a.limit, a.per.count(), a.burst);
  }
  std::unique_ptr<Model> operator()(const FixedWindow& a) const {
    return std::make_unique<FixedWindowOracle>(a.limit, WindowsOf(a));
  }
  std::unique_ptr<Model> operator()(const SlidingLog& a) const {
    return std::make_unique<SlidingLogOracle>(a.limit, a.per.count(), a.keep_rejected);
  }
  std::unique_ptr<Model> operator()(const SlidingWindow& a) const {
    return std::make_unique<SlidingWindowOracle>(a.limit, a.per.count(), a.slices, a.edge);
  }
  std::unique_ptr<Model> operator()(const BurstTiers& a) const {
    return std::make_unique<BurstTiersOracle>(a.tiers);
  }
  // Copies are held, not consumed: no time, no settling, nothing to compute.
  std::unique_ptr<Model> operator()(const Copies&) const { std::abort(); }
};

struct ImplementationMaker {
  std::unique_ptr<Model> operator()(const TokenBucket& a) const {
    return std::make_unique<TokenBucketImplementation>(a);
  }
  template <typename Algorithm>
  std::unique_ptr<Model> operator()(const Algorithm& a) const {
    return std::make_unique<ImplementationOf<Algorithm>>(a);
  }
  std::unique_ptr<Model> operator()(const Copies&) const { std::abort(); }
};

}  // namespace

void TokenBucketImplementation::Take(uint64_t n, Instant now, uint64_t ticket) {
  bucket_.Take(state_, n, now);
  if (ticket != 0) numbers_.emplace(ticket, marks_.Open(bucket_.Debt(state_, now)));
}

uint128 TokenBucketImplementation::Refund(uint64_t ticket, uint64_t n, Instant now) {
  const uint64_t number = numbers_.at(ticket);
  const uint128 ticks = bucket_.GiveBack(state_, n, marks_.MarkOf(number), now);
  marks_.Lower(number, ticks);
  // A token is per nanoseconds' worth of limit, and ticks_per_token ticks.
  return ticks * (static_cast<uint64_t>(bucket_.per.count()) / bucket_.ticks_per_token);
}

void TokenBucketImplementation::Observe(Instant now) {
  if (!marks_.empty()) marks_.Observe(bucket_.Debt(state_, now));
}

void TokenBucketImplementation::Close(uint64_t ticket) {
  const auto number = numbers_.find(ticket);
  if (!marks_.Close(number->second)) std::abort();
  numbers_.erase(number);
}

std::unique_ptr<Model> MakeImplementation(const Limit& limit) {
  return std::visit(ImplementationMaker{}, limit);
}

std::unique_ptr<Model> MakeOracle(const Limit& limit) { return std::visit(OracleMaker{}, limit); }

}  // namespace weir::oracle
