// Keeps the use of limits with `persist` over a restart: writes down what has changed, in batches.
//
//   keeper.Restore();   before the first request
//   keeper.Start();     a thread that saves every `interval`
//   keeper.Stop();      saves what is left
//
// A crash loses what changed since the last batch, at most `interval` and the time to write it. What
// cannot be written is tried again with the next batch.
//
// A state that has expired in memory leaves its row behind. So the keeper goes round all rows, some
// each second, and has those looked at again whose limits are in force: what is not there any more
// is deleted. Rows of limits that are in no rule wait for their rule to come back, for some time.
#pragma once

#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>

#include "base/turn.h"
#include "server/data/state_file.h"
#include "server/metrics/metrics.h"
#include "server/problems.h"
#include "weir/limiter.h"

namespace weir {

class StateKeeper {
 public:
  StateKeeper(std::unique_ptr<StateFile> file, Duration interval, Limiter& limiter, Clock& clock,
              Problems& problems);
  ~StateKeeper() { Stop(); }

  // The states of limits that have come into force since it was last called.
  std::optional<Error> Restore();
  void Start();
  void Stop();

  // What the thread does each time.
  void Save();
  void LookAtSomeRows();
  const PersistCounters& counters() const { return counters_; }

 private:
  void Run();
  // `what` was tried: one may go well while the other does not.
  void Note(const std::optional<Error>& error, std::string_view what);
  void NoteDamaged(size_t rows);

  const std::unique_ptr<StateFile> file_;
  const Duration interval_;
  Limiter& limiter_;
  Clock& clock_;
  Problems& problems_;
  PersistCounters counters_;

  // Of whoever calls Restore and Save: one thread at a time.
  std::set<std::string> restored_limits_;  // in force, and their rows were taken up
  uint64_t rules_version_ = 0;
  std::string looked_at_;  // the last key that was
  Instant looked_{};

  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable stop_;
  bool stopping_ = false;  // guarded by mutex_
};

}  // namespace weir
