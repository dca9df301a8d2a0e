#include "lab/oracle/golden_limits.h"

#include <cstdlib>

namespace weir::oracle {
namespace {

constexpr uint64_t kMost = uint64_t{1} << 53;

Duration Micros(int64_t us) { return std::chrono::microseconds(us); }
Duration Seconds(int64_t s) { return std::chrono::seconds(s); }

std::vector<Limit> Buckets() {
  return {TokenBucket(10, Seconds(60), 10),
          TokenBucket(7, Seconds(3), 7),
          TokenBucket(1000003, Seconds(7), 1000),
          TokenBucket(1, Seconds(1), 1),
          TokenBucket(1, Micros(1), 1),
          TokenBucket(3, Micros(1), 5),
          TokenBucket(100, Seconds(1), 500),
          TokenBucket(5, Seconds(86400), 5),
          TokenBucket(1, Seconds(31536000), 90),
          TokenBucket(1000000, Seconds(1), kMost / 4),
          TokenBucket(kMost - 1, Micros(1), 1),
          TokenBucket(0, Seconds(1), 0),
          TokenBucket(999983, Micros(999979), 9000),
          TokenBucket(2, Micros(7), 3)};
}

Limit Window(uint64_t limit, Duration per, FixedWindow::Anchor anchor) {
  return FixedWindow{limit, per, anchor, nullptr};
}

Limit CalendarWindow(uint64_t limit, Calendar::Unit unit, std::string_view zone) {
  return FixedWindow{limit, Seconds(86400), FixedWindow::Anchor::kCalendar,
                     Calendar::Find(unit, zone)};
}

std::vector<Limit> FixedWindows() {
  using enum FixedWindow::Anchor;
  std::vector<Limit> limits;
  for (const FixedWindow::Anchor anchor : {kEpoch, kFirstRequest}) {
    limits.push_back(Window(10, Micros(500'000), anchor));
    limits.push_back(Window(7, Seconds(3), anchor));
    limits.push_back(Window(1, Micros(1), anchor));
    limits.push_back(Window(kMost - 1, Seconds(3600), anchor));
    limits.push_back(Window(100, Micros(1'000'003), anchor));
  }
  limits.push_back(Window(0, Seconds(1), kEpoch));
  limits.push_back(CalendarWindow(5, Calendar::Unit::kDay, "Europe/Berlin"));
  limits.push_back(CalendarWindow(5, Calendar::Unit::kWeek, "America/Havana"));
  limits.push_back(CalendarWindow(5, Calendar::Unit::kMonth, "Asia/Kolkata"));
  limits.push_back(CalendarWindow(5, Calendar::Unit::kYear, "UTC"));
  return limits;
}

std::vector<Limit> Logs() {
  std::vector<Limit> limits;
  for (const bool keep_rejected : {false, true}) {
    limits.push_back(SlidingLog{3, Seconds(1), keep_rejected});
    limits.push_back(SlidingLog{1, Micros(1), keep_rejected});
    limits.push_back(SlidingLog{10, Micros(500'000), keep_rejected});
    limits.push_back(SlidingLog{1'000'000, Seconds(86400), keep_rejected});
    limits.push_back(SlidingLog{7, Micros(2'999'999), keep_rejected});
    limits.push_back(SlidingLog{100, Seconds(60), keep_rejected});
  }
  limits.push_back(SlidingLog{0, Seconds(1), false});
  return limits;
}

std::vector<Limit> SlidingWindows() {
  std::vector<Limit> limits;
  for (const auto edge :
       {SlidingWindow::Edge::kDrop, SlidingWindow::Edge::kWeighted, SlidingWindow::Edge::kStrict}) {
    limits.push_back(SlidingWindow{10, Seconds(1), 1, edge});
    limits.push_back(SlidingWindow{10, Seconds(1), 10, edge});
    limits.push_back(SlidingWindow{7, Micros(3'000'003), 3, edge});
    limits.push_back(SlidingWindow{100'000, Seconds(60), 60, edge});
    limits.push_back(SlidingWindow{1, Micros(2), 2, edge});
  }
  return limits;
}

std::vector<Limit> Tiers() {
  const auto minute = Seconds(60);
  return {
      // Batch.
      BurstTiers{{{5000, Seconds(300), Seconds(300), Seconds(86100), false}}},
      // Penalties: the higher, the more, the longer the way back.
      BurstTiers{{{5, Seconds(1), Seconds(10), Seconds(0), false},
                  {10, Seconds(1), Seconds(5), minute, false},
                  {20, Seconds(1), Seconds(2), 10 * minute, false}}},
      // Punishment: a prison of one hit.
      BurstTiers{{{10, Seconds(1), Seconds(1), Seconds(0), false},
                  {1, Seconds(3600), Seconds(3600), Seconds(0), false}}},
      // Skippable ones.
      BurstTiers{{{2, Seconds(1), Seconds(3), Seconds(1), true},
                  {3, Seconds(2), Seconds(2), Seconds(5), true},
                  {4, Seconds(1), Seconds(1), Seconds(3), false}}},
      BurstTiers{{{2, Seconds(1), Seconds(3), Seconds(1), false},
                  {3, Seconds(2), Seconds(2), Seconds(5), true},
                  {4, Seconds(1), Seconds(1), Seconds(3), true}}},
      // A window that outlives its tier; a tier of none; no tier.
      BurstTiers{{{3, Seconds(9), Seconds(1), Seconds(2), false},
                  {0, Seconds(1), Seconds(1), Seconds(0), false},
                  {5, Seconds(4), Seconds(2), Seconds(0), false}}},
      BurstTiers{{{1, Micros(1), Micros(1), Micros(1), false},
                  {1, Micros(3), Micros(2), Micros(0), true}}},
      BurstTiers{{{1'000'000, Seconds(86400), Seconds(86400), Seconds(0), false}}},
      BurstTiers{},
  };
}

std::string Field(std::string_view name, uint64_t value) {
  return "\"" + std::string(name) + "\":" + std::to_string(value);
}

std::string Field(std::string_view name, Duration time) {
  return Field(name, static_cast<uint64_t>(time.count() / 1000));
}

std::string Field(std::string_view name, std::string_view text) {
  return "\"" + std::string(name) + "\":\"" + std::string(text) + "\"";
}

std::string FlagField(std::string_view name, bool flag) {
  return "\"" + std::string(name) + "\":" + (flag ? "true" : "false");
}

struct JsonWriter {
  std::string operator()(const TokenBucket& a) const {
    return Field("limit", a.limit) + "," + Field("per_us", a.per) + "," + Field("burst", a.burst);
  }
  std::string operator()(const FixedWindow& a) const {
    const std::string limit = Field("limit", a.limit) + ",";
    if (a.anchor == FixedWindow::Anchor::kCalendar) {
      const std::string_view units[] = {"day", "week", "month", "year"};
      return limit + Field("anchor", "calendar") + "," +
             Field("unit", units[static_cast<int>(a.calendar->unit())]) + "," +
             Field("time_zone", a.calendar->time_zone());
    }
    const bool epoch = a.anchor == FixedWindow::Anchor::kEpoch;
    return limit + Field("per_us", a.per) + "," +
           Field("anchor", epoch ? "epoch" : "first_request");
  }
  std::string operator()(const SlidingLog& a) const {
    return Field("limit", a.limit) + "," + Field("per_us", a.per) + "," +
           FlagField("keep_rejected", a.keep_rejected);
  }
  std::string operator()(const SlidingWindow& a) const {
    const std::string_view edges[] = {"drop", "weighted", "strict"};
    return Field("limit", a.limit) + "," + Field("per_us", a.per) + "," +
           Field("slices", uint64_t{a.slices}) + "," +
           Field("edge", edges[static_cast<int>(a.edge)]);
  }
  std::string operator()(const BurstTiers& a) const {
    std::string tiers;
    for (const BurstTiers::Tier& tier : a.tiers) {
      tiers += (tiers.empty() ? "{" : ",{") + Field("limit", tier.limit) + "," +
               Field("window_us", tier.window) + "," + Field("active_us", tier.active) + "," +
               Field("cooldown_us", tier.cooldown) + "," + FlagField("skippable", tier.skippable) +
               "}";
    }
    return "\"tiers\":[" + tiers + "]";
  }
  std::string operator()(const Copies&) const { std::abort(); }
};

}  // namespace

std::vector<Limit> GoldenLimits(std::string_view algorithm) {
  if (algorithm == "token_bucket") return Buckets();
  if (algorithm == "fixed_window") return FixedWindows();
  if (algorithm == "sliding_log") return Logs();
  if (algorithm == "sliding_window") return SlidingWindows();
  if (algorithm == "burst_tiers") return Tiers();
  std::abort();
}

std::string ToJson(const Limit& limit) { return "{" + std::visit(JsonWriter{}, limit) + "}"; }

}  // namespace weir::oracle
