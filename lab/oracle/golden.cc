#include "lab/oracle/golden.h"

#include <algorithm>
#include <optional>

#include "lab/oracle/golden_limits.h"
#include "lab/oracle/implementation.h"
#include "lab/oracle/random_limit.h"

namespace weir::oracle {
namespace {

constexpr int64_t kMicro = 1000;
constexpr int kSteps = 10;
constexpr int64_t kStart = 1'700'000'000'000'000;  // in November 2023, in microseconds

int64_t CeilMicros(int64_t nanos) { return (nanos + kMicro - 1) / kMicro; }

uint64_t CapacityOf(const Limit& limit) {
  return std::visit([](const auto& a) { return a.Capacity(); }, limit);
}

// One vector in the making.
class Writer {
 public:
  Writer(const Limit& limit, bool settles, uint64_t seed)
      : limit_(limit), settles_(settles), random_(seed), session_(MakeOracle(limit)) {}

  // The steps, as JSON; nothing if an answer cannot be told in whole microseconds.
  std::optional<std::string> Steps() {
    std::string text;
    for (int i = 0; i < kSteps; ++i) {
      const std::optional<std::string> step = Step(i);
      if (!step) return std::nullopt;
      text += (i == 0 ? "" : ",") + *step;
    }
    return text;
  }

 private:
  bool OneIn(uint64_t n) { return random_.Below(n) == 0; }

  int64_t NextMicros() {
    const int64_t near = static_cast<int64_t>(random_.Below(3)) - 1;
    std::vector<Instant> changes;
    switch (random_.Below(6)) {
      case 0: return now_us_;
      case 1: return now_us_ + 1 + static_cast<int64_t>(random_.Below(1000));
      case 2:
      case 3:
        if (last_.retry_at < kLastInstant) return CeilMicros(ToNanos(last_.retry_at)) + near;
        return now_us_;
      case 4:
        session_.model().Changes(FromNanos(now_us_ * kMicro), &changes);
        if (changes.empty() || changes.front() >= kLastInstant) return now_us_ + 1;
        return CeilMicros(ToNanos(changes[random_.Below(changes.size())])) + near;
      default:
        if (last_.reset_at >= kLastInstant) return now_us_;
        // Some way into what is left until all is forgotten, or a little later.
        return now_us_ +
               static_cast<int64_t>(AnyMagnitude(
                   1, static_cast<uint64_t>(ToNanos(last_.reset_at) / kMicro - now_us_) + 2,
                   &random_));
    }
  }

  uint64_t NextCost(uint64_t room) {
    const uint64_t capacity = CapacityOf(limit_);
    const uint64_t choices[] = {
        0, 1, 1, 2, room, room + 1, room / 2 + 1, capacity, capacity + 1, (uint64_t{1} << 53) - 1};
    return std::min(OneOf(choices, &random_), (uint64_t{1} << 53) - 1);
  }

  std::optional<std::string> Step(int index) {
    now_us_ = index == 0 ? now_us_ : std::max(now_us_, NextMicros());
    const Instant now = FromNanos(now_us_ * kMicro);
    const auto& open = session_.open();
    Event event{.now = now};
    if (settles_ && !open.empty() && OneIn(3)) {
      const Session::Open& chosen = open[random_.Below(open.size())];
      const uint64_t costs[] = {0,
                                0,
                                chosen.granted / 2,
                                chosen.granted,
                                chosen.granted + 1,
                                chosen.granted + CapacityOf(limit_) / 2 + 1};
      event.kind = Event::Kind::kSettle;
      event.ticket = chosen.ticket;
      event.cost = OneOf(costs, &random_);
    } else {
      event.cost = NextCost(session_.model().Room(now).value_or(0));
      event.least = OneIn(3) ? random_.Below(event.cost + 1) : event.cost;
      if (settles_ && OneIn(2)) event.ticket = static_cast<uint64_t>(index) + 1;
    }
    last_ = session_.Ask(event);
    if (!InMicros(event)) return std::nullopt;
    return ToJsonStep(event);
  }

  // True if the whole microsecond after retry_at is the earliest whole one, as it is wherever room
  // does not shrink in between.
  bool InMicros(const Event& event) const {
    if (last_.reset_at == kLastInstant || last_.retry_at == kLastInstant) return false;
    if (last_.allowed || last_.retry_at == kEndOfTime) return true;
    const int64_t micros = CeilMicros(ToNanos(last_.retry_at));
    const auto admits = [&](int64_t us) {
      return session_.model().Room(FromNanos(us * kMicro)).value_or(0) >= event.least;
    };
    return event.least == 0 || (admits(micros) && !admits(micros - 1));
  }

  std::string ToJsonStep(const Event& event) const {
    const auto number = [](const char* name, uint64_t value) {
      return ",\"" + std::string(name) + "\":" + std::to_string(value);
    };
    const auto flag = [](const char* name, bool value) {
      return ",\"" + std::string(name) + "\":" + (value ? "true" : "false");
    };
    const auto wait = [&](const char* name, Instant then) {
      const std::string field = ",\"" + std::string(name) + "\":";
      if (then == kEndOfTime) return field + "null";
      return field + std::to_string(CeilMicros(ToNanos(then)) - now_us_);
    };
    std::string text = "{\"now_us\":" + std::to_string(now_us_);
    if (event.kind == Event::Kind::kSettle) {
      text += number("settle", event.ticket - 1) + number("cost", event.cost);
      if (!std::holds_alternative<TokenBucket>(limit_)) {
        text += number("refunded", static_cast<uint64_t>(last_.refunded));
      }
    } else {
      text += number("cost", event.cost) + number("min_cost", event.least);
      if (event.ticket != 0) text += flag("ticket", true);
      text += flag("allowed", last_.allowed) + number("granted", last_.granted) +
              wait("retry_after_us", last_.retry_at);
    }
    text += number("remaining", last_.remaining) + wait("reset_after_us", last_.reset_at);
    if (std::holds_alternative<BurstTiers>(limit_)) {
      text += number("tier", last_.tier.tier) + number("tier_hits", last_.tier.hits) +
              flag("burst", last_.tier.burst);
    }
    return text + "}";
  }

  const Limit limit_;
  const bool settles_;
  Random random_;
  Session session_;
  int64_t now_us_ = kStart;
  Answer last_{.retry_at = FromNanos(kStart * kMicro), .reset_at = FromNanos(kStart * kMicro)};
};

}  // namespace

void PrintGoldenVectors(std::ostream& out) {
  for (const std::string_view algorithm : Algorithms()) {
    const std::vector<Limit> limits = GoldenLimits(algorithm);
    const size_t each = 60 / limits.size();  // about as many vectors for every algorithm
    int written = 0;
    uint64_t seed = 0;
    for (const Limit& limit : limits) {
      for (size_t i = 0; i < each; ++i) {
        const bool settles = i % 3 == 2;
        std::optional<std::string> steps;
        while (!steps) steps = Writer(limit, settles, seed++).Steps();
        out << "{\"name\":\"" << algorithm << "/" << ++written << "\",\"algorithm\":\"" << algorithm
            << "\",\"limit\":" << ToJson(limit) << ",\"settles\":" << (settles ? "true" : "false")
            << ",\"steps\":[" << *steps << "]}\n";
      }
    }
  }
}

}  // namespace weir::oracle
