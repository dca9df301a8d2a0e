// Limits that several nodes share: what a store tells of what was used here, and asks of what was
// used elsewhere.
//
// A state here holds what all nodes are known to have used. What is taken here is noted, to be told
// to the others; what they tell is put into the state as if it had been taken here
// (MemoryStore::ApplyOthers). A key that has no state here yet begins with what the others have
// used. So a shared limit is decided like any other, by the same code, at the same speed.
//
// Locks: Note is called with nothing locked; InUse, TakeNews and DropNews with the key locked, so that
// what is known goes into the state once.
#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/algorithm.h"
#include "base/keyed_hash.h"

namespace weir {

enum class Sharing : uint8_t { kNone, kCounter, kQueue, kDebt };

// A bucket as the nodes share it, or what is counted in one window: limit 0, and `per` is how long
// it is to be remembered.
struct SharedLimit {
  Sharing sharing = Sharing::kNone;
  uint64_t capacity = 0;
  uint64_t limit = 0;
  Duration per{};
};

// The number of a window or slice, the instant of a hit in a log; 0 for buckets.
using Window = int64_t;

struct Use {
  Key key;
  SharedLimit limit;
  Window window = 0;
  uint64_t taken = 0;
  uint64_t refunded = 0;
  uint64_t remaining = 0;  // after it
  Instant at{};
};

// Ticks of a bucket (token_bucket.h); of windows, how many. Less than nothing: given back.
struct OthersUse {
  Window window = 0;
  int128 ticks = 0;
};

class SharedUse {
 public:
  virtual ~SharedUse() = default;
  virtual void Note(const Use& use) = 0;
  // What is in use as far as is known here, from one window to another. News of it are settled.
  virtual std::vector<OthersUse> InUse(const Key& key, const SharedLimit& limit, Window from,
                                       Window to, Instant now) = 0;
  // What others have used since it was last asked for; of a key that was idle for so long that it is
  // forgotten there, all that is in use.
  virtual std::vector<OthersUse> TakeNews(const Key& key, const SharedLimit& limit,
                                          Instant now) = 0;
  // There is no state that they could go into.
  virtual void DropNews(const Key& key) = 0;
  // It belongs to a window that has not begun here.
  virtual void Defer(const Key& key, const OthersUse& use) = 0;
};

}  // namespace weir
