// Room for what cannot be pushed out again (holds, who waits), shared by owners (store/forgetting.h).
//
// Half of the room is anybody's. Of the other half every owner has an equal part that nobody else can
// take: however much one holds, another finds its part free.
//
//     |aaaaaaaaaaaaaaaaaaaaaa..|aaaaa|bb...|.....|      a has taken nearly all that is anybody's
//
// What is taken is told to the store, since it is part of the memory.
//
// For any thread. Every owner has a lock of its own, and remembers how much of it was counted as anybody's:
// so when there are more owners, and smaller parts, each is counted anew by itself. Who asks whether
// something fits and then enters may find that another was faster: all of them together go beyond the room
// by as many entries as there are threads.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>

#include "store/memory_store.h"

namespace weir {

class FairRoom {
 public:
  // Counts bytes, unless the store is null: then whatever the caller counts.
  FairRoom(MemoryStore* store, const LimitTable& limits, uint64_t room)
      : store_(store), limits_(limits), half_(room / 2) {}
  ~FairRoom();
  FairRoom(const FairRoom&) = delete;
  FairRoom& operator=(const FairRoom&) = delete;

  bool Fits(uint32_t owner, uint64_t size);
  void Enter(uint32_t owner, uint64_t size);
  void Leave(uint32_t owner, uint64_t size);

 private:
  struct Owner {
    std::mutex mutex;
    // Guarded by mutex.
    uint64_t held = 0;
    uint64_t beyond = 0;  // how much of it is in common_
  };
  static constexpr uint32_t kChunk = 2048;
  using Chunk = std::array<Owner, kChunk>;

  // How much of what is held lies beyond the owner's own part.
  uint64_t Beyond(uint64_t held) const {
    const uint64_t part = part_.load(std::memory_order_relaxed);
    return held > part ? held - part : 0;
  }
  Owner& OwnerOf(uint32_t owner);
  void Count(Owner& owner);
  void CountOwners();

  MemoryStore* const store_;
  const LimitTable& limits_;
  const uint64_t half_;
  std::atomic<uint32_t> owners_{0};
  std::atomic<uint64_t> part_{0};    // half_ / owners_
  std::atomic<uint64_t> common_{0};  // the sum of what all hold beyond their parts
  std::mutex count_mutex_;           // held while parts change
  std::array<std::atomic<Chunk*>, LimitTable::kMost / kChunk + 1> chunks_{};
};

}  // namespace weir
