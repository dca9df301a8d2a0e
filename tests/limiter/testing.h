// What the tests of the limiter share.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "lab/stores/later.h"
#include "store/memory_store.h"
#include "weir/limiter.h"

namespace weir::testing {

inline constexpr Instant kStart = FromNanos(1'800'000'000'000'000'000);

// A clock that outlives everybody who may ask it, as the server's does.
inline ManualClock& KeptClock(Instant start = kStart) {
  static std::vector<std::unique_ptr<ManualClock>> all;
  all.push_back(std::make_unique<ManualClock>(start));
  return *all.back();
}

inline std::shared_ptr<const Rulebook> Rules(std::string_view yaml) {
  std::string errors;
  std::shared_ptr<const Rulebook> rules = ParseRules(yaml, &errors);
  EXPECT_EQ(errors, "");
  return rules;
}

// Tests are run over this process's memory, and once more over a store that answers later (WEIR_TEST_STORE
// is "later"). Whoever cannot wait is answered at once by both.
class LaterIfAsked : public lab::Later {
 public:
  explicit LaterIfAsked(Store& store) : Later(store), store_(store) {}
  bool Admit(Admission& admission) override {
    return admission.home == nullptr ? store_.Admit(admission) : Later::Admit(admission);
  }
  bool Settle(Settlement& settlement) override {
    return settlement.home == nullptr ? store_.Settle(settlement) : Later::Settle(settlement);
  }

 private:
  Store& store_;
};

inline bool OverLater() {
  const char* const store = std::getenv("WEIR_TEST_STORE");
  return store != nullptr && std::string_view(store) == "later";
}

inline LimiterOptions OverTestStore(LimiterOptions options = {}) {
  if (!OverLater()) return options;
  options.remote_store = [](MemoryStore& here) { return std::make_unique<LaterIfAsked>(here); };
  options.all_remote = true;
  return options;
}

inline std::unique_ptr<Limiter> Open(std::string_view yaml, LimiterOptions options = {}) {
  return std::make_unique<Limiter>(Rules(yaml), OverTestStore(options), kStart);
}

// A session that reserves and keeps the last answer, at an instant that it can be told.
class Holder {
 public:
  explicit Holder(Limiter& limiter, Duration ttl = kNever)
      : limiter_(limiter), session_(limiter.OpenSession(ttl, kStart)) {}

  // The answer; if it has to wait, an answer comes later (answers()).
  Result<Reservation> Reserve(const ReserveRequest& request, Instant now = kStart) {
    answers_.clear();
    limiter_.Reserve(session_, request, now,
                     [this](const Result<Reservation>& answer) { answers_.push_back(answer); });
    return answers_.empty() ? Error{Code::kUnavailable, "waits", ""} : answers_.front();
  }
  bool waits() const { return answers_.empty(); }
  const std::vector<Result<Reservation>>& answers() const { return answers_; }
  Result<uint64_t> Release(const Ticket& hold, uint64_t copies = 0, Instant now = kStart) {
    return limiter_.Release(session_, hold, copies, now);
  }
  void End(Instant now = kStart) { limiter_.EndSession(session_, now); }
  const SessionId& session() const { return session_; }

 private:
  Limiter& limiter_;
  const SessionId session_;
  std::vector<Result<Reservation>> answers_;
};

// The client waits as often as it may, in sessions of its own.
inline void WaitAsOftenAsMay(Limiter& limiter, std::string_view client) {
  bool full = false;
  for (int sessions = 0; !full && sessions < 100; ++sessions) {
    const SessionId session = limiter.OpenSession(kNever, kStart, client);
    for (int i = 0; i < 1'000; ++i) {
      limiter.ReservePool(
          session,
          {.key = "room", .workers = 1, .max_queue = 1'000'000, .wait = std::chrono::hours(1)},
          kStart, [&full](const Result<Reservation>& answer) {
            full = full || (answer && answer->outcome == Outcome::kQueueFull);
          });
    }
  }
  EXPECT_TRUE(full);
}

// Resources a to e with one limit each, of every algorithm; f with three limits.
inline constexpr std::string_view kEveryAlgorithm = R"(
namespaces:
  n:
    resources:
      a: {limits: [{algorithm: token_bucket, limit: 10, per: 1m}]}
      b: {limits: [{algorithm: fixed_window, limit: 10, per: 1m}]}
      c: {limits: [{algorithm: sliding_log, limit: 10, per: 1m}]}
      d: {limits: [{algorithm: sliding_window, limit: 10, per: 1m}]}
      e:
        tiers:
          hard_limit: 10
          tiers:
            - {limit: 10, window: 1s, active: 60s, cooldown: 0s}
            - {limit: 20, window: 1s, active: 10s, cooldown: 60s}
      f:
        limits:
          - {name: second, limit: 5, per: 1s}
          - {name: minute, algorithm: sliding_window, limit: 50, per: 1m}
          - {name: everyone, limit: 1000, per: 1s, key: []}
)";

// What is held: `box` by subject, in all and by a group; `lock` once; `rate` is not held at all.
inline constexpr std::string_view kHoldRules = R"(
namespaces:
  n:
    resources:
      box: {copies: {per_subject: 5, total: 8, groups: [{name: trial, limit: 4, subjects: [ann]}]}}
      lock: {copies: {per_subject: 1}}
      rate: {limits: [{limit: 1, per: 1s}]}
)";

}  // namespace weir::testing
