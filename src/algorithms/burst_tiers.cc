#include "algorithms/burst_tiers.h"

namespace weir {
namespace {

using Tier = BurstTiers::Tier;
using TierState = BurstTiers::TierState;

constexpr Duration kTick{1};

Instant ActiveUntil(const Tier& tier, const TierState& state) {
  return After(state.entry, tier.active);
}
Instant CoolingUntil(const Tier& tier, const TierState& state) {
  return After(ActiveUntil(tier, state), tier.cooldown);
}
bool IsActive(const Tier& tier, const TierState& state, Instant now) {
  return state.entered && now < ActiveUntil(tier, state);
}
bool IsCooling(const Tier& tier, const TierState& state, Instant now) {
  return state.entered && now >= ActiveUntil(tier, state) && now < CoolingUntil(tier, state);
}
Instant WindowStart(const Tier& tier, Instant now) { return After(now, -tier.window); }

Instant Latest(const BurstTiers::State& state, Instant now) {
  for (const TierState& tier : state.tiers) {
    if (tier.entered) now = std::max(now, tier.entry);
    if (!tier.hits.empty()) now = std::max(now, tier.hits.newest());
  }
  return now;
}

}  // namespace

size_t BurstTiers::State::bytes() const {
  size_t sum = tiers.capacity() * sizeof(TierState);
  for (const TierState& tier : tiers) sum += tier.hits.bytes();
  return sum;
}

uint64_t BurstTiers::Capacity() const {
  uint64_t sum = 0;
  for (const Tier& tier : tiers) sum = SaturatingAdd(sum, tier.limit);
  return sum;
}

size_t BurstTiers::CurrentAt(const State& state, Instant now) const {
  size_t current = state.tiers.size();
  while (current > 0 && !IsActive(tiers[current - 1], state.tiers[current - 1], now)) --current;
  return current;
}

uint64_t BurstTiers::RoomIn(const State& state, size_t i, Instant now) const {
  const uint64_t hits = state.tiers[i].hits.CountFrom(WindowStart(tiers[i], now));
  return RoomBelow(tiers[i].limit, hits).value_or(0);
}

template <typename Visit>
void BurstTiers::Climb(const State& state, Instant now, Visit visit) const {
  const size_t current = CurrentAt(state, now);
  if (current > 0) visit(current - 1, RoomIn(state, current - 1, now));
  for (size_t i = current; i < state.tiers.size(); ++i) {
    if (!IsCooling(tiers[i], state.tiers[i], now)) {
      visit(i, RoomIn(state, i, now));
    } else if (!tiers[i].skippable) {
      return;
    }
  }
}

uint64_t BurstTiers::RoomAt(const State& state, Instant now) const {
  if (state.tiers.empty()) return Capacity();
  uint64_t sum = 0;
  Climb(state, now, [&](size_t, uint64_t room) { sum = SaturatingAdd(sum, room); });
  return sum;
}

std::optional<uint64_t> BurstTiers::Room(const State& state, Instant now) const {
  return RoomAt(state, Latest(state, now));
}

BurstTiers::View BurstTiers::Current(const State& state, Instant now) const {
  now = Latest(state, now);
  const size_t current = CurrentAt(state, now);
  if (current == 0) return {};
  const Tier& tier = tiers[current - 1];
  return {current, tier.limit, state.tiers[current - 1].hits.CountFrom(WindowStart(tier, now))};
}

uint64_t BurstTiers::LastSecond(const State& state, Instant now) const {
  const Instant from = After(Latest(state, now), -std::chrono::seconds(1));
  uint64_t hits = 0;
  for (const TierState& tier : state.tiers) hits = SaturatingAdd(hits, tier.hits.CountFrom(from));
  return hits;
}

BurstTiers::Receipt BurstTiers::Take(State& state, uint64_t n, Instant now) const {
  Receipt receipt{.at = Latest(state, now)};
  if (n == 0) return receipt;
  state.tiers.resize(tiers.size());
  uint64_t left = n;
  Climb(state, receipt.at, [&](size_t i, uint64_t room) {
    receipt.by_tier[i] = std::min(left, room);
    left -= receipt.by_tier[i];
  });
  for (size_t i = 0; i < tiers.size(); ++i) {
    if (receipt.by_tier[i] > 0) receipt.burst |= Record(state, i, receipt.by_tier[i], receipt.at);
  }
  return receipt;
}

BurstTiers::Receipt BurstTiers::Charge(State& state, uint64_t n, Instant now) const {
  Receipt receipt{.at = Latest(state, now)};
  if (n == 0 || tiers.empty()) return receipt;
  state.tiers.resize(tiers.size());
  const size_t current = CurrentAt(state, receipt.at);
  const size_t i = current == 0 ? 0 : current - 1;
  receipt.by_tier[i] = n;
  receipt.burst = Record(state, i, n, receipt.at);
  return receipt;
}

bool BurstTiers::Record(State& state, size_t i, uint64_t n, Instant now) const {
  TierState& tier = state.tiers[i];
  tier.hits.DropBefore(WindowStart(tiers[i], now));
  tier.hits.Add(now, n);
  if (tier.entered && now < CoolingUntil(tiers[i], tier)) return false;
  tier.entry = now;
  tier.entered = true;
  return true;
}

uint64_t BurstTiers::Refund(State& state, const Receipt& receipt, uint64_t n, Instant now) const {
  now = Latest(state, now);
  uint64_t back = 0;
  for (size_t i = state.tiers.size(); i-- > 0;) {
    if (receipt.at < WindowStart(tiers[i], now)) continue;
    const uint64_t most = std::min(n - back, receipt.by_tier[i]);
    back += state.tiers[i].hits.Remove(receipt.at, most);
  }
  return back;
}

uint64_t BurstTiers::Cancel(State& state, const Receipt& receipt, uint64_t n, Instant now) const {
  now = Latest(state, now);
  uint64_t back = 0;
  for (size_t i = state.tiers.size(); i-- > 0 && n > 0;) {
    TierState& tier = state.tiers[i];
    const uint64_t off = std::min(n, receipt.by_tier[i]);
    n -= off;
    // A log forgets the oldest first: if these hits are there, so are all since.
    const uint64_t removed = tier.hits.Remove(receipt.at, off);
    if (receipt.at >= WindowStart(tiers[i], now)) back += removed;
    const bool entered = tier.entered && tier.entry == receipt.at;
    if (removed == 0 || !entered) continue;
    tier.entered = tier.hits.CountFrom(tier.entry) > 0;
    tier.entry = tier.entered ? tier.hits.NthFrom(tier.entry, 1) : Instant{};
  }
  return back;
}

Instant BurstTiers::NextChange(const State& state, Instant now) const {
  Instant next = kEndOfTime;
  for (size_t i = 0; i < state.tiers.size(); ++i) {
    if (!state.tiers[i].entered) continue;
    for (const Instant change :
         {ActiveUntil(tiers[i], state.tiers[i]), CoolingUntil(tiers[i], state.tiers[i])}) {
      if (change > now) next = std::min(next, change);
    }
  }
  return next;
}

Instant BurstTiers::Empty(const State& state) const {
  Instant empty = Instant::min();
  for (size_t i = 0; i < state.tiers.size(); ++i) {
    const Log& hits = state.tiers[i].hits;
    if (!hits.empty()) empty = std::max(empty, After(hits.newest(), tiers[i].window + kTick));
  }
  return empty;
}

Instant BurstTiers::When(const State& state, uint64_t n, Instant from) const {
  if (n > Capacity()) return kEndOfTime;
  Instant start = Latest(state, from);
  if (RoomAt(state, start) >= n) return from;
  while (start != kEndOfTime) {
    const Instant change = NextChange(state, start);
    Instant good = std::max(start, std::min(change - kTick, Empty(state)));
    if (RoomAt(state, good) >= n) {
      // Good now; bad a tick before the start, or not asked for.
      Instant bad = start - kTick;
      while (good - bad > kTick) {
        const Instant middle = bad + (good - bad) / 2;
        (RoomAt(state, middle) >= n ? good : bad) = middle;
      }
      return good;
    }
    start = change;
  }
  return kEndOfTime;
}

Instant BurstTiers::Reset(const State& state, Instant now) const {
  Instant reset = std::max(now, Empty(state));
  for (size_t i = 0; i < state.tiers.size(); ++i) {
    if (state.tiers[i].entered) reset = std::max(reset, CoolingUntil(tiers[i], state.tiers[i]));
  }
  return reset;
}

uint64_t BurstTiers::Use(const State& state, Instant now) const {
  now = Latest(state, now);
  uint64_t sum = 0;
  for (size_t i = 0; i < state.tiers.size(); ++i) {
    sum = SaturatingAdd(sum, state.tiers[i].hits.CountFrom(WindowStart(tiers[i], now)));
  }
  return sum;
}

BurstTiers::State BurstTiers::Start(uint64_t, Instant) const { return {}; }

uint32_t BurstTiers::Fill(const State& state, Instant now) const {
  now = Latest(state, now);
  uint32_t most = 0;
  for (size_t i = 0; i < state.tiers.size(); ++i) {
    const TierState& tier = state.tiers[i];
    const uint64_t hits = tier.hits.CountFrom(WindowStart(tiers[i], now));
    const bool held = IsCooling(tiers[i], tier, now) || (i > 0 && IsActive(tiers[i], tier, now));
    most = std::max({most, FillOf(hits, tiers[i].limit), held ? kFull : 0});
  }
  return most;
}

}  // namespace weir
