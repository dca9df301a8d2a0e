// Bytes that connections of all threads take together, and how many they may.
//
// Nobody closes a connection of another thread: when there are too many, those threads close their
// greediest connections that take more than an equal share. If all together take too many, at least
// one thread does.
#pragma once

#include <atomic>
#include <cstdint>

namespace weir {

class SharedBytes {
 public:
  SharedBytes(uint64_t most, size_t threads)
      : most_(static_cast<int64_t>(most)), threads_(static_cast<int64_t>(threads)) {}

  void Add(int64_t bytes) { used_.fetch_add(bytes, std::memory_order_relaxed); }
  int64_t most() const { return most_; }
  int64_t used() const { return used_.load(std::memory_order_relaxed); }

  // Whether a thread that takes `mine` has to give some up.
  bool TooMany(int64_t mine) const { return used() > most_ && mine > most_ / threads_; }
  // Whether it has given up enough: a little more, so that it need not look again at once.
  bool Enough(int64_t mine) const {
    return used() <= most_ - most_ / 16 || mine <= (most_ - most_ / 16) / threads_;
  }

 private:
  const int64_t most_;
  const int64_t threads_;
  std::atomic<int64_t> used_{0};
};

}  // namespace weir
