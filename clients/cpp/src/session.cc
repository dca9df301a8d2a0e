#include <utility>

#include "weir/client/wire.h"

namespace weir::client {

bool Session::alive() const {
  const std::lock_guard lock(mutex_);
  return alive_;
}

void Session::Adopt(const std::shared_ptr<Holder>& holder) {
  {
    const std::lock_guard lock(mutex_);
    if (alive_) {
      // Now and then, so that a connection does not remember all that it ever held.
      if (holders_.size() == holders_.capacity()) {
        std::erase_if(holders_, [](const std::weak_ptr<Holder>& one) { return one.expired(); });
      }
      holders_.push_back(holder);
      return;
    }
  }
  holder->Lose();
}

void Session::End() {
  std::vector<std::weak_ptr<Holder>> holders;
  {
    const std::lock_guard lock(mutex_);
    alive_ = false;
    holders.swap(holders_);
  }
  for (const std::weak_ptr<Holder>& one : holders) {
    if (const std::shared_ptr<Holder> holder = one.lock()) holder->Lose();
  }
}

void Session::EndSilently() {
  const std::lock_guard lock(mutex_);
  alive_ = false;
  holders_.clear();
}

}  // namespace weir::client
