// How much of a turn is left. Whoever has much to do under a lock that others wait for does it in turns.
// They are counted in steps, not in time: so a run repeats. A step is to look at a key that lies next to
// the one before; 25,000 are about a millisecond.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace weir {

class Steps {
 public:
  static constexpr size_t kMost = 20'000;
  static constexpr size_t kOfKey = 20;  // to find a key, and to write or change what is known of it
  static constexpr size_t kOfLookup = 5;  // to find it

  explicit Steps(size_t most = kMost) : most_(most), left_(most) {}
  static Steps Unbounded() { return Steps(SIZE_MAX); }

  bool any() const { return left_ > 0; }
  bool all() const { return left_ == most_; }
  void Take(size_t steps) {
    if (left_ != SIZE_MAX) left_ -= std::min(left_, steps);
  }

 private:
  size_t most_;
  size_t left_;
};

}  // namespace weir
