// The rules in force: a rulebook together with what the limiter keeps for each of its parts.
//
// A reload makes another one out of the last: a limit whose numbers are unchanged keeps its slot in
// the store, one with other numbers gets a new slot that the old one leads to, and a limit that is
// gone leaves its states behind until they expire, or until it comes back. Immutable once built. Whoever
// has to wait for an answer keeps the rules that he asked under.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <absl/container/flat_hash_map.h>

#include "base/keyed_hash.h"
#include "limiter/tally.h"
#include "rules/rulebook.h"
#include "store/limit_table.h"

namespace weir {

// By which nodes count it together.
Sharing SharingOf(const Coordination& coordination);

// How the key of a limit is made from a request.
enum class KeyShape : uint8_t { kNothing, kSubject, kParts };

struct LimitInForce {
  const LimitSlot* slot = nullptr;  // null: unlimited, or
  bool without_slot = false;        // there was none left: whoever meets it is not decided
  Key salt;                         // the hash of the limit's identity
  LimitNumbers numbers;             // what is shown of it
  KeyShape shape = KeyShape::kSubject;
  bool of_tiers = false;  // burst tiers, or the hard or global limit beside them
  bool remote = false;    // another store decides it
};

// Which limits this process's memory does not decide.
struct Placement {
  bool has_remote = false;  // there is another store
  bool all_remote = false;  // it decides all but copies
  bool IsRemote(const RuleLimit& limit) const;
  bool carried_remote() const { return has_remote && all_remote; }  // of limits that requests bring
};

class RulesInForce : public std::enable_shared_from_this<RulesInForce> {
 public:
  // Limits that are gone, by name, in case they come back.
  struct Gone {
    const LimitSlot* slot;
    uint64_t serial;
  };
  using GoneByName = absl::flat_hash_map<std::string, Gone>;

  // `before` may be null. Changes the limit table and `gone` accordingly.
  RulesInForce(std::shared_ptr<const Rulebook> rules, const RulesInForce* before,
               const KeyedHash& hash, LimitTable& limits, GoneByName& gone, Placement placement,
               Instant now);

  const Rulebook& rules() const { return *rules_; }
  const std::shared_ptr<const Rulebook>& shared_rules() const { return rules_; }
  const LimitInForce& operator[](const RuleLimit& limit) const { return limits_[limit.index]; }
  // A limit whose states are kept over a restart.
  struct Persistent {
    std::string name;
    std::string numbers;
    const LimitSlot* slot;
  };
  // Null if there is none.
  const Persistent* FindPersistent(const LimitSlot& slot) const;
  const Persistent* FindPersistent(std::string_view name) const;
  std::span<const Persistent> persistent() const { return persistent_; }

  Tally& TallyOf(const Resource& resource) const { return *tallies_[resource.index]; }
  const std::vector<std::shared_ptr<Tally>>& tallies() const { return tallies_; }
  // Of the resource's limits and of those of the contracts beside them, by name.
  using LimitTallies = std::vector<std::shared_ptr<LimitTally>>;
  const LimitTallies& LimitTalliesOf(const Resource& resource) const {
    return limit_tallies_[resource.index];
  }
  // Of a descriptor rule's limit; null for other limits.
  LimitTally* DescriptorTallyOf(const RuleLimit& limit) const {
    return descriptor_tally_[limit.index].get();
  }
  struct DescriptorTally {
    std::string namespace_name;
    std::shared_ptr<LimitTally> tally;
  };
  const std::vector<DescriptorTally>& descriptor_tallies() const { return descriptor_tallies_; }

 private:
  // A limit with its name: its identity and, for an override, the subject.
  struct Named {
    std::string name;
    std::string base;  // the name of what it overrides; empty if it overrides nothing
    const RuleLimit* limit;
  };
  static std::vector<Named> NameAll(const Rulebook& rules);

  const LimitSlot* SlotFor(const Named& named, const RulesInForce* before, LimitTable& limits,
                           Instant now) const;
  void Retire(const RulesInForce& before, LimitTable& limits, GoneByName& gone, Instant now) const;
  void TakeBack(LimitTable& limits, GoneByName& gone, Instant now) const;
  void AddTallies(const RulesInForce* before);
  void AddLimitTallies(const Namespace& ns, const Resource& resource, const LimitTallies* before);
  void AddDescriptorTallies(const RulesInForce* before);
  void MarkTiers(std::span<const RuleLimit> limits);

  const Placement placement_;
  std::shared_ptr<const Rulebook> rules_;
  std::vector<LimitInForce> limits_;  // by RuleLimit::index
  std::vector<Named> named_;          // in the order of rules_->all()
  absl::flat_hash_map<std::string, const LimitSlot*> by_name_;
  std::vector<Persistent> persistent_;
  std::vector<std::shared_ptr<Tally>> tallies_;                // by Resource::index
  std::vector<LimitTallies> limit_tallies_;                    // by Resource::index
  std::vector<std::shared_ptr<LimitTally>> descriptor_tally_;  // by RuleLimit::index
  std::vector<DescriptorTally> descriptor_tallies_;
};

}  // namespace weir
