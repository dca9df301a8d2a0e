// The thread that writes reports: metrics, statistics, the state of the cluster. They look at every
// resource, and may take long where there are many: nobody who waits for a decision waits for them.
//
//   a connection's thread --Write(request, work)--> this thread: work(now) --answer--> back to it
//
// One report at a time. If many wait already, another is refused (503, overloaded): whoever asks more
// often than can be answered is told so, and memory stays bounded.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "base/turn.h"
#include "server/routes/late_answer.h"
#include "weir/clock.h"

namespace weir {

class ReportThread {
 public:
  static constexpr size_t kMostWaiting = 64;
  // What it needs of the request it has copied.
  using Work = std::function<Answer(const Turn& now)>;

  explicit ReportThread(Clock& clock) : clock_(clock) {}
  ~ReportThread() { Stop(); }

  void Start();
  // Whoever still waits is answered 503.
  void Stop();

  // From any thread.
  void Write(const http::HttpRequest& request, http::Responder responder, Work work);

 private:
  struct Waiting {
    std::shared_ptr<LateAnswer> late;
    Work work;
  };
  void Run();

  Clock& clock_;
  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable some_;
  std::deque<Waiting> queue_;  // guarded by mutex_
  bool stopping_ = false;      // guarded by mutex_
};

}  // namespace weir
