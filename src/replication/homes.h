// Where the news of a key are gathered: at the node that weighs most for it, so that all who know the
// same nodes agree, and that only the keys of a node move when it comes or goes (rendezvous hashing).
#pragma once

#include <cstdint>

#include "base/keyed_hash.h"

namespace weir {

inline uint64_t WeightFor(const Key& key, uint32_t node) {
  uint64_t z = key.high + (uint64_t{node} + 1) * 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

// The heavier one; of two that weigh the same, the first by number.
inline uint32_t HomeOfTwo(const Key& key, uint32_t a, uint32_t b) {
  const uint64_t of_a = WeightFor(key, a), of_b = WeightFor(key, b);
  if (of_a != of_b) return of_a > of_b ? a : b;
  return a < b ? a : b;
}

}  // namespace weir
