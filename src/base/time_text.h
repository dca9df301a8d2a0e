// Durations and instants as people write them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "weir/instant.h"

namespace weir {

// "1.5s", "250ms", "2m", "1m30s", "1d"; units ns, us, ms, s, m, h, d. Exact; nothing if it is no
// such text or does not fit.
std::optional<Duration> ParseDuration(std::string_view text);

// The same, shortest first: "50ms", "1m30s", "333.333334ms"; "never" for kNever.
std::string DurationText(Duration duration);

// For people: two units at most, rounded down to what is shown. "6h 9m", "3d 4h", "1m 30s", "2.5s",
// "35s", "250ms"; "never" for kNever.
std::string SpokenDuration(Duration duration);

// A duration since `start`, or RFC 3339 such as "2026-11-15T10:00:00Z".
std::optional<Instant> ParseInstant(std::string_view text, Instant start);

// RFC 3339, in UTC.
std::string InstantText(Instant instant);

}  // namespace weir
