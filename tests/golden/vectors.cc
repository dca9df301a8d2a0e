#include "tests/golden/vectors.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

namespace weir::golden {
namespace {

using nlohmann::json;

constexpr int64_t kMicro = 1000;

Duration Micros(const json& us) { return std::chrono::microseconds(us.get<int64_t>()); }

Limit FixedWindowFrom(const json& numbers) {
  const std::string anchor = numbers.at("anchor");
  FixedWindow window;
  window.limit = numbers.at("limit");
  if (anchor == "calendar") {
    const std::map<std::string, Calendar::Unit> units = {{"day", Calendar::Unit::kDay},
                                                         {"week", Calendar::Unit::kWeek},
                                                         {"month", Calendar::Unit::kMonth},
                                                         {"year", Calendar::Unit::kYear}};
    window.anchor = FixedWindow::Anchor::kCalendar;
    window.calendar =
        Calendar::Find(units.at(numbers.at("unit")), numbers.at("time_zone").get<std::string>());
    return window;
  }
  window.anchor =
      anchor == "epoch" ? FixedWindow::Anchor::kEpoch : FixedWindow::Anchor::kFirstRequest;
  window.per = Micros(numbers.at("per_us"));
  return window;
}

Limit SlidingWindowFrom(const json& numbers) {
  const std::map<std::string, SlidingWindow::Edge> edges = {
      {"drop", SlidingWindow::Edge::kDrop},
      {"weighted", SlidingWindow::Edge::kWeighted},
      {"strict", SlidingWindow::Edge::kStrict}};
  return SlidingWindow{numbers.at("limit"), Micros(numbers.at("per_us")), numbers.at("slices"),
                       edges.at(numbers.at("edge"))};
}

Limit TiersFrom(const json& numbers) {
  BurstTiers limit;
  for (const json& tier : numbers.at("tiers")) {
    limit.tiers.push_back({tier.at("limit"), Micros(tier.at("window_us")),
                           Micros(tier.at("active_us")), Micros(tier.at("cooldown_us")),
                           tier.at("skippable")});
  }
  return limit;
}

Limit LimitFrom(const json& vector) {
  const std::string algorithm = vector.at("algorithm");
  const json& numbers = vector.at("limit");
  if (algorithm == "fixed_window") return FixedWindowFrom(numbers);
  if (algorithm == "sliding_window") return SlidingWindowFrom(numbers);
  if (algorithm == "burst_tiers") return TiersFrom(numbers);
  if (algorithm == "sliding_log") {
    return SlidingLog{numbers.at("limit"), Micros(numbers.at("per_us")),
                      numbers.at("keep_rejected")};
  }
  EXPECT_EQ(algorithm, "token_bucket");
  return TokenBucket(numbers.at("limit"), Micros(numbers.at("per_us")), numbers.at("burst"));
}

oracle::Event EventFrom(const json& step, size_t index) {
  oracle::Event event;
  event.now = FromNanos(step.at("now_us").get<int64_t>() * kMicro);
  event.cost = step.at("cost");
  if (step.contains("settle")) {
    event.kind = oracle::Event::Kind::kSettle;
    event.ticket = step.at("settle").get<uint64_t>() + 1;
  } else {
    event.least = step.at("min_cost");
    event.ticket = step.value("ticket", false) ? index + 1 : 0;
  }
  return event;
}

json MicrosUntil(Instant now, Instant then) {
  if (then == kEndOfTime) return nullptr;
  return (ToNanos(then) - ToNanos(now) + kMicro - 1) / kMicro;
}

// The answer with the names of the vectors' fields.
json ToJson(const oracle::Event& event, const oracle::Answer& answer) {
  return {{"allowed", answer.allowed},
          {"granted", answer.granted},
          {"retry_after_us", MicrosUntil(event.now, answer.retry_at)},
          {"remaining", answer.remaining},
          {"reset_after_us", MicrosUntil(event.now, answer.reset_at)},
          {"refunded", static_cast<uint64_t>(answer.refunded)},
          {"tier", answer.tier.tier},
          {"tier_hits", answer.tier.hits},
          {"burst", answer.tier.burst}};
}

void Replay(const json& vector, const AnswererMaker& make) {
  SCOPED_TRACE(vector.at("name").get<std::string>());
  const Answerer answer_to = make(LimitFrom(vector));
  const json& steps = vector.at("steps");
  for (size_t i = 0; i < steps.size(); ++i) {
    const oracle::Event event = EventFrom(steps[i], i);
    const oracle::Answer answer = answer_to(event);
    EXPECT_TRUE(answer.known) << steps[i];
    EXPECT_TRUE(steps[i].contains("remaining") || steps[i].contains("allowed")) << steps[i];
    const json told = ToJson(event, answer);
    for (const auto& [field, value] : told.items()) {
      if (!steps[i].contains(field)) continue;
      EXPECT_EQ(value, steps[i].at(field)) << field << " of step " << i << ": " << steps[i];
    }
  }
}

}  // namespace

std::string PathOf(const std::string& name) {
  return std::string(WEIR_SOURCE_DIR) + "/tests/golden/" + name;
}

size_t ReplayAll(const std::string& name, const AnswererMaker& make) {
  std::ifstream file(PathOf(name));
  size_t count = 0;
  for (std::string line; std::getline(file, line); ++count) Replay(json::parse(line), make);
  return count;
}

}  // namespace weir::golden
