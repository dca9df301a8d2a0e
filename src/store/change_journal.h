// The keys of persistent limits whose states have changed since they were last saved.
//
// In shards, so that threads seldom meet; limits that are not persistent never come here.
#pragma once

#include <array>
#include <mutex>
#include <vector>

#include <absl/container/flat_hash_set.h>

#include "base/keyed_hash.h"

namespace weir {

class ChangeJournal {
 public:
  void Add(const Key& key) {
    Shard& shard = shards_[key.high % kShards];
    const std::lock_guard lock(shard.mutex);
    shard.keys.insert(key);
  }
  std::vector<Key> TakeAll() {
    std::vector<Key> all;
    for (Shard& shard : shards_) {
      const std::lock_guard lock(shard.mutex);
      all.insert(all.end(), shard.keys.begin(), shard.keys.end());
      shard.keys.clear();
    }
    return all;
  }

 private:
  static constexpr size_t kShards = 16;
  struct Hash {
    size_t operator()(const Key& key) const { return key.low; }
  };
  struct Shard {
    std::mutex mutex;
    absl::flat_hash_set<Key, Hash> keys;  // guarded by mutex
  };
  std::array<Shard, kShards> shards_;
};

}  // namespace weir
