#include "limiter/fair_room.h"

#include <algorithm>

namespace weir {

// Rules may have changed since.
void FairRoom::CountOwners() {
  if (owners_ == limits_.owners()) return;
  owners_ = limits_.owners();
  part_ = half_ / owners_;
  common_ = 0;
  for (const uint64_t held : held_) common_ += Beyond(held);
}

bool FairRoom::Fits(uint32_t owner, uint64_t size) {
  CountOwners();
  const uint64_t held = owner < held_.size() ? held_[owner] : 0;
  return held + size <= part_ || common_ - Beyond(held) + Beyond(held + size) <= half_;
}

void FairRoom::Enter(uint32_t owner, uint64_t size) {
  CountOwners();
  if (held_.size() <= owner) held_.resize(owner + 1);
  common_ -= Beyond(held_[owner]);
  held_[owner] += size;
  common_ += Beyond(held_[owner]);
  if (store_ != nullptr) store_->AddOutside(owner, static_cast<int64_t>(size));
}

void FairRoom::Leave(uint32_t owner, uint64_t size) {
  CountOwners();
  common_ -= Beyond(held_[owner]);
  held_[owner] -= std::min(held_[owner], size);
  common_ += Beyond(held_[owner]);
  if (store_ != nullptr) store_->AddOutside(owner, -static_cast<int64_t>(size));
}

}  // namespace weir
