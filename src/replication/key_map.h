// A map from keys, and what it takes. Keys are hashes already.
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

}  // namespace weir
