#include "lab/oracle/random_limit.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

namespace weir::oracle {
namespace {

constexpr uint64_t kMostTokens = uint64_t{1} << 53;
constexpr uint64_t kMostHits = 1'000'000;
constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kYear = 365 * 86400 * kSecond;
constexpr int64_t kLongest = 3653 * 86400 * kSecond;  // ten years
constexpr std::string_view kAlgorithms[] = {"token_bucket", "fixed_window", "sliding_log",
                                            "sliding_window", "burst_tiers"};

uint64_t Tokens(uint64_t most, Random* random) {
  const uint64_t choices[] = {1, 2, 3, 5, 7, 10, 60, 100, 1000, 65537, 1'000'003, most - 1, most};
  if (random->Below(64) == 0) return 0;
  if (random->Below(2) == 0) return AnyMagnitude(1, 100, random);
  if (random->Below(2) == 0) return AnyMagnitude(1, most, random);
  return std::min(most, OneOf(choices, random));
}

Duration Time(Random* random) {
  const int64_t nanos[] = {1, 2, 3, 7, 10, 1000, 1'000'000, 500'000'000, kLongest - 1, kLongest};
  const int64_t seconds[] = {1, 3, 7, 10, 60, 3600, 86400, 30 * 86400, 365 * 86400};
  switch (random->Below(4)) {
    case 0: return Duration(OneOf(nanos, random));
    case 1: return Duration(OneOf(seconds, random) * kSecond);
    default: return Duration(static_cast<int64_t>(AnyMagnitude(1, uint64_t{kLongest}, random)));
  }
}

Limit RandomBucket(Random* random) {
  for (;;) {
    const uint64_t limit = Tokens(kMostTokens, random);
    const Duration per = Time(random);
    const uint64_t burst = random->Below(3) == 0 ? limit : Tokens(kMostTokens, random);
    if (limit == 0 && burst == 0) return TokenBucket(0, per, 0);
    if (limit == 0 || burst == 0) continue;
    // A bucket refills within 100 years.
    if (uint128{burst} * static_cast<uint64_t>(per.count()) / limit < uint128{100} * kYear) {
      return TokenBucket(limit, per, burst);
    }
  }
}

// Found once, and kept, since a calendar is computed when nobody else has it.
const std::vector<std::shared_ptr<const Calendar>>& Calendars() {
  static const auto* const calendars = [] {
    auto* all = new std::vector<std::shared_ptr<const Calendar>>;
    for (const std::string_view zone :
         {"UTC", "Europe/Berlin", "America/Havana", "Asia/Kolkata", "Australia/Lord_Howe",
          "America/Sao_Paulo", "Pacific/Apia", "Asia/Kathmandu", "America/St_Johns"}) {
      for (const Calendar::Unit unit : {Calendar::Unit::kDay, Calendar::Unit::kWeek,
                                        Calendar::Unit::kMonth, Calendar::Unit::kYear}) {
        all->push_back(Calendar::Find(unit, zone));
      }
    }
    return all;
  }();
  return *calendars;
}

Limit RandomFixedWindow(Random* random) {
  FixedWindow window;
  window.limit = Tokens(kMostTokens, random);
  window.per = Time(random);
  switch (random->Below(4)) {
    case 0:
      window.anchor = FixedWindow::Anchor::kCalendar;
      window.calendar = Calendars()[random->Below(Calendars().size())];
      window.per = Duration(86400 * kSecond);
      break;
    case 1: window.anchor = FixedWindow::Anchor::kFirstRequest; break;
    default: window.anchor = FixedWindow::Anchor::kEpoch;
  }
  return window;
}

Limit RandomLog(Random* random) {
  return SlidingLog{Tokens(kMostHits, random), Time(random), random->Below(3) == 0};
}

Limit RandomSlidingWindow(Random* random) {
  const uint32_t slices[] = {1, 1, 2, 3, 7, 10, 10, 60};
  const SlidingWindow::Edge edges[] = {SlidingWindow::Edge::kDrop, SlidingWindow::Edge::kWeighted,
                                       SlidingWindow::Edge::kStrict};
  SlidingWindow window;
  window.limit = Tokens(kMostTokens, random);
  window.per = Time(random);
  window.slices = random->Below(64) == 0 ? 10'000 : OneOf(slices, random);
  if (window.slices > window.per.count()) window.slices = static_cast<uint32_t>(window.per.count());
  window.edge = OneOf(edges, random);
  return window;
}

Limit RandomTiers(Random* random) {
  BurstTiers limit;
  const size_t count = random->Below(32) == 0 ? BurstTiers::kMost : random->Below(5);
  // Tiers of one resource have times of one magnitude, or nothing would happen between them.
  const uint64_t scale = AnyMagnitude(10, uint64_t{kLongest} / 8, random);
  const auto time = [&] {
    const uint64_t any = random->Below(8) == 0 ? AnyMagnitude(1, uint64_t{kLongest}, random)
                                               : AnyMagnitude(scale / 8 + 1, scale * 8, random);
    return Duration(static_cast<int64_t>(any));
  };
  for (size_t i = 0; i < count; ++i) {
    BurstTiers::Tier tier;
    tier.limit = random->Below(4) == 0 ? Tokens(kMostHits, random) : random->Below(10);
    tier.window = time();
    tier.active = time();
    if (random->Below(3) != 0) tier.window = std::min(tier.window, tier.active);
    if (random->Below(3) != 0) tier.cooldown = time();
    if (random->Below(64) == 0) tier.cooldown = Duration::max();
    tier.skippable = random->Below(2) == 0;
    limit.tiers.push_back(tier);
  }
  return limit;
}

std::string Number(std::string_view name, auto value) {
  return " " + std::string(name) + "=" + std::to_string(value);
}

std::string EdgeName(SlidingWindow::Edge edge) {
  if (edge == SlidingWindow::Edge::kDrop) return "drop";
  return edge == SlidingWindow::Edge::kWeighted ? "weighted" : "strict";
}

struct Describer {
  std::string operator()(const TokenBucket& a) const {
    return "token_bucket" + Number("limit", a.limit) + Number("per", a.per.count()) +
           Number("burst", a.burst);
  }
  std::string operator()(const FixedWindow& a) const {
    const std::string text = "fixed_window" + Number("limit", a.limit);
    if (a.anchor == FixedWindow::Anchor::kCalendar) {
      const char* const units[] = {"day", "week", "month", "year"};
      return text + " anchor=calendar unit=" + units[static_cast<int>(a.calendar->unit())] +
             " time_zone=" + a.calendar->time_zone();
    }
    return text + Number("per", a.per.count()) +
           " anchor=" + (a.anchor == FixedWindow::Anchor::kEpoch ? "epoch" : "first_request");
  }
  std::string operator()(const SlidingLog& a) const {
    return "sliding_log" + Number("limit", a.limit) + Number("per", a.per.count()) +
           Number("keep_rejected", a.keep_rejected);
  }
  std::string operator()(const SlidingWindow& a) const {
    return "sliding_window" + Number("limit", a.limit) + Number("per", a.per.count()) +
           Number("slices", a.slices) + " edge=" + EdgeName(a.edge);
  }
  std::string operator()(const BurstTiers& a) const {
    std::string text = "burst_tiers";
    for (const BurstTiers::Tier& tier : a.tiers) {
      text += "\n    tier" + Number("limit", tier.limit) + Number("window", tier.window.count()) +
              Number("active", tier.active.count()) + Number("cooldown", tier.cooldown.count()) +
              Number("skippable", tier.skippable);
    }
    return text;
  }
  std::string operator()(const Copies& a) const { return "copies" + Number("limit", a.limit); }
};

}  // namespace

std::span<const std::string_view> Algorithms() { return kAlgorithms; }

uint64_t AnyMagnitude(uint64_t lowest, uint64_t highest, Random* random) {
  const auto low = static_cast<uint64_t>(std::bit_width(lowest));
  const auto high = static_cast<uint64_t>(std::bit_width(highest));
  const uint64_t bits = low + random->Below(high - low + 1);
  const uint64_t value = uint64_t{1} << (bits - 1) | (*random)() >> 1 >> (64 - bits);
  return std::clamp(value, lowest, highest);
}

Limit RandomLimit(std::string_view algorithm, Random* random) {
  if (algorithm == "token_bucket") return RandomBucket(random);
  if (algorithm == "fixed_window") return RandomFixedWindow(random);
  if (algorithm == "sliding_log") return RandomLog(random);
  if (algorithm == "sliding_window") return RandomSlidingWindow(random);
  if (algorithm == "burst_tiers") return RandomTiers(random);
  std::abort();
}

std::string Describe(const Limit& limit) { return std::visit(Describer{}, limit); }

}  // namespace weir::oracle
