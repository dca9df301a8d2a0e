// An executor that is run by hand: for tests, and for what has no loop.
#pragma once

#include <mutex>
#include <utility>
#include <vector>

#include "base/executor.h"
#include "weir/clock.h"

namespace weir {

class ManualExecutor : public Executor {
 public:
  explicit ManualExecutor(Clock& clock) : clock_(clock) {}

  void Post(std::function<void(const Turn&)> work) override {
    const std::lock_guard lock(mutex_);
    posted_.push_back(std::move(work));
  }
  Timers& timers() override { return timers_; }

  // Runs what was posted and what is due by now; not what that posts. False if there was nothing.
  bool RunSome() {
    std::vector<std::function<void(const Turn&)>> work;
    {
      const std::lock_guard lock(mutex_);
      work.swap(posted_);
    }
    for (const auto& one : work) one(Turn(clock_));
    const Turn now(clock_);
    const bool due = !timers_.empty() && timers_.next() <= now.at();
    timers_.Run(now);
    return due || !work.empty();
  }
  bool has_posted() {
    const std::lock_guard lock(mutex_);
    return !posted_.empty();
  }
  void RunAll() {
    while (RunSome()) {
    }
  }

 private:
  Clock& clock_;
  Timers timers_;
  std::mutex mutex_;
  std::vector<std::function<void(const Turn&)>> posted_;  // guarded by mutex_
};

}  // namespace weir
