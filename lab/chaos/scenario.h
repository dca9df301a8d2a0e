// Everything that a run of chaos does, as data: the cluster, its limits, and a list of actions in
// order of time. The seed decides what is generated (generate.h) and the fate of each envelope;
// nothing else is left to chance, so a scenario gives the same trace every time. To shrink a
// failure is to drop actions, nodes and keys (shrink.h).
//
//   busy                    requests and faults
//   until `converged`       no fault any more: all have heard everything at its end
//   until all is forgotten  every bucket is full again, and idle subjects cost nothing
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lab/chaos/node_clock.h"
#include "replication/replica.h"

namespace weir::chaos {

using NodeSet = uint32_t;  // a bit for each node
inline constexpr uint32_t kMostNodes = 12;
constexpr bool Has(NodeSet set, uint32_t node) { return (set >> node & 1) != 0; }

enum class Act : uint8_t {
  kRequest,  // takes if there is room
  kTake,     // takes, room or not: a settlement upwards
  kRefund,   // of what this node took before
  kCut,      // nothing comes from `from` to `to`, for a while
  kStorm,    // most envelopes are lost, repeated or late, for a while
  kPause,    // the node stands still; what is sent to it waits
  kCrash,    // it is away, and comes back with its memory
  kAmnesia,  // it is away, and comes back without
  kLeave,    // it is taken out of the cluster, and joins again as another life
};
inline constexpr size_t kActs = 9;
constexpr bool IsFault(Act act) { return act >= Act::kCut; }

struct Action {
  Instant at;
  Act act = Act::kRequest;
  uint32_t node = 0;
  uint32_t key = 0;
  uint64_t cost = 0;
  Duration lasts{};
  NodeSet from = 0, to = 0;
  bool both = false;  // and nothing comes back
  Instant taken{};    // of a refund: when that was
};

// A limit as all nodes know it. If nothing flows in (limit 0), what is taken counts whole until it is
// over:
//
//   a log    `per` after it was taken
//   windows  are of a length; a node counts in the one that its own clock is in, so that nodes may be
//            in different ones. What was counted in one is kept for `per` after its end.
struct Limit : ReplicatedBucket {
  Duration length{};  // of a window; 0: there are none

  bool flows() const { return limit > 0; }
  bool windows() const { return length > Duration{}; }
  int64_t WindowOf(Instant local) const {
    return windows() ? int64_t(FloorDiv(ToNanos(local), length.count())) : 0;
  }
  Instant EndOf(int64_t number) const { return FromNanos((number + 1) * length.count()); }
  // What a node asks for whose clock shows this.
  ReplicatedBucket Asked(Instant local) const {
    ReplicatedBucket asked = *this;
    asked.window = WindowOf(local);
    if (windows()) asked.per += EndOf(asked.window) - local;
    return asked;
  }
};

// What the replicas are made with; each kind takes what it knows.
struct Timing {
  Duration interval = std::chrono::milliseconds(300);  // of gossip
  uint32_t fan_out = 1;
  bool linf = false, frequency = false, whole_buckets = false;
  Duration patience{}, heartbeat = std::chrono::seconds(1);
  Duration memory{};  // the queue's margin, the debt's grace
};

// Ages travel rounded down to at most so much.
inline constexpr Duration kAgeStep = std::chrono::microseconds(100);

// By how much two clocks may differ about so long a time; and rounding.
constexpr Duration DriftIn(Duration d) {
  return d / kMillion * 3 * kMostDriftPpm + std::chrono::microseconds(2);
}

struct Weather {
  Duration latency = std::chrono::milliseconds(1);
  Duration jitter{};
  double loss = 0;
  double duplication = 0;
};

struct Scenario {
  uint64_t seed = 0;
  EnvelopeKind kind = EnvelopeKind::kDebt;
  Timing timing;
  Weather weather;
  std::vector<NodeClock> clocks;  // by node
  std::vector<Limit> limits;      // by key
  std::vector<Action> actions;    // in order of time
  Instant busy_until;
  Duration converge{};  // the time that news may take after quiet

  uint32_t nodes() const { return static_cast<uint32_t>(clocks.size()); }
  uint32_t keys() const { return static_cast<uint32_t>(limits.size()); }
};

inline Key KeyOf(uint32_t key) { return {key + 1, (key + 1) * 0x9e3779b97f4a7c15}; }
const char* NameOf(EnvelopeKind kind);
const char* NameOf(Act act);
// Since the start, as seconds.
std::string Shown(Instant at);
std::string Shown(Duration d);

}  // namespace weir::chaos
