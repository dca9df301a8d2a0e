#include "weir/client/answers.h"

#include <algorithm>

#include "weir/client/error.h"

namespace weir::client {

std::string_view SourceName(Source source) {
  switch (source) {
    case Source::kServer: return "server";
    case Source::kDegraded: return "degraded";
    case Source::kKillSwitch: return "kill_switch";
  }
  return "";
}

std::string_view OutcomeName(Outcome outcome) {
  switch (outcome) {
    case Outcome::kGranted: return "granted";
    case Outcome::kRefused: return "refused";
    case Outcome::kQueueFull: return "queue_full";
    case Outcome::kTimeout: return "timeout";
    case Outcome::kDone: return "done";
  }
  return "";
}

const Decision& Decision::ThrowIfRefused() const {
  if (allowed) return *this;
  std::string when = "never";
  if (retry_after) {
    when = "in " + std::to_string(retry_after->count() / 1'000'000) + " ms";
  }
  throw Refused("by " + (limit.empty() ? "the local safe rate" : limit) + "; retry " + when);
}

uint64_t Reservation::remaining() const {
  const auto left = [](uint64_t limit, uint64_t taken) {
    return limit == kUnlimited ? kUnlimited : limit - std::min(limit, taken);
  };
  uint64_t least = std::min(left(per_subject, held), left(total, held_total));
  for (const GroupStatus& group : groups) least = std::min(least, left(group.limit, group.held));
  return least;
}

}  // namespace weir::client
