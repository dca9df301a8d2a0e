#include "store/forgetting.h"

#include <algorithm>

namespace weir {

bool Forgetting::MayGo(const Worth& worth) const {
  if (worth.guard == Worth::Guard::kAlways) return false;
  const bool own = worth.owner == newcomer_.owner;
  if (newcomer_.deny && own) return false;
  if (newcomer_.own_only && !own) return false;
  return own || worth.guard == Worth::Guard::kNone;
}

void Forgetting::Meet(const Worth& worth) {
  Owner& owner = Of(worth.owner);
  owner.held += worth.bytes;
  held_ += worth.bytes;
  if (!MayGo(worth)) return;
  owner.forgets += worth.bytes;
  states_.push_back({RankOf(worth), worth.owner, worth.bytes});
}

// What an owner gives so that it holds no more than `level`.
uint64_t Forgetting::Excess(const Owner& owner, uint64_t level) {
  return owner.held <= level ? 0 : std::min(owner.held - level, owner.forgets);
}

uint64_t Forgetting::FreedAt(uint64_t level) const {
  uint64_t freed = 0;
  for (const Owner& owner : owners_) freed += Excess(owner, level);
  return freed;
}

// The highest level at which enough is freed: nobody gives more than it must.
void Forgetting::Free(uint64_t bytes) {
  uint64_t low = newcomer_.deny ? Of(newcomer_.owner).held : 0, high = low;
  for (const Owner& owner : owners_) high = std::max(high, owner.held);
  if (FreedAt(low) > bytes) {
    while (high - low > 1) {
      const uint64_t middle = low + (high - low) / 2;
      (FreedAt(middle) >= bytes ? low : high) = middle;
    }
  }
  size_t losers = 0;
  for (Owner& owner : owners_) {
    owner.quota = Excess(owner, low);
    losers += owner.quota > 0 ? 1 : 0;
  }
  std::erase_if(states_, [&](const Ranked& one) { return owners_[one.owner].quota == 0; });
  const auto by_owner = [](const Ranked& a, const Ranked& b) { return a.owner < b.owner; };
  if (losers > 1) std::sort(states_.begin(), states_.end(), by_owner);
  for (auto from = states_.begin(); from != states_.end();) {
    const auto to = std::find_if(from, states_.end(),
                                 [&](const Ranked& one) { return one.owner != from->owner; });
    FindBorder(owners_[from->owner], {from, to});
    from = to;
  }
}

// Halves what is left until one rank remains: below it all go, and of it as many as are needed.
void Forgetting::FindBorder(Owner& owner, std::span<Ranked> states) {
  const auto lower = [](const Ranked& a, const Ranked& b) { return a.rank < b.rank; };
  auto from = states.begin(), to = states.end();
  uint64_t left = owner.quota;
  while (to - from > 1) {
    const auto middle = from + (to - from) / 2;
    std::nth_element(from, middle, to, lower);
    uint64_t before = 0;
    for (auto it = from; it != middle; ++it) before += it->bytes;
    if (before >= left) {
      to = middle;
    } else {
      left -= before;
      from = middle;
    }
  }
  owner.below = from->rank;
  uint64_t surely = 0;
  for (const Ranked& one : states) surely += one.rank < owner.below ? one.bytes : 0;
  owner.at_border = static_cast<int64_t>(owner.quota) - static_cast<int64_t>(surely);
}

bool Forgetting::Takes(const Worth& worth) {
  if (worth.owner >= owners_.size()) return false;
  Owner& owner = owners_[worth.owner];
  if (owner.quota == 0 || !MayGo(worth)) return false;
  const uint64_t rank = RankOf(worth);
  if (rank < owner.below) return true;
  if (rank > owner.below || owner.at_border <= 0) return false;
  owner.at_border -= worth.bytes;
  return true;
}

}  // namespace weir
