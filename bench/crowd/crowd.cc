#include "bench/crowd/crowd.h"

#include <fmt/core.h>
#include <time.h>

#include <algorithm>
#include <memory>
#include <stdexcept>

#include "rules/read/parse.h"
#include "weir/limiter.h"

namespace weir::bench {
namespace {

constexpr Instant kNow = FromNanos(1'800'000'000'000'000'000);
constexpr Duration kLong = std::chrono::hours(1);
constexpr double kDisconnectsPerSecond = 10'000;
constexpr std::string_view kRules =
    "namespaces: {n: {resources: {lock: {copies: {per_subject: 1}}}}}";

double CpuNanos() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

// A quarter of the places are for pools that requests describe themselves, which nobody else can take: so
// every fourth waits for one of those.
class Crowd {
 public:
  Crowd(size_t waiters, bool one_pool) : one_pool_(one_pool), places_(waiters) {
    std::string errors;
    limiter_ = std::make_unique<Limiter>(ParseRules(kRules, &errors), LimiterOptions{}, kNow);
    holder_ = limiter_->OpenSession(kNever, kNow, "holder");
    for (size_t i = 0; i < places_.size(); ++i) {
      Place& place = places_[i];
      place.subject = one_pool ? "one" : fmt::format("subject-{}", i);
      if (!one_pool || i == 0 || i == 3) {  // one of each kind
        Ask(i, holder_);
        if (!place.hold) throw std::logic_error("a first copy was not granted");
        place.holder_hold = place.hold;
        place.hold = {};
      }
    }
  }

  // The CPU of each of them, per event.
  CrowdRow Run() {
    CrowdRow row{.waiters = places_.size()};
    for (size_t i = 0; i < places_.size(); ++i) {
      places_[i].session = limiter_->OpenSession(kNever, kNow, fmt::format("client-{}", i));
    }
    row.wait_ns = PerEvent(0, places_.size(), [&](size_t i) { Ask(i, places_[i].session); });
    if (limiter_->Stats().waiting != places_.size()) {
      throw std::logic_error(
          fmt::format("of {} only {} wait", places_.size(), limiter_->Stats().waiting));
    }
    const size_t some = std::min<size_t>(places_.size() / 2, 20'000);
    row.disconnect_ns = PerEvent(places_.size() - some, places_.size(),
                                 [&](size_t i) { limiter_->EndSession(places_[i].session, kNow); });
    row.pass_on_ns = one_pool_ ? PassOnInTurn(some) : PerEvent(0, some, [&](size_t i) {
      limiter_->Release(holder_, places_[i].holder_hold, 0, kNow);
      if (!places_[i].hold) throw std::logic_error("a copy was not passed on");
    });
    return row;
  }

 private:
  struct Place {
    std::string subject;
    SessionId session;
    Ticket holder_hold, hold;
  };

  bool Carried(size_t i) const { return i % 4 == 3; }

  void Ask(size_t i, const SessionId& session) {
    Place& place = places_[i];
    const auto done = [&place](const Result<Reservation>& answer) {
      if (answer) place.hold = answer->hold;
    };
    if (Carried(i)) {
      limiter_->ReservePool(session, {.key = place.subject, .max_queue = 1'000'000, .wait = kLong},
                            kNow, done);
    } else {
      limiter_->Reserve(
          session,
          {.namespace_name = "n", .resource = "lock", .subject = place.subject, .wait = kLong},
          kNow, done);
    }
  }

  // Each passes the copy on to the next who waits for the same.
  double PassOnInTurn(size_t some) {
    limiter_->Release(holder_, places_[0].holder_hold, 0, kNow);
    limiter_->Release(holder_, places_[3].holder_hold, 0, kNow);
    return PerEvent(0, some, [&](size_t i) {
      if (!places_[i].hold) throw std::logic_error("a copy was not passed on in turn");
      limiter_->Release(places_[i].session, places_[i].hold, 0, kNow);
    });
  }

  template <typename Event>
  double PerEvent(size_t from, size_t to, Event event) {
    const double before = CpuNanos();
    for (size_t i = from; i < to; ++i) event(i);
    return (CpuNanos() - before) / static_cast<double>(to - from);
  }

  const bool one_pool_;
  std::vector<Place> places_;
  std::unique_ptr<Limiter> limiter_;
  SessionId holder_;
};

CrowdRow Best(size_t waiters, bool one_pool, int rounds) {
  CrowdRow best;
  for (int round = 0; round < rounds; ++round) {
    const CrowdRow row = Crowd(waiters, one_pool).Run();
    if (round == 0) best = row;
    best.wait_ns = std::min(best.wait_ns, row.wait_ns);
    best.disconnect_ns = std::min(best.disconnect_ns, row.disconnect_ns);
    best.pass_on_ns = std::min(best.pass_on_ns, row.pass_on_ns);
  }
  best.shape = one_pool ? "for one pool" : "for a pool each";
  return best;
}

}  // namespace

CrowdResult MeasureCrowd(const CrowdOptions& options,
                         const std::function<void(const std::string&)>& progress) {
  CrowdResult result;
  for (const bool one_pool : {false, true}) {
    for (const size_t waiters : options.waiters) {
      progress(fmt::format("{} waiters", waiters));
      result.rows.push_back(Best(waiters, one_pool, options.rounds));
    }
    const CrowdRow& few = result.rows[result.rows.size() - options.waiters.size()];
    const CrowdRow& many = result.rows.back();
    const auto grows = [&](const char* what, double from, double to) {
      result.goals.push_back(
          {fmt::format("{} {}: with {} / with {}", what, many.shape, many.waiters, few.waiters),
           to / from, 3, true});
    };
    grows("wait", few.wait_ns, many.wait_ns);
    grows("disconnect", few.disconnect_ns, many.disconnect_ns);
    grows("pass on", few.pass_on_ns, many.pass_on_ns);
    result.goals.push_back({fmt::format("of a core, for {:.0f} disconnects a second {}, %",
                                        kDisconnectsPerSecond, many.shape),
                            many.disconnect_ns * kDisconnectsPerSecond / 1e7, 10, true});
  }
  return result;
}

void PrintCrowd(const CrowdResult& result) {
  fmt::print("{:<18} {:>10} {:>12} {:>16} {:>12}\n", "CPU ns per event", "waiters", "wait",
             "disconnect", "pass on");
  for (const CrowdRow& row : result.rows) {
    fmt::print("{:<18} {:>10} {:>12.0f} {:>16.0f} {:>12.0f}\n", row.shape, row.waiters, row.wait_ns,
               row.disconnect_ns, row.pass_on_ns);
  }
  PrintGoals("goal: a crowd costs what its events cost", result.goals);
}

}  // namespace weir::bench
