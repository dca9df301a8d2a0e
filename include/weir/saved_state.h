// The use of a persistent limit (persist: true), to be kept over a restart.
#pragma once

#include <cstdint>
#include <string>

namespace weir {

struct SavedState {
  // Names the state; the same on every start with the same secret and the same rules.
  std::string limit;
  uint64_t key_high = 0, key_low = 0;

  bool gone = false;    // as good as unused: need not be kept
  std::string numbers;  // of the limit, as text: `state` means something only under these
  std::string state;    // bytes
  uint64_t use = 0;     // carried over where the numbers have changed meanwhile
};

}  // namespace weir
