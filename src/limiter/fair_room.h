// Room for what cannot be pushed out again (holds, who waits), shared by owners (store/forgetting.h).
//
// Half of the room is anybody's. Of the other half every owner has an equal part that nobody else can
// take: however much one holds, another finds its part free.
//
//     |aaaaaaaaaaaaaaaaaaaaaa..|aaaaa|bb...|.....|      a has taken nearly all that is anybody's
//
// What is taken is told to the store, since it is part of the memory. Whoever calls has a lock.
#pragma once

#include <cstdint>
#include <vector>

#include "store/memory_store.h"

namespace weir {

class FairRoom {
 public:
  // Counts bytes, unless the store is null: then whatever the caller counts.
  FairRoom(MemoryStore* store, const LimitTable& limits, uint64_t room)
      : store_(store), limits_(limits), half_(room / 2) {}

  bool Fits(uint32_t owner, uint64_t size);
  void Enter(uint32_t owner, uint64_t size);
  void Leave(uint32_t owner, uint64_t size);

 private:
  // How much of what is held lies beyond the owner's own part.
  uint64_t Beyond(uint64_t held) const { return held > part_ ? held - part_ : 0; }
  void CountOwners();

  MemoryStore* const store_;
  const LimitTable& limits_;
  const uint64_t half_;
  uint32_t owners_ = 0;
  uint64_t part_ = 0;           // half_ / owners_
  uint64_t common_ = 0;         // the sum of what all hold beyond their parts
  std::vector<uint64_t> held_;  // by owner
};

}  // namespace weir
