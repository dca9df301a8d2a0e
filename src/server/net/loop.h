// An event loop: waits for sockets (epoll), runs what other threads post, and ticks.
//
// One thread runs a loop, and everything that belongs to it, from beginning to end. Only Post and
// Stop may be called from elsewhere.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/file_descriptor.h"
#include "weir/clock.h"

namespace weir {

class Loop {
 public:
  // Somebody who waits for a file descriptor.
  class Watcher {
   public:
    virtual ~Watcher() = default;
    virtual void OnReady(uint32_t events) = 0;  // EPOLLIN, EPOLLOUT, EPOLLERR, EPOLLHUP
  };

  explicit Loop(Clock& clock);
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  Clock& clock() { return clock_; }
  // A buffer for whoever is being run: reads go here first.
  std::string& scratch() { return scratch_; }

  void Watch(int fd, uint32_t events, Watcher* watcher);
  void Change(int fd, uint32_t events, Watcher* watcher);
  void Unwatch(int fd);
  // Deletes it once nothing of this round can refer to it.
  void DeleteLater(std::unique_ptr<Watcher> watcher) { dead_.push_back(std::move(watcher)); }

  // Calls `tick` about every `every` (one at a time: there is one tick in a loop).
  void SetTick(Duration every, std::function<void(Instant)> tick);

  void Run();
  void Stop();
  void Post(std::function<void()> work);

 private:
  void RunPosted();
  void Wake();

  Clock& clock_;
  FileDescriptor epoll_, wake_;
  std::string scratch_;
  std::vector<std::unique_ptr<Watcher>> dead_;
  Duration tick_every_ = std::chrono::milliseconds(250);
  Instant next_tick_{};
  std::function<void(Instant)> tick_;
  std::atomic<bool> stopping_{false};

  std::mutex mutex_;
  std::vector<std::function<void()>> posted_;  // guarded by mutex_
};

}  // namespace weir
