#include "lab/chaos/checks/truth.h"

#include <algorithm>

namespace weir::chaos {

Truth::Truth(const Scenario& scenario) : kind_(scenario.kind), nodes_(scenario.nodes()) {
  for (const Limit& limit : scenario.limits) of_.push_back({.ticks = Ticks(limit)});
  for (OfNode& node : nodes_) node.known.resize(scenario.keys());
}

void Truth::See(const Happening& h, const Cluster& cluster) {
  switch (h.what) {
    case What::kStart:
      nodes_[h.node].since = h.at;
      for (auto& known : nodes_[h.node].known) known.clear();
      for (OfKey& key : of_) key.nodes |= NodeSet{1} << h.node;
      break;
    case What::kEnd:
      for (OfKey& key : of_) ++key.ends;
      break;
    case What::kAway: nodes_[h.node].away = true; break;
    case What::kBack: nodes_[h.node].away = false, nodes_[h.node].away_until = h.at; break;
    case What::kCut: SeeCut(*h.action, 1, h.at); break;
    case What::kMend: SeeCut(*h.action, -1, h.at); break;
    case What::kReceive: travel_ = std::max(travel_, h.travelled); break;
    case What::kRequest:
    case What::kTake:
    case What::kRefund:
      if (!Flows(h.key)) break;
      BringTo(of_[h.key], h.at, cluster.members());
      SeeUse(h);
      break;
    default: break;
  }
  for (const RowChange& change : h.changes) {
    if (change.after != nullptr && Flows(change.key)) SeeChange(h, change);
  }
}

void Truth::BringTo(OfKey& key, Instant now, NodeSet members) {
  const int128 gone = key.ticks.In(now - key.at) * (kMillion + kMostDriftPpm);
  key.debt -= gone;
  key.gross -= gone;
  key.at = now;
  // To a node that dates charges late, the period ends later, or does not end.
  key.idle += std::max<int128>(0, -key.debt);
  key.debt = std::max<int128>(0, key.debt);
  const auto hops = static_cast<int64_t>(nodes_.size());
  const int128 late = key.ticks.In(hops * LongestTravel()) * (kMillion + kMostDriftPpm);
  if (key.gross + late <= 0) key.refunds.clear(), key.blind = 0;
  if (key.debt > 0 || key.idle <= late) return;
  key.idle = 0;
  key.log.clear();
  key.by_row.clear();
  key.nodes = members;
  key.ends = 0;
  key.taken = 0;
  key.lag_together = key.lag_apart = Duration{};
}

void Truth::SeeUse(const Happening& h) {
  OfKey& key = of_[h.key];
  const int128 units = Units(h.key, h.cost);
  if (h.what == What::kRefund) {
    const uint64_t given = NoteRefund(key, h);
    const int128 back = kind_ == EnvelopeKind::kDebt ? Units(h.key, given) : units;
    key.debt = std::max<int128>(0, key.debt - back);
    return;
  }
  if (h.what == What::kRequest && !h.admitted) return;
  if (h.what == What::kTake) key.taken += units;
  key.debt += units;
  key.gross = std::max<int128>(0, key.gross) + units;
  key.nodes |= NodeSet{1} << h.node;
  NoteCharge(key, h);
}

void Truth::NoteCharge(OfKey& key, const Happening& h) {
  for (const RowChange& change : h.changes) {
    if (change.after == nullptr || change.name.origin.node != h.node) continue;
    const uint64_t before = change.before != nullptr ? change.before->charged : 0;
    key.written[change.name] = change.after->charged;
    key.by_row[change.name].push_back(static_cast<uint32_t>(key.log.size()));
    key.log.push_back({h.at, h.node, change.name, before, change.after->charged});
  }
  for (Refunded& refund : key.refunds) {
    if (refund.blind || Known(h.key, h.node, refund.row).refunded >= refund.to) continue;
    refund.blind = true;
    key.blind += refund.tokens;
  }
}

uint64_t Truth::NoteRefund(OfKey& key, const Happening& h) const {
  uint64_t given = 0;
  for (const RowChange& change : h.changes) {
    if (change.after == nullptr || change.before == nullptr) continue;
    const uint64_t tokens = change.after->refunded - change.before->refunded;
    const bool over = !key.by_row.contains(change.name);
    key.refunds.push_back({change.name, change.after->refunded, tokens, over});
    (over ? key.blind : given) += tokens;  // to some nodes it may not be over
  }
  return given;
}

void Truth::SeeChange(const Happening& h, const RowChange& change) {
  OfKey& key = of_[change.key];
  Numbers& numbers = nodes_[h.node].known[change.key][change.name];
  const uint64_t before = numbers.charged;
  numbers.refunded = std::max(numbers.refunded, change.after->refunded);
  const uint64_t known = numbers.charged = std::max(before, change.after->charged);
  if (known == before || change.name.origin.node == h.node) return;
  const auto charges = key.by_row.find(change.name);
  if (charges == key.by_row.end()) return;
  for (const uint32_t i : charges->second) {
    const Charge& charge = key.log[i];
    if (charge.to <= before) continue;
    if (charge.to > known) break;
    const Instant from = std::max(charge.at, nodes_[h.node].since);
    Duration& lag =
        ApartUntil(charge.node, h.node, h.at) >= from ? key.lag_apart : key.lag_together;
    lag = std::max(lag, h.at - from);
    break;  // the oldest has taken longest
  }
}

void Truth::SeeCut(const Action& cut, int change, Instant now) {
  for (uint32_t a = 0; a < nodes_.size(); ++a) {
    for (uint32_t b = 0; b < nodes_.size(); ++b) {
      if (!(Has(cut.from, a) && Has(cut.to, b)) && !(Has(cut.from, b) && Has(cut.to, a))) continue;
      nodes_[a].cuts[b] += change;
      nodes_[a].cut_until[b] = now;
    }
  }
}

Instant Truth::ApartUntil(uint32_t a, uint32_t b, Instant now) const {
  const OfNode &one = nodes_[a], &other = nodes_[b];
  if (one.cuts[b] > 0 || one.away || other.away) return now;
  return std::max({one.cut_until[b], one.away_until, other.away_until});
}

Truth::Numbers Truth::Known(uint32_t key, uint32_t node, const RowName& row) const {
  const auto& known = nodes_[node].known[key];
  const auto found = known.find(row);
  return found == known.end() ? Numbers{} : found->second;
}

int128 Truth::Unknown(uint32_t key, uint32_t node) const {
  uint64_t sum = 0;
  for (const Charge& charge : of_[key].log) {
    const uint64_t known = std::max(charge.from, Known(key, node, charge.row).charged);
    if (known < charge.to) sum += charge.to - known;
  }
  return Units(key, sum);
}

int128 Truth::Untold(uint32_t key, uint32_t node, uint64_t capacity) const {
  uint64_t sum = 0;
  for (const auto& [row, charged] : of_[key].written) {
    const uint64_t known = Known(key, node, row).charged;
    if (known < charged) sum += charged - known;
  }
  return Units(key, std::min(sum, capacity));
}

Duration Truth::Lag(uint32_t key, bool apart, Instant now, const Cluster& cluster) const {
  const OfKey& of = of_[key];
  Duration lag = apart ? of.lag_apart : of.lag_together;
  for (const Charge& charge : of.log) {
    if (now - charge.at <= lag) break;
    if (cluster.origin(charge.node) != charge.row.origin) continue;
    for (uint32_t node = 0; node < nodes_.size(); ++node) {
      if (!Has(cluster.members(), node) || Known(key, node, charge.row).charged >= charge.to)
        continue;
      const Instant from = std::max(charge.at, nodes_[node].since);
      if ((ApartUntil(charge.node, node, now) >= from) == apart) lag = std::max(lag, now - from);
    }
  }
  return lag;
}

uint32_t Truth::Groups(uint32_t key, Duration lag, Instant now) const {
  std::vector<std::vector<uint32_t>> groups;
  for (uint32_t node = 0; node < nodes_.size(); ++node) {
    if (!Has(of_[key].nodes, node)) continue;
    const auto fits = std::find_if(groups.begin(), groups.end(), [&](const auto& group) {
      return std::all_of(group.begin(), group.end(),
                         [&](uint32_t other) { return now - ApartUntil(node, other, now) > lag; });
    });
    if (fits == groups.end()) {
      groups.push_back({node});
    } else {
      fits->push_back(node);
    }
  }
  return static_cast<uint32_t>(std::max<size_t>(1, groups.size()));
}

}  // namespace weir::chaos
