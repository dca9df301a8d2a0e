#include "clients/cpp/src/hold_state.h"

#include <utility>

#include "clients/cpp/src/core.h"

namespace weir::client {

HoldState::HoldState(std::shared_ptr<Core> core, Facts facts)
    : core_(std::move(core)), facts_(std::move(facts)), copies_(facts_.reservation.granted) {}

uint64_t HoldState::copies() const {
  const std::lock_guard lock(mutex_);
  return copies_;
}

bool HoldState::lost() const {
  const std::lock_guard lock(mutex_);
  return lost_;
}

uint64_t HoldState::Take(std::optional<uint64_t> copies) {
  const std::lock_guard lock(mutex_);
  if (lost_) throw HoldLost();
  const uint64_t taken = copies.value_or(copies_);
  if (taken > copies_) {
    throw Error(Code::kNotHeld, std::to_string(taken) + " of the " + std::to_string(copies_) +
                                    " copies that are left");
  }
  copies_ -= taken;
  return taken;
}

void HoldState::PutBack(uint64_t copies) {
  const std::lock_guard lock(mutex_);
  if (!lost_) copies_ += copies;
}

void HoldState::Lose() {
  uint64_t copies = 0;
  {
    const std::lock_guard lock(mutex_);
    if (lost_ || copies_ == 0) return;
    lost_ = true;
    copies = std::exchange(copies_, 0);
  }
  core_->WasLost(facts_.target, copies);
}

}  // namespace weir::client
