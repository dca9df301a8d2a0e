// What is due at a certain time, on one thread.
//
// A timer is a part of whoever waits, so setting one allocates nothing that is not kept for the next:
// the timers that are set stand in a heap of pointers, and each knows its place there. Setting and
// cancelling take a logarithm of steps.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/turn.h"

namespace weir {

class Timer {
 public:
  Timer() = default;
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  // Its time has come. It is not set any more, and may be set again.
  virtual void Due(const Turn& now) = 0;
  bool is_set() const { return place_ != kNowhere; }

 protected:
  ~Timer() { assert(!is_set()); }

 private:
  friend class Timers;
  static constexpr size_t kNowhere = SIZE_MAX;
  size_t place_ = kNowhere;
};

class Timers {
 public:
  Timers() = default;
  Timers(const Timers&) = delete;
  Timers& operator=(const Timers&) = delete;

  // If it was set, to another time.
  void Set(Timer& timer, Instant due);
  // Nothing if it is not set.
  void Cancel(Timer& timer);

  bool empty() const { return heap_.empty(); }
  // Of the first. Not if there is none.
  Instant next() const { return heap_.front().due; }
  // Runs those that are due, in the order of their times; also what they set to a time that has come.
  void Run(const Turn& now);

 private:
  struct Entry {
    Instant due;
    uint64_t order;  // of setting: equal times are run in this order
    Timer* timer;
    bool operator<(const Entry& other) const {
      return due != other.due ? due < other.due : order < other.order;
    }
  };

  void Put(size_t place, const Entry& entry);
  void Up(size_t place, const Entry& entry);
  void Down(size_t place, const Entry& entry);

  std::vector<Entry> heap_;
  uint64_t next_order_ = 0;
};

}  // namespace weir
