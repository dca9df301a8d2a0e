// Which slot of the store has the states of which limit, by the limits' names: what a limit's states are
// found by when its rule comes again, from whatever file, in whatever place, with whatever numbers.
//
// One for a limiter, and changed by every reload: by what leaves and what comes, so that a reload costs
// what it changes. A limit whose numbers are unchanged keeps its slot, one with other numbers gets a new
// slot that the old one leads to, and a limit that is gone leaves its states behind until they expire, or
// until it comes back.
//
// Not safe for several threads.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>
#include <absl/container/node_hash_map.h>

#include "rules/rule_limit.h"
#include "store/limit_table.h"

namespace weir {

// By which nodes count it together.
Replication ReplicationOf(const Coordination& coordination);

// Which limits this process's memory does not decide.
struct Placement {
  bool has_remote = false;  // there is another store
  bool all_remote = false;  // it decides all but copies
  bool IsRemote(const RuleLimit& limit) const;
  bool carried_remote() const { return has_remote && all_remote; }  // of limits that requests bring
};

class SlotNames {
 public:
  SlotNames(LimitTable& limits, Placement placement) : limits_(limits), placement_(placement) {}

  // The slots of those that come, in their order: null, if it is unlimited or there is none left. All
  // limits of a resource, and all that a namespace says beside its resources, leave and come together.
  using Limits = std::span<const RuleLimit* const>;
  std::vector<const LimitSlot*> Change(Limits leave, Limits come, Instant now);

  // A limit whose states are kept over a restart.
  struct Persistent {
    std::string name;
    std::string numbers;  // all that a state's meaning depends on
    const LimitSlot* slot;
  };
  // Null if there is none; good until the next change.
  const Persistent* FindPersistent(const LimitSlot& slot) const;
  const Persistent* FindPersistent(std::string_view name) const;
  std::vector<std::string> PersistentNames() const;

 private:
  // One that was in force, in case it comes back.
  struct Gone {
    const LimitSlot* slot;
    uint64_t serial;
  };
  using Slots = absl::flat_hash_map<std::string, const LimitSlot*>;

  const LimitSlot* SlotFor(const RuleLimit& limit, const std::string& name, const Slots& coming,
                           Instant now);
  void Retire(Limits leave, const Slots& coming, Instant now);
  void RetireOne(const RuleLimit& limit, const Slots& coming,
                 absl::flat_hash_set<const LimitSlot*>& done, Instant now);
  void TakeBack(const Slots& coming, Instant now);

  LimitTable& limits_;
  const Placement placement_;
  Slots in_force_;
  absl::flat_hash_map<std::string, Gone> gone_;
  size_t look_through_gone_at_ = 64;  // so many of them
  absl::node_hash_map<std::string, Persistent> persistent_;
  absl::flat_hash_map<const LimitSlot*, const Persistent*> by_slot_;
};

}  // namespace weir
