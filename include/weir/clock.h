// The clocks: the only code that reads the machine's time.
#pragma once

#include <atomic>

#include "weir/instant.h"

namespace weir {

class Clock {
 public:
  virtual ~Clock() = default;
  // Never goes back.
  virtual Instant Now() = 0;
};

// The wall clock at construction, advanced by the monotonic clock and slewed towards the wall clock
// by at most 500 parts per million: a stepped wall clock moves it slowly, never at once. Safe to
// share between threads. Reading costs about as much as a decision: read it once per batch.
class SystemClock : public Clock {
 public:
  SystemClock();
  Instant Now() override;

 private:
  // Since `start` (monotonic) the clock shows `shown` plus the time passed plus as much of `off`,
  // by which the wall clock was ahead then, as may be made up by now.
  struct Segment {
    int64_t start, shown, off;
    int64_t At(int64_t monotonic) const;
  };
  Segment Load() const;
  void Replace(uint32_t version);

  std::atomic<uint32_t> version_{0};  // odd while the segment is being replaced
  std::atomic<int64_t> start_, shown_, off_{0};
};

// Stands still until told otherwise: for tests, simulations and replay.
class ManualClock : public Clock {
 public:
  explicit ManualClock(Instant start = Instant{}) : now_(start) {}
  Instant Now() override { return now_; }
  void Set(Instant now) { now_ = now; }
  void Advance(Duration d) { now_ += d; }

 private:
  Instant now_;
};

}  // namespace weir
