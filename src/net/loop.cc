#include "net/loop.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace weir {
namespace {

constexpr size_t kReadBytes = size_t{64} << 10;
constexpr Duration kTurnsAtOnce = std::chrono::milliseconds(2);
constexpr size_t kSpares = 4;
constexpr size_t kLeastSpare = 64, kMostSpare = size_t{128} << 10;

}  // namespace

Loop::Loop(Clock& clock, Duration deadline)
    : clock_(clock),
      epoll_(epoll_create1(EPOLL_CLOEXEC)),
      wake_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)),
      rota_(deadline),
      now_(clock.Now()),
      scratch_(kReadBytes, '\0') {
  if (!epoll_ || !wake_ || !Watch(wake_.get(), EPOLLIN, nullptr)) {
    throw std::runtime_error(std::strerror(errno));
  }
  spares_.reserve(kSpares);
}

bool Loop::Watch(int fd, uint32_t events, Watcher* watcher) {
  epoll_event event{.events = events, .data = {.ptr = watcher}};
  return epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0;
}

// These fail only for a socket that is not watched.
void Loop::Change(int fd, uint32_t events, Watcher* watcher) {
  epoll_event event{.events = events, .data = {.ptr = watcher}};
  const int failed = epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &event);
  assert(failed == 0);
  (void)failed;
}

void Loop::Unwatch(int fd) {
  const int failed = epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
  assert(failed == 0);
  (void)failed;
}

void Loop::Lend(std::string& buffer) {
  if (spares_.empty() || buffer.capacity() >= kLeastSpare) return;
  buffer.swap(spares_.back());
  spares_.pop_back();
}

void Loop::TakeBack(std::string& buffer) {
  if (buffer.capacity() < kLeastSpare) return buffer.clear();
  if (spares_.size() < kSpares && buffer.capacity() <= kMostSpare) {
    buffer.clear();
    spares_.emplace_back().swap(buffer);
  } else {
    std::string().swap(buffer);
  }
}

void Loop::SetTick(Duration every, std::function<void(const Turn&)> tick) {
  tick_every_ = every;
  tick_ = std::move(tick);
}

void Loop::Run() {
  next_tick_ = clock_.Now();
  const auto wait_ms =
      static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(tick_every_).count());
  while (!stopping_.load(std::memory_order_acquire)) Round(wait_ms);
  RunPosted();
  dead_.clear();
}

// Until the first timer is due, rounded up.
int Loop::WaitMs(int most) {
  if (!rota_.empty()) return 0;
  if (timers_.empty()) return most;
  const Duration left = timers_.next() - clock_.Now();
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(left).count();
  return static_cast<int>(std::clamp<int64_t>(ms, 0, most));
}

void Loop::Round(int wait_ms) {
  std::array<epoll_event, 1024> events;
  const bool busy = !rota_.empty();
  const int n =
      epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), WaitMs(wait_ms));
  now_ = clock_.Now();
  for (int i = 0; i < n; ++i) {
    const epoll_event& event = events[static_cast<size_t>(i)];
    if (event.data.ptr == nullptr) {
      RunPosted();
    } else {
      static_cast<Watcher*>(event.data.ptr)->OnReady(event.events);
    }
  }
  if (!timers_.empty() && timers_.next() <= now_) timers_.Run(Turn(clock_));
  if (busy) rota_.AlsoWorked(clock_.Now() - turns_ended_);
  RunTurns();
  dead_.clear();
  if (now_ < next_tick_) return;
  next_tick_ = now_ + tick_every_;
  if (tick_) tick_(Turn(clock_));
  dead_.clear();
}

void Loop::RunTurns() {
  Instant at = now_;
  while (at - now_ < kTurnsAtOnce) {
    Rota::Member* const next = rota_.Next();
    if (next == nullptr) break;
    at = next->TakeTurn();
  }
  turns_ended_ = at;
}

void Loop::Stop() {
  stopping_.store(true, std::memory_order_release);
  Wake();
}

void Loop::Post(std::function<void(const Turn&)> work) {
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
  std::vector<std::function<void(const Turn&)>> work;
  {
    const std::lock_guard lock(mutex_);
    work.swap(posted_);
  }
  for (const auto& one : work) one(Turn(clock_));
}

}  // namespace weir
