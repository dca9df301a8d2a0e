// The seam between a store, which decides, and what coordinates limits over nodes: the store tells what is
// used here, and asks what is used elsewhere.
//
// A state here holds what all nodes are known to have used. What is taken here is noted, to be told
// to the others; what they tell is put into the state as if it had been taken here
// (MemoryStore::ApplyOthers). A key that has no state here yet begins with what the others have
// used. So a coordinated limit is decided like any other, by the same code, at the same speed.
//
// Locks: Note is called with nothing locked; the others with the key locked, so that what is known goes into
// the state once.
#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/algorithm.h"
#include "base/keyed_hash.h"

namespace weir {

// In which way nodes replicate a limit.
enum class Replication : uint8_t { kNone, kCounter, kQueue, kDebt };

// A bucket as nodes coordinate it, or what is counted in one window: limit 0, and `per` is how long
// it is to be remembered.
struct CoordinatedLimit {
  Replication replication = Replication::kNone;
  uint64_t capacity = 0;
  uint64_t limit = 0;
  Duration per{};
};

// The number of a window or slice, the instant of a hit in a log; 0 for buckets.
using Window = int64_t;
// Those of a limit that count now.
struct Windows {
  Window from = 0, to = 0;
};

struct Use {
  Key key;
  CoordinatedLimit limit;
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

class Coordinator {
 public:
  virtual ~Coordinator() = default;
  virtual void Note(const Use& use) = 0;
  // The key is new here: what is in use as far as is known. News of it are settled.
  virtual std::vector<OthersUse> Begin(const Key& key, const CoordinatedLimit& limit,
                                       Windows windows, Instant now) = 0;
  // What others have used since it was last asked for; of a key that was idle for so long that it is
  // forgotten there, all that is in use.
  virtual std::vector<OthersUse> News(const Key& key, const CoordinatedLimit& limit,
                                      Instant now) = 0;
  // It belongs to a window that has not begun here: it is news again later.
  virtual void Defer(const Key& key, const OthersUse& use) = 0;
  // There is no state here that news could go into.
  virtual void Forget(const Key& key) = 0;
};

}  // namespace weir
