// A mutex for somebody who has much to do under it, a slice at a time, while others want it for a moment.
//
// A std::mutex is free to be taken again by whoever has just released it, before those who wait have
// woken up: so slices alone let nobody in. Who has a slice behind him waits here until as many as waited
// have had their turn. It costs nothing where nobody has to wait.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <thread>

namespace weir {

class PoliteMutex {
 public:
  void lock() {
    if (mutex_.try_lock()) return;
    came_.fetch_add(1);
    mutex_.lock();
    served_.fetch_add(1);
  }
  bool try_lock() { return mutex_.try_lock(); }
  void unlock() { mutex_.unlock(); }

  // For one who does not have it: until those who wait for it now have had it.
  void LetOthersIn() const {
    const uint64_t came = came_.load();
    while (served_.load() < came) std::this_thread::yield();
  }
  // How many wait.
  uint64_t waiting() const {
    const uint64_t served = served_.load();  // first: it is never ahead
    return came_.load() - served;
  }

 private:
  std::mutex mutex_;
  std::atomic<uint64_t> came_{0}, served_{0};  // who had to wait
};

}  // namespace weir
