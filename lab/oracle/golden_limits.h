// The limits of the golden vectors, and how a limit is written there.
#pragma once

#include <string>
#include <vector>

#include "algorithms/limit.h"

namespace weir::oracle {

// All of one algorithm, in whole microseconds, with ordinary, awkward and extreme numbers. Below
// 2^53 are: burst * per_us / gcd(limit, per_us) of a bucket; limit * per_us of a sliding window,
// whose slices divide per_us.
std::vector<Limit> GoldenLimits(std::string_view algorithm);

// A JSON object with the fields of tests/golden/README.md.
std::string ToJson(const Limit& limit);

}  // namespace weir::oracle
