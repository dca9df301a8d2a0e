#include "limiter/rules_in_force.h"

#include <algorithm>

#include <absl/container/flat_hash_map.h>

namespace weir {
namespace {

using SomeLimits = std::vector<const RuleLimit*>;

KeyShape ShapeOf(const RuleLimit& limit) {
  if (limit.key.empty()) return KeyShape::kNothing;
  const bool subject = limit.key.size() == 1 && limit.key[0] == KeyPart::kSubject;
  return subject ? KeyShape::kSubject : KeyShape::kParts;
}

bool IsOfDescriptor(const RuleLimit& limit) {
  return limit.identity.size() >= 3 && limit.identity[1] == "descriptor";
}

std::string DescriptorName(const RuleLimit& limit) {
  return limit.identity[0] + '\n' + limit.identity[2];
}

}  // namespace

RulesInForce::RulesInForce(std::shared_ptr<const Rulebook> rules, const RulesInForce* before,
                           const KeyedHash& hash, SlotNames& names, Instant now)
    : rules_(std::move(rules)) {
  AddLimits(before, hash, names, now);
  AddResources(before);
}

void RulesInForce::AddLimits(const RulesInForce* before, const KeyedHash& hash, SlotNames& names,
                             Instant now) {
  const SlotNames::Limits is = rules_->all();
  const SlotNames::Limits was = before == nullptr ? SlotNames::Limits() : before->rules_->all();
  SomeLimits leave, come;
  for (size_t i = 0; i < std::max(is.size(), was.size()); ++i) {
    const RuleLimit* old = i < was.size() ? was[i] : nullptr;
    const RuleLimit* next = i < is.size() ? is[i] : nullptr;
    if (old == next) continue;
    if (old != nullptr) leave.push_back(old);
    if (next != nullptr) come.push_back(next);
  }
  limits_.reserve(is.size());
  if (before != nullptr) {
    const size_t both = std::min(is.size(), before->limits_.size());
    limits_.assign(before->limits_.begin(), before->limits_.begin() + static_cast<ptrdiff_t>(both));
  }
  limits_.resize(is.size());
  const std::vector<const LimitSlot*> slots = names.Change(leave, come, now);
  for (size_t i = 0; i < come.size(); ++i) {
    const RuleLimit& limit = *come[i];
    limits_[limit.index] = {.slot = slots[i],
                            .without_slot = slots[i] == nullptr && !limit.unlimited,
                            .salt = hash.OfAll(limit.identity),
                            .numbers = limit.unlimited ? LimitNumbers{kUnlimited, {}, kUnlimited}
                                                       : Numbers(limit.limit),
                            .shape = ShapeOf(limit),
                            .remote = slots[i] != nullptr && slots[i]->traits.remote};
  }
  AddDescriptorTallies(leave, come, before);
}

void RulesInForce::AddDescriptorTallies(std::span<const RuleLimit* const> leave,
                                        std::span<const RuleLimit* const> come,
                                        const RulesInForce* before) {
  SharedArray<std::shared_ptr<LimitTally>> none;
  SharedArray<std::shared_ptr<LimitTally>>::Edit edit(
      before == nullptr ? none : before->descriptor_tallies_);
  edit.Grow(rules_->all().size());
  absl::flat_hash_map<std::string, std::shared_ptr<LimitTally>> known;
  for (const RuleLimit* limit : leave) {
    if (!IsOfDescriptor(*limit)) continue;
    known[DescriptorName(*limit)] = edit[limit->index];
    edit.At(limit->index).reset();
  }
  for (const RuleLimit* limit : come) {
    if (!IsOfDescriptor(*limit)) continue;
    std::shared_ptr<LimitTally>& tally = known[DescriptorName(*limit)];
    if (tally == nullptr) tally = std::make_shared<LimitTally>(limit->identity[2]);
    edit.At(limit->index) = tally;
  }
  descriptor_tallies_ = std::move(edit).Finish();
}

void RulesInForce::AddResources(const RulesInForce* before) {
  const uint32_t count = rules_->resource_bound();
  const uint32_t known = before == nullptr ? 0 : before->rules_->resource_bound();
  SharedArray<std::shared_ptr<const ResourceInForce>> none;
  SharedArray<std::shared_ptr<const ResourceInForce>>::Edit edit(
      before == nullptr ? none : before->resources_);
  edit.Grow(count);
  if (before != nullptr) tallies_ = before->tallies_;
  tallies_.resize(std::max(count, known));
  for (uint32_t i = 0; i < std::max(count, known); ++i) {
    const Rulebook::Numbered is = i < count ? rules_->ResourceAt(i) : Rulebook::Numbered{};
    const Rulebook::Numbered was = i < known ? before->rules_->ResourceAt(i) : Rulebook::Numbered{};
    if (is == was) continue;
    std::shared_ptr<const ResourceInForce>& place = edit.At(i);
    place = is.resource == nullptr ? nullptr : MakeResource(is, before);
    tallies_[i] = place == nullptr ? nullptr : place->tally.get();
  }
  resources_ = std::move(edit).Finish();
}

// What was counted of a resource of this name goes on.
std::shared_ptr<const RulesInForce::ResourceInForce> RulesInForce::MakeResource(
    const Rulebook::Numbered& one, const RulesInForce* before) const {
  const Resource* was =
      before == nullptr ? nullptr : before->rules_->FindResource(one.ns->name, one.resource->name);
  const ResourceInForce* old = was == nullptr ? nullptr : before->resources_[was->index].get();
  const auto made = std::make_shared<ResourceInForce>();
  made->tally = old == nullptr ? std::make_shared<Tally>() : old->tally;
  const auto named = [](const LimitTallies& all, const std::string& name) {
    const auto is_it = [&](const auto& tally) { return tally->name == name; };
    const auto found = std::find_if(all.begin(), all.end(), is_it);
    return found == all.end() ? nullptr : *found;
  };
  const auto add = [&](const RuleLimit& limit) {
    if (named(made->limits, limit.name) != nullptr) return;
    std::shared_ptr<LimitTally> tally = old == nullptr ? nullptr : named(old->limits, limit.name);
    made->limits.push_back(tally != nullptr ? tally : std::make_shared<LimitTally>(limit.name));
  };
  for (const RuleLimit& limit : one.resource->limits) add(limit);
  for (const Contract& contract : one.ns->contracts) {
    for (const RuleLimit& limit : contract.limits) add(limit);
  }
  return made;
}

}  // namespace weir
