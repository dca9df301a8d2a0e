// States as bytes, to be kept over a restart. They mean something only under the same numbers.
#pragma once

#include <optional>

#include "algorithms/limit.h"
#include "base/byte_codec.h"

namespace weir {

void Encode(const TokenBucket& bucket, const TokenBucket::State& state, ByteWriter& out);
void Encode(const FixedWindow& window, const FixedWindow::State& state, ByteWriter& out);
void Encode(const SlidingLog& log, const SlidingLog::State& state, ByteWriter& out);
void Encode(const SlidingWindow& window, const SlidingWindow::State& state, ByteWriter& out);
void Encode(const BurstTiers& tiers, const BurstTiers::State& state, ByteWriter& out);
void Encode(const Copies& copies, const Copies::State& state, ByteWriter& out);

// False if these are no bytes of such a state. A state from a clock that was ahead is brought to
// this one, its use kept.
bool Decode(const TokenBucket& bucket, ByteReader& in, Instant now, TokenBucket::State& state);
bool Decode(const FixedWindow& window, ByteReader& in, Instant now, FixedWindow::State& state);
bool Decode(const SlidingLog& log, ByteReader& in, Instant now, SlidingLog::State& state);
bool Decode(const SlidingWindow& window, ByteReader& in, Instant now, SlidingWindow::State& state);
bool Decode(const BurstTiers& tiers, ByteReader& in, Instant now, BurstTiers::State& state);
bool Decode(const Copies& copies, ByteReader& in, Instant now, Copies::State& state);

}  // namespace weir
