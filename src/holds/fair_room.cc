#include "holds/fair_room.h"

#include <algorithm>
#include <memory>

namespace weir {

FairRoom::~FairRoom() {
  for (std::atomic<Chunk*>& chunk : chunks_) delete chunk.load();
}

FairRoom::Owner& FairRoom::OwnerOf(uint32_t owner) {
  std::atomic<Chunk*>& place = chunks_[owner / kChunk];
  Chunk* chunk = place.load(std::memory_order_acquire);
  if (chunk == nullptr) [[unlikely]] {
    auto made = std::make_unique<Chunk>();
    if (place.compare_exchange_strong(chunk, made.get())) chunk = made.release();
  }
  return (*chunk)[owner % kChunk];
}

void FairRoom::Count(Owner& owner) {
  const uint64_t beyond = Beyond(owner.held);
  if (beyond == owner.beyond) return;
  common_.fetch_add(beyond - owner.beyond);  // wraps round where it is less
  owner.beyond = beyond;
}

// Rules may have changed since.
void FairRoom::CountOwners() {
  if (owners_.load(std::memory_order_acquire) == limits_.owners()) return;
  const std::lock_guard counting(count_mutex_);
  const uint32_t owners = limits_.owners();
  if (owners_.load() == owners) return;
  part_.store(half_ / owners);
  for (const std::atomic<Chunk*>& chunk : chunks_) {
    if (chunk.load() == nullptr) continue;
    for (Owner& owner : *chunk.load()) {
      const std::lock_guard lock(owner.mutex);
      Count(owner);
    }
  }
  owners_.store(owners, std::memory_order_release);
}

bool FairRoom::Fits(uint32_t number, uint64_t size) {
  CountOwners();
  Owner& owner = OwnerOf(number);
  const std::lock_guard lock(owner.mutex);
  const uint64_t beyond = Beyond(owner.held + size);
  return beyond == 0 || common_.load() - owner.beyond + beyond <= half_;
}

void FairRoom::Enter(uint32_t number, uint64_t size) {
  CountOwners();
  Owner& owner = OwnerOf(number);
  {
    const std::lock_guard lock(owner.mutex);
    owner.held += size;
    Count(owner);
  }
  if (store_ != nullptr) store_->AddOutside(number, static_cast<int64_t>(size));
}

void FairRoom::Leave(uint32_t number, uint64_t size) {
  CountOwners();
  Owner& owner = OwnerOf(number);
  {
    const std::lock_guard lock(owner.mutex);
    owner.held -= std::min(owner.held, size);
    Count(owner);
  }
  if (store_ != nullptr) store_->AddOutside(number, -static_cast<int64_t>(size));
}

}  // namespace weir
