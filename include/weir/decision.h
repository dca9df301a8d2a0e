// A request and the decision on it, in the user's words. Fronts turn these into headers, integers
// and messages; nothing else does.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weir/error.h"
#include "weir/instant.h"
#include "weir/reach.h"

namespace weir {

struct Request {
  std::string_view namespace_name;
  std::string_view resource;
  std::string_view subject;
  uint64_t cost = 1;
  std::optional<uint64_t> min_cost = std::nullopt;  // grant this much at least; default: cost
  bool settle = false;                              // the true cost is told later, by ticket
};

// A request that brings its own token bucket: `limit` per `per`, holding at most `burst`.
struct AdhocRequest {
  std::string_view key;
  uint64_t limit = 1;
  Duration per = std::chrono::seconds(1);
  uint64_t burst = 1;
  uint64_t cost = 1;
};

// Names an admitted request whose cost is settled later. Unguessable; names its node.
struct Ticket {
  uint64_t high = 0;  // upper half: the node
  uint64_t low = 0;
  explicit operator bool() const { return high != 0 || low != 0; }
  bool operator==(const Ticket&) const = default;
  bool IsOf(std::string_view node) const;  // it was issued there
  std::string ToString() const;            // 32 hexadecimal digits
  static std::optional<Ticket> Parse(std::string_view text);
};

// One of the limits that a request met.
struct LimitStatus {
  std::string_view name;
  uint64_t limit = 0;  // UINT64_MAX: unlimited
  Duration per{};      // 0 where there is no such time (tiers)
  uint64_t remaining = 0;
  Duration reset_after{};
  uint64_t capacity = 0;  // the most that can be admitted at once: a bucket's burst
  bool shadow = false;    // counts, but does not refuse
  bool refused = false;   // had not room enough (in shadow: would have refused)
};

// What Charon, section 3.1, tells about a resource with burst tiers.
struct TierStatus {
  uint64_t tier = 0;  // the current tier after the decision; 0: none is active
  uint64_t tier_limit = 0;
  uint64_t tier_hits = 0;
  bool burst = false;  // the request entered a tier, tier 1 included
  std::optional<uint64_t> hard_limit;
  bool hard_limited = false;
  uint64_t hits_last_second = 0;
  std::optional<uint64_t> global_limit;
  bool global_limited = false;
  uint64_t global_hits_last_second = 0;
};

// Names are views into the rules in force; they stay valid until the calling thread decides again.
struct Decision {
  Code error =
      Code::kOk;  // if not kOk, nothing was decided and only this, `message` and `field` count
  std::string_view message;
  std::string_view field;  // of the request, that is at fault; empty where none is
  bool allowed = false;
  bool degraded = false;  // a store was away: what a limit does on failure was part of the decision
  uint64_t granted = 0;
  uint64_t remaining = 0;  // of the limit that decided; UINT64_MAX where nothing limits
  Duration retry_after{};  // 0 when allowed, kNever when waiting does not help
  Duration reset_after{};  // of the limit that decided
  std::string_view limit;  // the name of the limit that decided; empty where none did
  Ticket ticket;           // set when `settle` was asked for and something was admitted
  std::optional<TierStatus> tiers;

  std::span<const LimitStatus> limits() const {
    return more_.empty() ? std::span(few_.statuses, count_) : std::span(more_);
  }
  void Clear();
  LimitStatus& AddLimit() {
    if (more_.empty() && count_ < kFew) return few_.statuses[count_++] = LimitStatus{};
    return AddMore();
  }

 private:
  static constexpr size_t kFew = 6;
  // Left as it is until it is used: a decision is made for every request.
  union Few {
    Few() {}  // NOLINT
    LimitStatus statuses[kFew];
  };
  LimitStatus& AddMore();

  size_t count_ = 0;
  Few few_;
  std::vector<LimitStatus> more_;  // all of them, once they are more than few_ holds
};

struct SettleRequest {
  Ticket ticket;
  uint64_t cost = 0;
  const Reach* reach = nullptr;  // of whoever asks; null: everything
};

struct Settled {
  // What stays charged: the true cost, or more where less was given back than the estimate was too
  // high (what a bucket had refilled meanwhile, what lies in a window that is over). With several
  // limits the most that any of them keeps; limits in shadow do not count. Rounded up.
  uint64_t charged = 0;
  uint64_t remaining = 0;  // least over the limits that were charged
};

struct SubjectCount {
  std::string subject;
  uint64_t count = 0;
};

}  // namespace weir
