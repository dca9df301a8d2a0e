// An event loop: waits for sockets (epoll), runs what other threads post and what is due, and ticks.
//
// A round: what has become ready is noted, timers that are due are run (to the millisecond), then those who have something to do take turns (rota.h)
// for two milliseconds at most, then the system is asked again. So who asks for little is served
// within a few milliseconds, whatever the others send.
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

#include "base/executor.h"
#include "base/file_descriptor.h"
#include "base/turn.h"
#include "net/rota.h"

namespace weir {

class Loop : public Executor {
 public:
  // Somebody who waits for a file descriptor.
  class Watcher {
   public:
    virtual ~Watcher() = default;
    virtual void OnReady(uint32_t events) = 0;  // EPOLLIN, EPOLLOUT, EPOLLERR, EPOLLHUP
  };

  // `deadline`: after which what has waited may be refused; 0: never.
  explicit Loop(Clock& clock, Duration deadline = {});
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  Clock& clock() { return clock_; }
  // A buffer for whoever is being run: reads go here first.
  std::string& scratch() { return scratch_; }
  // Buffers for what is written: those of a connection that has nothing to write go to the next.
  void Lend(std::string& buffer);
  void TakeBack(std::string& buffer);

  Rota& rota() { return rota_; }
  Instant now() const { return now_; }  // when this round began

  // False if the system has no room for another.
  [[nodiscard]] bool Watch(int fd, uint32_t events, Watcher* watcher);
  void Change(int fd, uint32_t events, Watcher* watcher);
  void Unwatch(int fd);
  // Deletes it once nothing of this round can refer to it.
  void DeleteLater(std::unique_ptr<Watcher> watcher) { dead_.push_back(std::move(watcher)); }

  // Calls `tick` about every `every` (one at a time: there is one tick in a loop).
  void SetTick(Duration every, std::function<void(const Turn&)> tick);

  void Run();
  // One round of Run, which waits so long for something to happen.
  void Round(int wait_ms);
  void Stop();
  void Post(std::function<void(const Turn&)> work) override;
  Timers& timers() override { return timers_; }

 private:
  int WaitMs(int most);
  void RunPosted();
  void RunTurns();
  void Wake();

  Clock& clock_;
  FileDescriptor epoll_, wake_;
  Rota rota_;
  Timers timers_;
  Instant now_{};
  Instant turns_ended_{};  // those of the last round
  std::string scratch_;
  std::vector<std::string> spares_;
  std::vector<std::unique_ptr<Watcher>> dead_;
  Duration tick_every_ = std::chrono::milliseconds(250);
  Instant next_tick_{};
  std::function<void(const Turn&)> tick_;
  std::atomic<bool> stopping_{false};

  std::mutex mutex_;
  std::vector<std::function<void(const Turn&)>> posted_;  // guarded by mutex_
};

}  // namespace weir
