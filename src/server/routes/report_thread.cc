#include "server/routes/report_thread.h"

#include <pthread.h>

namespace weir {

void ReportThread::Start() {
  thread_ = std::thread([this] { Run(); });
  pthread_setname_np(thread_.native_handle(), "weir-report");
}

void ReportThread::Stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  some_.notify_one();
  thread_.join();
  queue_.clear();
}

void ReportThread::Write(const http::HttpRequest& request, http::Responder responder, Work work) {
  auto late = std::make_shared<LateAnswer>(request, std::move(responder));
  {
    const std::lock_guard lock(mutex_);
    if (!stopping_ && queue_.size() < kMostWaiting) {
      queue_.push_back({std::move(late), std::move(work)});
    }
  }
  if (late == nullptr) return some_.notify_one();
  late->Send(ErrorAnswer({Code::kOverloaded, "too many reports are asked for at once", ""}));
}

void ReportThread::Run() {
  std::unique_lock lock(mutex_);
  while (true) {
    some_.wait(lock, [&] { return stopping_ || !queue_.empty(); });
    if (stopping_) return;
    const Waiting next = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    {
      const Turn now(clock_);
      next.late->Send(next.work(now));
    }
    lock.lock();
  }
}

}  // namespace weir
