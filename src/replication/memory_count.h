// How far a count of the memory of many states has come; it is made in turns (steps.h). What changes
// meanwhile is counted as it was or as it is.
#pragma once

#include <cstddef>
#include <cstdint>

#include "replication/steps.h"

namespace weir {

struct MemoryCount {
  size_t bytes = 0;  // so far
  bool done = false;
  size_t map = 0;          // of those that are gone through, one after the other,
  size_t left = SIZE_MAX;  // states before this place (KeyMap::Before) are still to be looked at
};

// Adds of(state) of each state in a map, which is the one that comes next, or had its turn; true: all of it.
template <typename Map, typename Of>
bool CountStates(const Map& states, size_t number, Steps& steps, MemoryCount& count, const Of& of) {
  if (count.map != number) return count.map > number;
  while (const auto* entry = states.Before(count.left)) {
    if (!steps.any()) return false;
    steps.Take(1);
    count.bytes += of(entry->second);
    count.left -= 1;
  }
  count.map += 1;
  count.left = SIZE_MAX;
  return true;
}

}  // namespace weir
