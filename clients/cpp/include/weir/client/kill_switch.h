// While it is on, every refusal becomes a grant of the minimum. Servers are asked as before.
#pragma once

#include <atomic>

namespace weir::client {

class KillSwitch {
 public:
  void Set(bool on) { on_.store(on, std::memory_order_relaxed); }
  bool on() const { return on_.load(std::memory_order_relaxed); }

  // Of all clients in this process that are given no other.
  static KillSwitch& OfProcess();

 private:
  std::atomic<bool> on_ = false;
};

}  // namespace weir::client
