// A limit: an algorithm with its numbers, whichever it is.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "algorithms/burst_tiers.h"
#include "algorithms/copies.h"
#include "algorithms/fixed_window.h"
#include "algorithms/sliding_log.h"
#include "algorithms/sliding_window.h"
#include "algorithms/token_bucket.h"

namespace weir {

using Limit = std::variant<TokenBucket, FixedWindow, SlidingLog, SlidingWindow, BurstTiers, Copies>;

// "token_bucket", "fixed_window", …
std::string_view AlgorithmName(const Limit& limit);

// What is shown of a limit: at most `most` within `per` (0 where there is no such time), and at most
// `capacity` at once.
struct LimitNumbers {
  uint64_t most = 0;
  Duration per{};
  uint64_t capacity = 0;
};
LimitNumbers Numbers(const Limit& limit);

// Empty if the numbers are within the bounds that the algorithms' arithmetic relies on; else what
// is wrong with them, as a sentence for the writer of the rule. `field` is set to the field at
// fault, of a tier as in "tiers[0].window". The bounds: limit, burst <= 2^53; 1 ns <= per, window,
// active <= 10 years (3653 days), cooldown >= 0; a bucket has burst 0 where limit is 0, else at
// least 1, and refills within 100 years; sliding_log and tiers: limit <= 1,000,000; slices from 1
// to 10,000 and not more than nanoseconds in per; at most BurstTiers::kMost tiers; calendar windows
// have a calendar.
std::string Check(const Limit& limit, std::string* field);

// True if both have the same numbers, so that a state means the same under either.
bool SameNumbers(const Limit& a, const Limit& b);

}  // namespace weir
