// The rules in force: a rulebook together with what the limiter keeps for each of its parts, by their
// numbers.
//
// A reload makes another one out of the last. What both rulebooks share keeps its number, and what stands
// here for it; the rest is made anew, and the slots of its limits with it (slot_names.h). Immutable once
// built. Whoever has to wait for an answer keeps the rules that he asked under.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/keyed_hash.h"
#include "base/shared_array.h"
#include "limiter/slot_names.h"
#include "limiter/tally.h"
#include "rules/rulebook.h"

namespace weir {

// How the key of a limit is made from a request.
enum class KeyShape : uint8_t { kNothing, kSubject, kParts };

struct LimitInForce {
  const LimitSlot* slot = nullptr;  // null: unlimited, or
  bool without_slot = false;        // there was none left: whoever meets it is not decided
  Key salt;                         // the hash of the limit's identity
  LimitNumbers numbers;             // what is shown of it
  KeyShape shape = KeyShape::kSubject;
  bool remote = false;  // another store decides it
};

class RulesInForce : public std::enable_shared_from_this<RulesInForce> {
 public:
  // `before` may be null.
  RulesInForce(std::shared_ptr<const Rulebook> rules, const RulesInForce* before,
               const KeyedHash& hash, SlotNames& names, Instant now);

  const Rulebook& rules() const { return *rules_; }
  const std::shared_ptr<const Rulebook>& shared_rules() const { return rules_; }
  const LimitInForce& operator[](const RuleLimit& limit) const { return limits_[limit.index]; }

  Tally& TallyOf(const Resource& resource) const { return *tallies_[resource.index]; }
  // By the numbers of resources; null where there is none.
  const std::vector<Tally*>& tallies() const { return tallies_; }
  // Of the resource's limits and of those of the contracts beside them, by name.
  using LimitTallies = std::vector<std::shared_ptr<LimitTally>>;
  const LimitTallies& LimitTalliesOf(const Resource& resource) const {
    return resources_[resource.index]->limits;
  }
  // Of a descriptor rule's limit; null for other limits.
  LimitTally* DescriptorTallyOf(const RuleLimit& limit) const {
    return descriptor_tallies_[limit.index].get();
  }

 private:
  // What is counted of a resource.
  struct ResourceInForce {
    std::shared_ptr<Tally> tally;
    LimitTallies limits;
  };

  void AddLimits(const RulesInForce* before, const KeyedHash& hash, SlotNames& names, Instant now);
  void AddDescriptorTallies(std::span<const RuleLimit* const> leave,
                            std::span<const RuleLimit* const> come, const RulesInForce* before);
  void AddResources(const RulesInForce* before);
  std::shared_ptr<const ResourceInForce> MakeResource(const Rulebook::Numbered& one,
                                                      const RulesInForce* before) const;

  std::shared_ptr<const Rulebook> rules_;
  // Read by every decision: flat. By RuleLimit::index, and by Resource::index.
  std::vector<LimitInForce> limits_;
  std::vector<Tally*> tallies_;
  SharedArray<std::shared_ptr<const ResourceInForce>> resources_;  // by Resource::index
  SharedArray<std::shared_ptr<LimitTally>> descriptor_tallies_;    // by RuleLimit::index
};

}  // namespace weir
