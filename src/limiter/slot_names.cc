#include "limiter/slot_names.h"

#include <algorithm>

#include <absl/container/flat_hash_set.h>

#include "rules/print/limit_text.h"

namespace weir {

Replication ReplicationOf(const Coordination& coordination) {
  if (coordination.kind != Coordination::Kind::kReplicated) return Replication::kNone;
  if (coordination.variant == "counter") return Replication::kCounter;
  return coordination.variant == "queue" ? Replication::kQueue : Replication::kDebt;
}

bool Placement::IsRemote(const RuleLimit& limit) const {
  if (!has_remote || std::holds_alternative<Copies>(limit.limit)) return false;
  return all_remote || limit.coordination.kind == Coordination::Kind::kShared;
}

namespace slot_names {
namespace {

// Parts with their lengths: no two lists make the same name.
std::string BaseName(const RuleLimit& limit) {
  std::string name;
  for (const std::string& part : limit.identity) name += std::to_string(part.size()) + ':' + part;
  return name;
}

std::string NameOf(const RuleLimit& limit) {
  std::string name = BaseName(limit);
  if (!limit.only_for.empty()) name += '@' + limit.only_for;
  return name;
}

SlotTraits TraitsOf(const RuleLimit& limit, const Placement& placement) {
  return {.on_failure = limit.on_failure,
          .remote = placement.IsRemote(limit),
          .persist = limit.persist,
          .replication = ReplicationOf(limit.coordination)};
}

bool Same(const LimitSlot& slot, const RuleLimit& limit, const Placement& placement) {
  return SameNumbers(slot.limit, limit.limit) && slot.traits == TraitsOf(limit, placement);
}

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
}  // namespace slot_names

using slot_names::BaseName;
using slot_names::NameOf;

std::vector<const LimitSlot*> SlotNames::Change(Limits leave, Limits come, Instant now) {
  std::vector<const LimitSlot*> slots(come.size(), nullptr);
  Slots coming;
  // What overrides something comes after what it overrides, whose slot it may share.
  for (const bool overrides : {false, true}) {
    for (size_t i = 0; i < come.size(); ++i) {
      if (come[i]->unlimited || come[i]->only_for.empty() == overrides) continue;
      std::string name = NameOf(*come[i]);
      slots[i] = SlotFor(*come[i], name, coming, now);
      if (slots[i] != nullptr) coming.emplace(std::move(name), slots[i]);
    }
  }
  Retire(leave, coming, now);
  TakeBack(coming, now);
  for (const bool overrides : {false, true}) {
    for (size_t i = 0; i < come.size(); ++i) {
      if (slots[i] == nullptr || !come[i]->persist || come[i]->only_for.empty() == overrides)
        continue;
      std::string name = NameOf(*come[i]);
      const auto kept = persistent_.insert_or_assign(
          name, Persistent{name, slot_names::NumbersText(*come[i]), slots[i]});
      by_slot_.emplace(slots[i], &kept.first->second);
    }
  }
  in_force_.insert(coming.begin(), coming.end());
  return slots;
}

const LimitSlot* SlotNames::SlotFor(const RuleLimit& limit, const std::string& name,
                                    const Slots& coming, Instant now) {
  const auto before = in_force_.find(name);
  if (before != in_force_.end() && slot_names::Same(*before->second, limit, placement_))
    return before->second;
  if (!limit.only_for.empty()) {
    const auto base = coming.find(BaseName(limit));
    if (base != coming.end() && slot_names::Same(*base->second, limit, placement_))
      return base->second;
  }
  return limits_.Add(limit.limit, slot_names::TraitsOf(limit, placement_), now, limit.identity[0]);
}

// Slots that are no longer in use lead to what took their place. One that an override shares with what
// it overrides is kept under the name of the latter, which therefore goes first.
void SlotNames::Retire(Limits leave, const Slots& coming, Instant now) {
  absl::flat_hash_set<const LimitSlot*> done;
  for (const auto& [name, slot] : coming) done.insert(slot);
  for (const bool overrides : {false, true}) {
    for (const RuleLimit* limit : leave) {
      if (limit->only_for.empty() != overrides) RetireOne(*limit, coming, done, now);
    }
  }
}

void SlotNames::RetireOne(const RuleLimit& limit, const Slots& coming,
                          absl::flat_hash_set<const LimitSlot*>& done, Instant now) {
  const std::string name = NameOf(limit);
  const auto was = in_force_.find(name);
  if (was == in_force_.end()) return;  // unlimited, or there was no slot left
  const LimitSlot* slot = was->second;
  in_force_.erase(was);
  if (const auto kept = persistent_.find(name); kept != persistent_.end()) {
    const auto by_slot = by_slot_.find(slot);
    if (by_slot != by_slot_.end() && by_slot->second == &kept->second) by_slot_.erase(by_slot);
    persistent_.erase(kept);
  }
  if (!done.insert(slot).second) return;
  auto next = coming.find(name);
  if (next == coming.end() && !limit.only_for.empty()) next = coming.find(BaseName(limit));
  if (next != coming.end()) {
    limits_.Replace(slot, slot->serial, next->second, now);
  } else {
    limits_.Retire(slot);
    gone_[name] = {slot, slot->serial};
  }
}

void SlotNames::TakeBack(const Slots& coming, Instant now) {
  for (const auto& [name, slot] : coming) {
    const auto back = gone_.find(name);
    if (back == gone_.end()) continue;
    limits_.Replace(back->second.slot, back->second.serial, slot, now);
    gone_.erase(back);
  }
  if (gone_.size() < look_through_gone_at_) return;
  absl::erase_if(
      gone_, [&](const auto& one) { return !limits_.IsInUse(one.second.slot, one.second.serial); });
  look_through_gone_at_ = std::max<size_t>(64, 2 * gone_.size());
}

const SlotNames::Persistent* SlotNames::FindPersistent(const LimitSlot& slot) const {
  const auto found = by_slot_.find(&slot);
  return found == by_slot_.end() ? nullptr : found->second;
}

const SlotNames::Persistent* SlotNames::FindPersistent(std::string_view name) const {
  const auto found = persistent_.find(std::string(name));
  return found == persistent_.end() ? nullptr : &found->second;
}

std::vector<std::string> SlotNames::PersistentNames() const {
  std::vector<std::string> names;
  for (const auto& [name, one] : persistent_) names.push_back(name);
  return names;
}

}  // namespace weir
