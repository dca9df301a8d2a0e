// The client's counters, for all of its threads.
#pragma once

#include <mutex>

#include "weir/client/counters.h"

namespace weir::client {

class Tally {
 public:
  void Add(uint64_t Counters::*which) {
    const std::lock_guard lock(mutex_);
    ++(counters_.*which);
  }
  Counters Snapshot() const {
    const std::lock_guard lock(mutex_);
    return counters_;
  }

 private:
  mutable std::mutex mutex_;
  Counters counters_;
};

}  // namespace weir::client
