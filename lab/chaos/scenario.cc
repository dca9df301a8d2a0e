#include "lab/chaos/scenario.h"

#include <fmt/core.h>

namespace weir::chaos {

const char* NameOf(ReplicaKind kind) {
  switch (kind) {
    case ReplicaKind::kCounter: return "counter";
    case ReplicaKind::kQueue: return "queue";
    case ReplicaKind::kDebt: return "debt";
  }
  return "?";
}

const char* NameOf(Act act) {
  static constexpr const char* kNames[kActs] = {"request", "take",  "refund",  "cut",  "storm",
                                                "pause",   "crash", "amnesia", "leave"};
  return kNames[static_cast<size_t>(act)];
}

std::string Shown(Duration d) {
  return fmt::format("{:.6f} s", std::chrono::duration<double>(d).count());
}

std::string Shown(Instant at) { return Shown(at - kStart); }

}  // namespace weir::chaos
