// Limits drawn at random: ordinary ones, awkward ones (7 per 3 s, 1000003 per 7 s) and the extremes
// that limit.h allows.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "algorithms/limit.h"
#include "base/random.h"

namespace weir::oracle {

// The algorithms that the oracle knows, by the names of LIMITS.md.
std::span<const std::string_view> Algorithms();

// `algorithm` is one of Algorithms().
Limit RandomLimit(std::string_view algorithm, Random* random);

// A limit in the words of its rule: "token_bucket limit=7 per=3000000000 burst=7", times in ns.
std::string Describe(const Limit& limit);

// lowest <= result <= highest, every magnitude as likely as another; lowest >= 1.
uint64_t AnyMagnitude(uint64_t lowest, uint64_t highest, Random* random);

template <typename T, size_t kSize>
T OneOf(const T (&choices)[kSize], Random* random) {
  return choices[random->Below(kSize)];
}

}  // namespace weir::oracle
