#include "lab/chaos/generate.h"

#include <algorithm>
#include <cmath>

#include "base/random.h"

namespace weir::chaos {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr double kMostRequestsPerSecond = 1.5;  // of a key; costs grow instead

class Generator {
 public:
  Generator(uint64_t seed, EnvelopeKind kind, Duration busy)
      : random_(seed * 4 + static_cast<uint64_t>(kind)), busy_(busy) {
    s_.seed = seed;
    s_.kind = kind;
    s_.busy_until = kStart + busy;
  }

  Scenario Make() {
    MakeCluster();
    MakeTiming();
    for (uint32_t key = 0; key < s_.keys(); ++key) MakeTraffic(key);
    MakeFaults();
    std::stable_sort(s_.actions.begin(), s_.actions.end(),
                     [](const Action& a, const Action& b) { return a.at < b.at; });
    return std::move(s_);
  }

 private:
  uint64_t Below(uint64_t n) { return random_.Below(n); }
  bool OneIn(uint64_t n) { return Below(n) == 0; }
  double Between(double low, double high) {  // evenly on a logarithmic scale
    return low * std::exp(random_.Unit() * std::log(high / low));
  }
  template <typename T>
  T Any(std::initializer_list<T> all) {
    return all.begin()[Below(all.size())];
  }
  static Duration Seconds(double s) { return Duration(static_cast<int64_t>(s * 1e9)); }
  Duration Upto(Duration d) { return Duration(Below(static_cast<uint64_t>(d.count()) + 1)); }

