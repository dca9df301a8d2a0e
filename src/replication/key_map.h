// Maps from what is shared, and what they take. Keys are hashes already.
#pragma once

#include <unordered_map>

#include "base/keyed_hash.h"

namespace weir {

struct HashOfKey {
  size_t operator()(const Key& key) const noexcept { return key.low; }
};

template <typename Value>
using KeyMap = std::unordered_map<Key, Value, HashOfKey>;

// Without what the values own elsewhere.
template <typename Value>
size_t MapBytes(const KeyMap<Value>& map) {
  constexpr size_t kNode = sizeof(void*) + sizeof(typename KeyMap<Value>::value_type);
  return map.size() * kNode + map.bucket_count() * sizeof(void*);
}

// A key, and of a limit that counts by windows, which of them.
struct StateName {
  Key key;
  int64_t window = 0;
  bool operator==(const StateName&) const = default;
};

struct HashOfState {
  size_t operator()(const StateName& name) const noexcept {
    return name.key.low ^ (static_cast<uint64_t>(name.window) * 0x9e3779b97f4a7c15);
  }
};

}  // namespace weir
