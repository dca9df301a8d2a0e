// What servers answer, and what the client adds to it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weir/client/clock.h"

namespace weir::client {

inline constexpr uint64_t kUnlimited = UINT64_MAX;

enum class Source {
  kServer,
  kDegraded,    // nobody answered: the client decided
  kKillSwitch,  // a refusal that was overruled
};
std::string_view SourceName(Source source);  // "server", "degraded", "kill_switch"

struct LimitStatus {
  std::string name;
  uint64_t limit = 0;  // or kUnlimited
  Duration per{};
  uint64_t remaining = 0;
  std::optional<Duration> reset_after;
  bool shadow = false;        // counts, but does not refuse
  bool would_refuse = false;  // of such a limit: had it not been one
};

// Of a resource with burst tiers.
struct TierStatus {
  uint64_t tier = 0, tier_limit = 0, tier_hits = 0;
  bool burst = false;
  uint64_t hard_limit = kUnlimited;
  bool hard_limited = false;
  uint64_t hits_last_second = 0;
  uint64_t global_limit = kUnlimited;
  bool global_limited = false;
  uint64_t global_hits_last_second = 0;
};

struct Decision {
  bool allowed = false;
  uint64_t granted = 0;
  uint64_t remaining = 0;                             // or kUnlimited
  std::optional<Duration> retry_after = Duration(0);  // none: it can never be granted
  std::optional<Duration> reset_after = Duration(0);
  std::string limit;   // that decided
  std::string ticket;  // of a request whose cost is settled later
  std::vector<LimitStatus> limits;
  std::optional<TierStatus> tiers;

  Duration waited{};  // from the call to the answer
  int attempts = 1;
  Source source = Source::kServer;
  std::string address;  // of the server that answered

  const Decision& ThrowIfRefused() const;
};

struct Settled {
  // What stays charged: the true cost, or more where not all of the estimate could be given back.
  uint64_t charged = 0;
  uint64_t remaining = 0;
  Source source = Source::kServer;
};

enum class Outcome {
  kGranted,
  kRefused,
  kQueueFull,
  kTimeout,  // of waiting in line
  kDone,     // shared work that another has done meanwhile
};
std::string_view OutcomeName(Outcome outcome);

struct GroupStatus {
  std::string name;
  uint64_t limit = 0;
  uint64_t held = 0;
};

struct Reservation {
  bool allowed = false;
  Outcome outcome = Outcome::kRefused;
  uint64_t granted = 0;
  std::string hold;  // its name; empty where no server knows of it
  uint64_t held = 0, per_subject = kUnlimited;
  uint64_t held_total = 0, total = kUnlimited;
  std::vector<GroupStatus> groups;

  // How many more the subject could have reserved at that moment; or kUnlimited.
  uint64_t remaining() const;
};

}  // namespace weir::client
