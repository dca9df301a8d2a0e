#include "algorithms/state_codec.h"

#include <algorithm>

namespace weir {
namespace {

void EncodeLog(const Log& log, ByteWriter& out) {
  out.Put(static_cast<uint64_t>(log.entries()));
  log.ForEach([&](Instant at, uint64_t hits) {
    out.Put(ToNanos(at));
    out.Put(hits);
  });
}

// Hits later than `now` (the clock was ahead) become hits of now.
bool DecodeLog(ByteReader& in, Instant now, Log& log) {
  const uint64_t entries = in.Get();
  if (entries > in.left() / 2) return false;
  for (uint64_t i = 0; i < entries; ++i) {
    const Instant at = FromNanos(in.GetSigned());
    const uint64_t hits = in.Get();
    if (hits > 0) log.Add(std::min(at, now), hits);
  }
  return in.ok();
}

}  // namespace

void Encode(const TokenBucket&, const TokenBucket::State& state, ByteWriter& out) {
  out.Put(static_cast<uint64_t>(state.full_at >> 64));
  out.Put(static_cast<uint64_t>(state.full_at));
}

bool Decode(const TokenBucket& bucket, ByteReader& in, Instant now, TokenBucket::State& state) {
  const uint64_t high = in.Get();
  state.full_at = uint128{high} << 64 | in.Get();
  if (!in.done()) return false;
  // Whoever knows how much was used lowers it to that (store/persist.cc); here only so that nothing
  // overflows.
  const uint128 most = bucket.Ticks(now) + TokenBucket::kMostDebt;
  state.full_at = std::min(state.full_at, most);
  return true;
}

void Encode(const FixedWindow&, const FixedWindow::State& state, ByteWriter& out) {
  out.Put(state.window);
  out.Put(state.used);
}

bool Decode(const FixedWindow& window, ByteReader& in, Instant now, FixedWindow::State& state) {
  state.window = in.GetSigned();
  state.used = in.Get();
  if (!in.done()) return false;
  window.Renumber(state, now);
  return true;
}

void Encode(const SlidingLog&, const SlidingLog::State& state, ByteWriter& out) {
  EncodeLog(state.admitted, out);
  EncodeLog(state.rejected, out);
}

bool Decode(const SlidingLog&, ByteReader& in, Instant now, SlidingLog::State& state) {
  return DecodeLog(in, now, state.admitted) && DecodeLog(in, now, state.rejected) && in.done();
}

void Encode(const SlidingWindow&, const SlidingWindow::State& state, ByteWriter& out) {
  out.Put(state.newest);
  out.Put(static_cast<uint64_t>(state.counts.size()));
  for (const uint64_t count : state.counts) out.Put(count);
}

bool Decode(const SlidingWindow& window, ByteReader& in, Instant now, SlidingWindow::State& state) {
  state.newest = in.GetSigned();
  const uint64_t size = in.Get();
  const bool fits = size == 0 || ((size & (size - 1)) == 0 && size > window.slices);
  if (size != in.left() || !fits) return false;
  state.counts.resize(size);
  state.total = 0;
  for (uint64_t& count : state.counts) {
    count = in.Get();
    state.total = SaturatingAdd(state.total, count);
  }
  if (!in.done()) return false;
  if (!state.counts.empty()) window.Renumber(state, now);
  return true;
}

void Encode(const BurstTiers&, const BurstTiers::State& state, ByteWriter& out) {
  out.Put(static_cast<uint64_t>(state.tiers.size()));
  for (const BurstTiers::TierState& tier : state.tiers) {
    out.Put(ToNanos(tier.entry));
    out.Put(uint64_t{tier.entered});
    EncodeLog(tier.hits, out);
  }
}

bool Decode(const BurstTiers& tiers, ByteReader& in, Instant now, BurstTiers::State& state) {
  const uint64_t count = in.Get();
  if (count != 0 && count != tiers.tiers.size()) return false;
  state.tiers.resize(count);
  for (BurstTiers::TierState& tier : state.tiers) {
    tier.entry = std::min(FromNanos(in.GetSigned()), now);
    tier.entered = in.Get() != 0;
    if (!DecodeLog(in, now, tier.hits)) return false;
  }
  return in.done();
}

void Encode(const Copies&, const Copies::State& state, ByteWriter& out) { out.Put(state.held); }

bool Decode(const Copies&, ByteReader& in, Instant, Copies::State& state) {
  state.held = in.Get();
  return in.done();
}

}  // namespace weir
