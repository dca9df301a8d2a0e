#include "server/connections/worker.h"

#include <pthread.h>

namespace weir {
namespace {

constexpr Duration kTickEvery = std::chrono::milliseconds(250) / Acceptor::kTicksOfARound;

}  // namespace

Worker::Worker(Clock& clock, WorkerLimits limits, SharedBytes& memory)
    : limits_(limits), loop_(clock, limits.deadline), memory_(memory) {
  loop_.SetTick(kTickEvery, [this](const Turn& now) { Tick(now); });
}

Worker::~Worker() { Stop(); }

void Worker::Serve(const Port& port, FileDescriptor socket) {
  counters_.push_back(std::make_unique<PortCounters>());
  served_.push_back({port.front->name(), counters_.back().get(), port.memory});
  acceptors_.push_back(std::make_unique<Acceptor>(
      loop_, std::move(socket), *port.front, port.tls,
      Acceptor::Limits{limits_.connections, limits_.session_timeout}, memory_, *counters_.back()));
  memory_.Watch(*acceptors_.back(), *port.memory);
}

void Worker::Start(int number) {
  thread_ = std::thread([this] { loop_.Run(); });
  pthread_setname_np(thread_.native_handle(), ("weir-" + std::to_string(number)).c_str());
}

void Worker::Tick(const Turn& now) {
  size_t open = 0;
  for (const auto& acceptor : acceptors_) {
    acceptor->Tick(now, limits_.request_deadline);
    open += acceptor->open();
  }
  memory_.Look();
  open_.store(open, std::memory_order_relaxed);
}

void Worker::Drain() {
  loop_.Post([this](const Turn& now) {
    for (const auto& acceptor : acceptors_) acceptor->Drain(now);
    Tick(now);
  });
}

void Worker::Stop() {
  if (!thread_.joinable()) return;
  loop_.Post([this](const Turn&) {
    for (const auto& acceptor : acceptors_) acceptor->CloseAll();
    loop_.Stop();
  });
  thread_.join();
}

}  // namespace weir
