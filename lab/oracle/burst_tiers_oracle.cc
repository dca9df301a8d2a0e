#include "lab/oracle/burst_tiers_oracle.h"

namespace weir::oracle {

BurstTiersOracle::BurstTiersOracle(std::vector<BurstTiers::Tier> tiers) {
  for (const BurstTiers::Tier& tier : tiers) tiers_.push_back({tier, std::nullopt, {}});
}

int64_t BurstTiersOracle::NotBefore(Instant now) const {
  int64_t latest = ToNanos(now);
  for (const TierHistory& tier : tiers_) {
    if (tier.entry) latest = std::max(latest, *tier.entry);
    if (!tier.hits.empty()) latest = std::max(latest, tier.hits.back().at);
  }
  return latest;
}

BurstTiersOracle::State BurstTiersOracle::StateOf(const TierHistory& tier, int64_t now) {
  if (!tier.entry) return State::kInactive;
  const int128 since = int128{now} - *tier.entry;
  const int128 active = tier.numbers.active.count();
  if (since < active) return State::kActive;
  return since < active + tier.numbers.cooldown.count() ? State::kCooling : State::kInactive;
}

uint128 BurstTiersOracle::Count(const TierHistory& tier, int64_t now) {
  uint128 count = 0;
  for (const Hit& hit : tier.hits) {
    if (int128{now} - hit.at <= tier.numbers.window.count()) count += hit.n;
  }
  return count;
}

int BurstTiersOracle::Current(int64_t now) const {
  int current = -1;
  for (size_t i = 0; i < tiers_.size(); ++i) {
    if (StateOf(tiers_[i], now) == State::kActive) current = static_cast<int>(i);
  }
  return current;
}

BurstTiersOracle::Grants BurstTiersOracle::Walk(uint64_t n, int64_t now) const {
  Grants grants{};
  const int current = Current(now);
  for (size_t i = static_cast<size_t>(std::max(current, 0)); i < tiers_.size(); ++i) {
    const TierHistory& tier = tiers_[i];
    if (StateOf(tier, now) == State::kCooling) {
      if (!tier.numbers.skippable) break;
      continue;
    }
    const uint128 count = Count(tier, now);
    if (count >= tier.numbers.limit) continue;
    grants[i] = std::min(n, tier.numbers.limit - static_cast<uint64_t>(count));
    n -= grants[i];
  }
  return grants;
}

std::optional<uint64_t> BurstTiersOracle::Room(Instant instant) const {
  const int64_t now = NotBefore(instant);
  uint64_t room = 0;
  for (const uint64_t n : Walk(UINT64_MAX, now)) room += n;
  return room;
}

void BurstTiersOracle::Record(size_t tier, uint64_t n, int64_t now, uint64_t ticket) {
  std::vector<Hit>& hits = tiers_[tier].hits;
  const int64_t window = tiers_[tier].numbers.window.count();
  std::erase_if(hits, [&](const Hit& hit) { return int128{now} - hit.at > window; });
  hits.push_back({now, n, ticket});
}

void BurstTiersOracle::Take(uint64_t n, Instant instant, uint64_t ticket) {
  burst_ = false;
  const int64_t now = NotBefore(instant);
  const Grants grants = Walk(n, now);
  for (size_t i = 0; i < tiers_.size(); ++i) {
    if (grants[i] == 0) continue;
    if (StateOf(tiers_[i], now) == State::kInactive) {
      tiers_[i].entry = now;
      burst_ = true;
    }
    Record(i, grants[i], now, ticket);
  }
}

void BurstTiersOracle::Charge(uint64_t n, Instant instant) {
  if (tiers_.empty()) return;
  const int64_t now = NotBefore(instant);
  const auto tier = static_cast<size_t>(std::max(Current(now), 0));
  if (StateOf(tiers_[tier], now) == State::kInactive) tiers_[tier].entry = now;
  Record(tier, n, now, 0);
}

uint128 BurstTiersOracle::Refund(uint64_t ticket, uint64_t n, Instant instant) {
  const int64_t now = NotBefore(instant);
  uint64_t given = 0;
  for (auto tier = tiers_.rbegin(); tier != tiers_.rend(); ++tier) {
    for (Hit& hit : tier->hits) {
      const bool counts = int128{now} - hit.at <= tier->numbers.window.count();
      if (hit.ticket != ticket || !counts) continue;
      const uint64_t back = std::min(n - given, hit.n);
      hit.n -= back;
      given += back;
    }
    std::erase_if(tier->hits, [](const Hit& hit) { return hit.n == 0; });
  }
  return given;
}

Instant BurstTiersOracle::When(uint64_t n, Instant from) const {
  uint128 capacity = 0;
  for (const TierHistory& tier : tiers_) capacity += tier.numbers.limit;
  if (n > capacity) return kEndOfTime;
  if (*Room(from) >= n) return from;
  std::vector<Instant> instants;
  Changes(from, &instants);
  std::sort(instants.begin(), instants.end());
  for (const Instant instant : instants) {
    if (*Room(instant) >= n) return instant;
  }
  return kLastInstant;  // when all tiers are inactive and empty, which cannot be told
}

Instant BurstTiersOracle::Reset(Instant instant) const {
  const int64_t now = NotBefore(instant);
  int128 reset = now;
  for (const TierHistory& tier : tiers_) {
    if (StateOf(tier, now) != State::kInactive) {
      const int128 ends = int128{tier.numbers.active.count()} + tier.numbers.cooldown.count();
      reset = std::max(reset, *tier.entry + ends);
    }
    for (const Hit& hit : tier.hits) {
      const int128 leaves = int128{hit.at} + tier.numbers.window.count() + 1;
      reset = std::max(reset, leaves);
    }
  }
  return reset == now ? instant : Clamp(reset);
}

uint64_t BurstTiersOracle::Use(Instant instant) const {
  uint128 use = 0;
  for (const TierHistory& tier : tiers_) use += Count(tier, NotBefore(instant));
  return static_cast<uint64_t>(std::min<uint128>(use, UINT64_MAX));
}

Model::TierView BurstTiersOracle::Tier(Instant instant) const {
  const int64_t now = NotBefore(instant);
  const int current = Current(now);
  if (current < 0) return {0, 0, 0, burst_};
  const TierHistory& tier = tiers_[static_cast<size_t>(current)];
  const uint128 hits = std::min<uint128>(Count(tier, now), UINT64_MAX);
  return {static_cast<uint64_t>(current) + 1, tier.numbers.limit, static_cast<uint64_t>(hits),
          burst_};
}

void BurstTiersOracle::Changes(Instant now, std::vector<Instant>* out) const {
  const auto add = [&](int128 nanos) {
    if (nanos > ToNanos(now)) out->push_back(Clamp(nanos));
  };
  for (const TierHistory& tier : tiers_) {
    if (tier.entry) {
      const int128 cools = int128{*tier.entry} + tier.numbers.active.count();
      add(cools);
      add(cools + tier.numbers.cooldown.count());
    }
    for (const Hit& hit : tier.hits) add(int128{hit.at} + tier.numbers.window.count() + 1);
  }
}

}  // namespace weir::oracle
