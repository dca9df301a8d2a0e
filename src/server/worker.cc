#include "server/worker.h"

#include <pthread.h>

namespace weir {
namespace {

constexpr Duration kTickEvery = std::chrono::milliseconds(250);

}  // namespace

Worker::Worker(Clock& clock, WorkerLimits limits) : limits_(limits), loop_(clock) {
  loop_.SetTick(kTickEvery, [this](Instant now) { Tick(now); });
}

Worker::~Worker() { Stop(); }

void Worker::Serve(const Port& port, FileDescriptor socket) {
  counters_.push_back(std::make_unique<PortCounters>());
  served_.push_back({port.front->name(), counters_.back().get()});
  acceptors_.push_back(std::make_unique<Acceptor>(
      loop_, std::move(socket), *port.front, port.tls,
      Acceptor::Limits{limits_.connections, limits_.session_timeout}, *counters_.back()));
}

void Worker::Start(int number) {
  thread_ = std::thread([this] { loop_.Run(); });
  pthread_setname_np(thread_.native_handle(), ("weir-" + std::to_string(number)).c_str());
}

void Worker::Tick(Instant now) {
  size_t open = 0;
  for (const auto& acceptor : acceptors_) {
    acceptor->Tick(now, limits_.request_deadline);
    open += acceptor->open();
  }
  open_.store(open, std::memory_order_relaxed);
}

void Worker::Drain() {
  loop_.Post([this] {
    for (const auto& acceptor : acceptors_) acceptor->Drain();
    Tick(loop_.clock().Now());
  });
}

void Worker::Stop() {
  if (!thread_.joinable()) return;
  loop_.Post([this] {
    for (const auto& acceptor : acceptors_) acceptor->CloseAll();
    loop_.Stop();
  });
  thread_.join();
}

}  // namespace weir
