#include "limiter/rules_in_force.h"

#include <algorithm>

#include <absl/container/flat_hash_set.h>

#include "rules/limit_text.h"

namespace weir {

Sharing SharingOf(const Coordination& coordination) {
  if (coordination.kind != Coordination::Kind::kReplicated) return Sharing::kNone;
  if (coordination.variant == "counter") return Sharing::kCounter;
  return coordination.variant == "queue" ? Sharing::kQueue : Sharing::kDebt;
}

bool Placement::IsRemote(const RuleLimit& limit) const {
  if (!has_remote || std::holds_alternative<Copies>(limit.limit)) return false;
  return all_remote || limit.coordination.kind == Coordination::Kind::kShared;
}

namespace {

// Parts with their lengths: no two lists make the same name.
std::string Join(const std::vector<std::string>& parts) {
  std::string name;
  for (const std::string& part : parts) name += std::to_string(part.size()) + ':' + part;
  return name;
}

KeyShape ShapeOf(const RuleLimit& limit) {
  if (limit.key.empty()) return KeyShape::kNothing;
  const bool subject = limit.key.size() == 1 && limit.key[0] == KeyPart::kSubject;
  return subject ? KeyShape::kSubject : KeyShape::kParts;
}

SlotTraits TraitsOf(const RuleLimit& limit, const Placement& placement) {
  return {.on_failure = limit.on_failure,
          .remote = placement.IsRemote(limit),
          .persist = limit.persist,
          .sharing = SharingOf(limit.coordination)};
}

bool Same(const LimitSlot& slot, const RuleLimit& limit, const Placement& placement) {
  return SameNumbers(slot.limit, limit.limit) && slot.traits == TraitsOf(limit, placement);
}

// All that a state's meaning depends on.
std::string NumbersText(const RuleLimit& rule) {
  const auto* tiers = std::get_if<BurstTiers>(&rule.limit);
  if (tiers == nullptr) return PrintFlow(NumberFields(rule));
  std::string text = "tiers";
  for (const BurstTiers::Tier& tier : tiers->tiers) {
    for (const int64_t n : {static_cast<int64_t>(tier.limit), tier.window.count(),
                            tier.active.count(), tier.cooldown.count()}) {
      text += ' ' + std::to_string(n);
    }
    text += tier.skippable ? " skippable" : "";
  }
  return text;
}

}  // namespace

// What overrides something comes after what it overrides.
std::vector<RulesInForce::Named> RulesInForce::NameAll(const Rulebook& rules) {
  std::vector<Named> overriding(rules.all().size());
  for (const Namespace& ns : rules.namespaces()) {
    for (const Resource& resource : ns.resources) {
      for (const Override& override : resource.overrides) {
        for (const RuleLimit& limit : override.limits) {
          const std::string base = Join(limit.identity);
          overriding[limit.index] = {base + '@' + override.subject, base, &limit};
        }
      }
    }
  }
  std::vector<Named> named;
  for (const RuleLimit* limit : rules.all()) {
    if (overriding[limit->index].limit == nullptr)
      named.push_back({Join(limit->identity), "", limit});
  }
  for (Named& one : overriding) {
    if (one.limit != nullptr) named.push_back(std::move(one));
  }
  return named;
}

RulesInForce::RulesInForce(std::shared_ptr<const Rulebook> rules, const RulesInForce* before,
                           const KeyedHash& hash, LimitTable& limits, GoneByName& gone,
                           Placement placement, Instant now)
    : placement_(placement),
      rules_(std::move(rules)),
      limits_(rules_->all().size()),
      named_(NameAll(*rules_)) {
  for (const Named& named : named_) {
    LimitInForce& in_force = limits_[named.limit->index];
    in_force.salt = hash.OfAll(named.limit->identity);
    in_force.shape = ShapeOf(*named.limit);
    in_force.numbers = named.limit->unlimited ? LimitNumbers{kUnlimited, {}, kUnlimited}
                                              : Numbers(named.limit->limit);
    if (named.limit->unlimited) continue;
    in_force.slot = SlotFor(named, before, limits, now);
    in_force.without_slot = in_force.slot == nullptr;
    if (in_force.without_slot) continue;
    in_force.remote = in_force.slot->traits.remote;
    by_name_.emplace(named.name, in_force.slot);
    if (named.limit->persist) {
      persistent_.push_back({named.name, NumbersText(*named.limit), in_force.slot});
    }
  }
  if (before != nullptr) Retire(*before, limits, gone, now);
  TakeBack(limits, gone, now);
  AddTallies(before);
  AddDescriptorTallies(before);
}

const RulesInForce::Persistent* RulesInForce::FindPersistent(const LimitSlot& slot) const {
  const auto is_it = [&](const Persistent& one) { return one.slot == &slot; };
  const auto found = std::find_if(persistent_.begin(), persistent_.end(), is_it);
  return found == persistent_.end() ? nullptr : &*found;
}

const RulesInForce::Persistent* RulesInForce::FindPersistent(std::string_view name) const {
  const auto is_it = [&](const Persistent& one) { return one.name == name; };
  const auto found = std::find_if(persistent_.begin(), persistent_.end(), is_it);
  return found == persistent_.end() ? nullptr : &*found;
}

const LimitSlot* RulesInForce::SlotFor(const Named& named, const RulesInForce* before,
                                       LimitTable& limits, Instant now) const {
  if (before != nullptr) {
    const auto found = before->by_name_.find(named.name);
    if (found != before->by_name_.end() && Same(*found->second, *named.limit, placement_)) {
      return found->second;
    }
  }
  if (!named.base.empty()) {
    const auto base = by_name_.find(named.base);
    if (base != by_name_.end() && Same(*base->second, *named.limit, placement_))
      return base->second;
  }
  return limits.Add(named.limit->limit, TraitsOf(*named.limit, placement_), now,
                    named.limit->identity[0]);
}

// Slots that are no longer in use lead to what took their place.
void RulesInForce::Retire(const RulesInForce& before, LimitTable& limits, GoneByName& gone,
                          Instant now) const {
  absl::flat_hash_set<const LimitSlot*> done;
  for (const auto& [name, slot] : by_name_) done.insert(slot);
  for (const Named& named : before.named_) {
    const auto was = before.by_name_.find(named.name);
    if (was == before.by_name_.end() || !done.insert(was->second).second) continue;
    auto next = by_name_.find(named.name);
    if (next == by_name_.end() && !named.base.empty()) next = by_name_.find(named.base);
    if (next != by_name_.end()) {
      limits.Replace(was->second, was->second->serial, next->second, now);
    } else {
      limits.Retire(was->second);
      gone[named.name] = {was->second, was->second->serial};
    }
  }
}

void RulesInForce::TakeBack(LimitTable& limits, GoneByName& gone, Instant now) const {
  for (auto it = gone.begin(); it != gone.end();) {
    const auto [slot, serial] = it->second;
    const auto back = by_name_.find(it->first);
    if (back != by_name_.end()) limits.Replace(slot, serial, back->second, now);
    const bool settled = back != by_name_.end() || slot->serial != serial;
    const auto here = it++;
    if (settled) gone.erase(here);
  }
}

void RulesInForce::AddTallies(const RulesInForce* before) {
  for (const Namespace& ns : rules_->namespaces()) {
    for (const Resource& resource : ns.resources) {
      if (tallies_.size() <= resource.index) tallies_.resize(resource.index + 1);
      const Resource* was =
          before == nullptr ? nullptr : before->rules_->FindResource(ns.name, resource.name);
      MarkTiers(resource.limits);
      for (const Override& override : resource.overrides) MarkTiers(override.limits);
      tallies_[resource.index] =
          was == nullptr ? std::make_shared<Tally>() : before->tallies_[was->index];
      AddLimitTallies(ns, resource, was == nullptr ? nullptr : &before->limit_tallies_[was->index]);
    }
  }
}

void RulesInForce::AddLimitTallies(const Namespace& ns, const Resource& resource,
                                   const LimitTallies* before) {
  if (limit_tallies_.size() <= resource.index) limit_tallies_.resize(resource.index + 1);
  LimitTallies& tallies = limit_tallies_[resource.index];
  const auto named = [](const LimitTallies& all, const std::string& name) {
    const auto is_it = [&](const auto& tally) { return tally->name == name; };
    const auto found = std::find_if(all.begin(), all.end(), is_it);
    return found == all.end() ? nullptr : *found;
  };
  const auto add = [&](const RuleLimit& limit) {
    if (named(tallies, limit.name) != nullptr) return;
    std::shared_ptr<LimitTally> tally = before == nullptr ? nullptr : named(*before, limit.name);
    tallies.push_back(tally != nullptr ? tally : std::make_shared<LimitTally>(limit.name));
  };
  for (const RuleLimit& limit : resource.limits) add(limit);
  for (const Contract& contract : ns.contracts) {
    for (const RuleLimit& limit : contract.limits) add(limit);
  }
}

void RulesInForce::AddDescriptorTallies(const RulesInForce* before) {
  absl::flat_hash_map<std::string, std::shared_ptr<LimitTally>> known;
  if (before != nullptr) {
    for (const auto& [ns, tally] : before->descriptor_tallies_)
      known[ns + '\n' + tally->name] = tally;
  }
  descriptor_tally_.resize(limits_.size());
  for (const RuleLimit* limit : rules_->all()) {
    if (limit->identity.size() < 3 || limit->identity[1] != "descriptor") continue;
    std::shared_ptr<LimitTally>& tally = known[limit->identity[0] + '\n' + limit->identity[2]];
    if (tally == nullptr) tally = std::make_shared<LimitTally>(limit->identity[2]);
    descriptor_tally_[limit->index] = tally;
    descriptor_tallies_.push_back({limit->identity[0], tally});
  }
}

// A resource's tiers come after its other limits, and the hard and global limits after the tiers.
void RulesInForce::MarkTiers(std::span<const RuleLimit> limits) {
  bool of_tiers = false;
  for (const RuleLimit& limit : limits) {
    of_tiers = of_tiers || std::holds_alternative<BurstTiers>(limit.limit);
    limits_[limit.index].of_tiers = of_tiers;
  }
}

}  // namespace weir
