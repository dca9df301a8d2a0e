#include "server/net/loop.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace weir {
namespace {

constexpr size_t kReadBytes = size_t{64} << 10;

}  // namespace

Loop::Loop(Clock& clock)
    : clock_(clock),
      epoll_(epoll_create1(EPOLL_CLOEXEC)),
      wake_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)),
      scratch_(kReadBytes, '\0') {
  if (!epoll_ || !wake_) throw std::runtime_error(std::strerror(errno));
  Watch(wake_.get(), EPOLLIN, nullptr);
}

void Loop::Watch(int fd, uint32_t events, Watcher* watcher) {
  epoll_event event{.events = events, .data = {.ptr = watcher}};
  epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event);
}

void Loop::Change(int fd, uint32_t events, Watcher* watcher) {
  epoll_event event{.events = events, .data = {.ptr = watcher}};
  epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &event);
}

void Loop::Unwatch(int fd) { epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr); }

void Loop::SetTick(Duration every, std::function<void(Instant)> tick) {
  tick_every_ = every;
  tick_ = std::move(tick);
}

void Loop::Run() {
  std::array<epoll_event, 256> events;
  next_tick_ = clock_.Now();
  const auto wait_ms =
      static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(tick_every_).count());
  while (!stopping_.load(std::memory_order_acquire)) {
    const int n = epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), wait_ms);
    for (int i = 0; i < n; ++i) {
      const epoll_event& event = events[static_cast<size_t>(i)];
      if (event.data.ptr == nullptr) {
        RunPosted();
      } else {
        static_cast<Watcher*>(event.data.ptr)->OnReady(event.events);
      }
    }
    dead_.clear();
    const Instant now = clock_.Now();
    if (now >= next_tick_) {
      next_tick_ = now + tick_every_;
      if (tick_) tick_(now);
      dead_.clear();
    }
  }
  RunPosted();
  dead_.clear();
}

void Loop::Stop() {
  stopping_.store(true, std::memory_order_release);
  Wake();
}

void Loop::Post(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    posted_.push_back(std::move(work));
  }
  Wake();
}

void Loop::Wake() {
  const uint64_t one = 1;
  (void)!write(wake_.get(), &one, sizeof one);
}

void Loop::RunPosted() {
  uint64_t count = 0;
  (void)!read(wake_.get(), &count, sizeof count);
  std::vector<std::function<void()>> work;
  {
    const std::lock_guard lock(mutex_);
    work.swap(posted_);
  }
  for (const auto& one : work) one();
}

}  // namespace weir
