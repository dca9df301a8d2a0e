#include "lab/chaos/scenario.h"

#include <fmt/core.h>

namespace weir::chaos {

const char* NameOf(EnvelopeKind kind) {
  switch (kind) {
    case EnvelopeKind::kCounter: return "counter";
    case EnvelopeKind::kQueue: return "queue";
    case EnvelopeKind::kDebt: return "debt";
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
