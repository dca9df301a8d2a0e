// Time and tokens in one unit, so that refilling is exact whatever the rate: with
// g = gcd(limit, per) a nanosecond is limit/g ticks and a token is per/g ticks, both whole.
//
// A bucket's shape travels with what is told about a key, because a node may hear of a key before
// anybody asked it to decide on one.
#pragma once

#include <algorithm>
#include <numeric>

#include "algorithms/algorithm.h"
#include "replication/replica.h"

namespace weir {

inline constexpr uint64_t kMostTokens = uint64_t{1} << 60;  // times 2^63 nanoseconds fits 128 bits

struct Ticks {
  uint64_t per_nano = 0;
  uint64_t per_token = 1;

  explicit Ticks(const ReplicatedBucket& bucket) {
    const auto per = static_cast<uint64_t>(bucket.per.count());
    const uint64_t g = std::max<uint64_t>(1, std::gcd(bucket.limit, per));
    per_nano = bucket.limit / g;
    per_token = std::max<uint64_t>(1, per / g);
  }

  int128 At(Instant now) const { return int128{ToNanos(now)} * per_nano; }
  int128 In(Duration d) const { return int128{d.count()} * per_nano; }
  int128 Of(uint64_t tokens) const { return int128{std::min(tokens, 2 * kMostTokens)} * per_token; }
  // Whole tokens; what is negative is none.
  uint64_t Tokens(int128 ticks) const {
    return ticks > 0 ? static_cast<uint64_t>(ticks / per_token) : 0;
  }
  uint64_t Rest(int128 ticks) const {
    return ticks > 0 ? static_cast<uint64_t>(ticks % per_token) : 0;
  }
};

inline void WriteBucket(EnvelopeWriter& to, const ReplicatedBucket& bucket) {
  to.Number(bucket.capacity - 1);
  to.Number(bucket.limit);
  const auto per = static_cast<uint64_t>(bucket.per.count());
  constexpr uint64_t kSecond = 1'000'000'000;
  to.Number(per % kSecond == 0 ? (per / kSecond - 1) * 2 : (per - 1) * 2 + 1);
}

inline ReplicatedBucket ReadBucket(EnvelopeReader& from) {
  ReplicatedBucket bucket;
  bucket.capacity = from.NumberBelow(kMostTokens) + 1;
  bucket.limit = from.NumberBelow(kMostTokens);
  const uint64_t per = from.Number();
  constexpr uint64_t kMostSeconds = uint64_t{1} << 33;
  bucket.per = per % 2 == 0 ? Duration(std::chrono::seconds(std::min(per / 2 + 1, kMostSeconds)))
                            : Duration(std::min(per / 2 + 1, uint64_t{1} << 62));
  return bucket;
}

// A number of ticks, not negative: whole tokens, then the rest.
inline void WriteTicks(EnvelopeWriter& to, const Ticks& ticks, int128 number) {
  to.Number(ticks.Tokens(number));
  to.Number(ticks.Rest(number));
}

inline int128 ReadTicks(EnvelopeReader& from, const Ticks& ticks) {
  const uint64_t tokens = from.NumberBelow(2 * kMostTokens);
  return ticks.Of(tokens) + from.NumberBelow(ticks.per_token);
}

// As many tokens, to a fraction of one, in the ticks of another shape.
inline int128 Rescaled(int128 number, const Ticks& from, const Ticks& to) {
  const int128 rest = int128{from.Rest(number)} * to.per_token / from.per_token;
  return to.Of(from.Tokens(number)) + rest;
}

}  // namespace weir