  void MakeCluster() {
    s_.clocks.resize(2 + (OneIn(2) ? Below(3) : Below(kMostNodes - 1)));
    const bool skewed = !OneIn(3);
    for (NodeClock& clock : s_.clocks) {
      if (!skewed) continue;
      clock.offset = Upto(Any<Duration>({seconds(1), seconds(30), seconds(100'000)}));
      clock.drift_ppm = static_cast<int64_t>(Below(2 * kMostDriftPpm + 1)) - kMostDriftPpm;
    }
    s_.limits.resize(1 + Below(4));
    for (Limit& limit : s_.limits) limit = MakeLimit();
    s_.weather.latency = Seconds(Between(1e-4, 0.05));
    s_.weather.jitter = Any<Duration>({Duration(0), milliseconds(1), milliseconds(200)});
    s_.weather.loss = Any({0.0, 0.0, 0.01, 0.1, 0.3});
    s_.weather.duplication = Any({0.0, 0.01, 0.2});
  }

  // A server has debts count windows and queues keep logs; a counter does neither.
  Limit MakeLimit() {
    Limit limit;
    limit.capacity = OneIn(4) ? 1 + Below(4) : static_cast<uint64_t>(Between(5, 4000));
    if (s_.kind != EnvelopeKind::kCounter && OneIn(3)) {
      limit.limit = 0;
      const bool log = s_.kind == EnvelopeKind::kQueue;
      (log ? limit.per : limit.length) = Seconds(Between(5, 120));
      return limit;
    }
    const Duration fill = Seconds(Between(2, 300));  // from empty to full
    if (OneIn(2)) {                                  // in whole tokens a second or minute
      limit.per = Any<Duration>({seconds(1), seconds(60)});
      limit.limit =
          std::max<uint64_t>(1, limit.capacity * static_cast<uint64_t>(limit.per.count()) /
                                    static_cast<uint64_t>(fill.count()));
    } else {
      limit.limit = limit.capacity;
      limit.per = fill;
    }
    constexpr uint64_t kSlowest = 400'000'000'000;  // nanoseconds until it is full
    const auto per = static_cast<uint64_t>(limit.per.count());
    if (limit.capacity * per / limit.limit > kSlowest) limit.per = seconds(1);
    return limit;
  }

  // `memory` is longer than an outage and the time that news take after it.
  void MakeTiming() {
    Timing& t = s_.timing;
    t.interval = Any<Duration>({milliseconds(100), milliseconds(300), milliseconds(700)});
    t.linf = OneIn(2), t.frequency = OneIn(2), t.whole_buckets = OneIn(3);
    t.fan_out = OneIn(4) ? 2 : 1;
    t.patience = Any<Duration>({seconds(1), seconds(3), seconds(10)});
    t.heartbeat = Any<Duration>({milliseconds(200), milliseconds(500), seconds(1)});
    outage_ = Any<Duration>({seconds(2), seconds(10), seconds(40)});
    const int64_t n = s_.nodes();
    if (s_.kind == EnvelopeKind::kDebt) {
      // A node waits, and so does the home that it tells.
      spread_ = 2 * t.patience + 8 * n * t.heartbeat + 10 * s_.weather.jitter;
      s_.converge = spread_;
    } else {
      spread_ = 12 * n * t.interval + 10 * s_.weather.jitter;
      s_.converge = 25 * n * t.interval + seconds(2);
    }
    t.memory = outage_ + 2 * spread_ + seconds(5);
    for (Limit& limit : s_.limits) {  // some windows count for others too, as slices do
      if (limit.windows()) limit.per = t.memory + (OneIn(3) ? 2 * limit.length : Duration{});
    }
  }
  // Tokens a second that can be admitted for long.
  static double RateOf(const Limit& limit) {
    const uint64_t tokens = limit.flows() ? limit.limit : limit.capacity;
    const Duration in = limit.windows() ? limit.length : limit.per;
    return static_cast<double>(tokens) / std::chrono::duration<double>(in).count();
  }

  void MakeTraffic(uint32_t key) {
    const Limit& limit = s_.limits[key];
    const double demand = RateOf(limit) * Between(0.3, 4);  // tokens a second
    double cost = std::max(1.0, demand / kMostRequestsPerSecond);
    if (OneIn(4)) cost = std::max(cost, Between(1, static_cast<double>(limit.capacity)));
    cost = std::min(cost, static_cast<double>(limit.capacity));
    const Duration gap = Seconds(cost / demand);
    const uint64_t refunds = Any<uint64_t>({0, 0, 10, 50});  // percent
    const uint64_t takes = Any<uint64_t>({0, 0, 0, 3});
    const uint32_t favourites = OneIn(2) ? s_.nodes() : 1 + static_cast<uint32_t>(Below(2));
    bool idle = false;
    for (Instant at = kStart + Upto(gap); at < s_.busy_until;) {
      if (OneIn(200)) idle = !idle;  // so that busy periods end
      const uint64_t burst = OneIn(15) ? 2 + Below(8) : 1;
      for (uint64_t i = 0; i < burst && !idle; ++i) {
        Action one{at + Upto(milliseconds(i > 0 ? 5 : 0))};
        one.act = Below(100) < takes ? Act::kTake : Act::kRequest;
        one.node = static_cast<uint32_t>((key + Below(favourites)) % s_.nodes());
        one.key = key;
        const auto most = static_cast<uint64_t>(2 * cost - 1);
        one.cost = std::clamp<uint64_t>(1 + Below(most), 1, limit.capacity);
        s_.actions.push_back(one);
        if (Below(100) >= refunds) continue;
        one.act = Act::kRefund;
        one.taken = one.at;
        one.cost = OneIn(2) ? one.cost : 1 + Below(one.cost);
        one.at = std::min(one.at + Upto(seconds(OneIn(3) ? 30 : 1)), s_.busy_until);
        s_.actions.push_back(one);
      }
      at += Duration(1 + static_cast<int64_t>(-std::log(1 - random_.Unit()) *
                                              static_cast<double>(gap.count()) *
                                              static_cast<double>(burst)));
    }
  }

  // Episodes of one to three faults at once, with quiet between them in which news spread.
  void MakeFaults() {
    const uint64_t calm = Below(4);  // 0: no faults but the weather
    if (calm == 0) return;
    if (OneIn(4)) MakeFlapping();
    Instant at = kStart + Upto(seconds(60));
    while (at + outage_ < s_.busy_until) {
      const uint64_t together = OneIn(2) ? 1 : 1 + Below(3);
      for (uint64_t i = 0; i < together; ++i) s_.actions.push_back(MakeFault(at));
      at += outage_ + spread_ + Upto(calm * spread_);
    }
  }

  // A node that falls down again and again, and never remembers anything.
  void MakeFlapping() {
    const auto node = static_cast<uint32_t>(Below(s_.nodes()));
    Instant at = kStart + Upto(busy_ / 2);
    for (uint64_t falls = 3 + Below(20); falls > 0; --falls) {
      at += seconds(1) + Upto(seconds(5));
      if (at + seconds(10) > s_.busy_until) return;
      s_.actions.push_back({.at = at,
                            .act = Act::kAmnesia,
                            .node = node,
                            .lasts = milliseconds(20) + Upto(milliseconds(500))});
    }
  }

  Action MakeFault(Instant at) {
    Action fault{at + Upto(outage_ / 4)};
    fault.act = static_cast<Act>(static_cast<uint64_t>(Act::kCut) + Below(6));
    if (OneIn(3)) fault.act = Act::kCut;
    fault.lasts = milliseconds(50) + Upto(outage_ / 2);
    fault.node = static_cast<uint32_t>(Below(s_.nodes()));
    if (fault.act == Act::kCut) {
      const NodeSet all = (NodeSet{1} << s_.nodes()) - 1;
      fault.from = OneIn(2) ? NodeSet{1} << fault.node : static_cast<NodeSet>(Below(all));
      fault.to = OneIn(3) ? NodeSet{1} << Below(s_.nodes()) : all & ~fault.from;
      fault.both = !OneIn(3);
    }
    return fault;
  }

  Random random_;
  Duration busy_;
  Duration outage_{}, spread_{};
  Scenario s_;
};

}  // namespace

Scenario Generate(uint64_t seed, EnvelopeKind kind, Duration busy) {
  return Generator(seed, kind, busy).Make();
}

}  // namespace weir::chaos
