// A thread with its loop and the connections of every front that the kernel gives it.
#pragma once

#include <memory>
#include <thread>
#include <vector>

#include "server/connections/acceptor.h"

namespace weir {

// One front on one address, for all workers.
struct Port {
  Front* front = nullptr;
  Address address;
  const Tls* tls = nullptr;
  SharedBytes* memory = nullptr;  // of its connections
};

struct WorkerLimits {
  size_t connections = 10'000;  // for each front
  Duration request_deadline = std::chrono::seconds(10);
  Duration session_timeout = std::chrono::seconds(15);
  Duration deadline = std::chrono::milliseconds(20);  // after which requests are refused
};

class Worker {
 public:
  // `memory`: of all connections; outlives the worker.
  Worker(Clock& clock, WorkerLimits limits, SharedBytes& memory);
  ~Worker();

  // Before Start.
  void Serve(const Port& port, FileDescriptor socket);
  void Start(int number);

  // From any thread.
  void Drain();  // accept no more, end what is idle
  void Stop();   // close everything and end the thread
  size_t open() const { return open_.load(std::memory_order_relaxed); }

  struct Served {
    std::string_view front;
    const PortCounters* counters;
    const SharedBytes* memory;  // of the port, on all threads
  };
  const std::vector<Served>& served() const { return served_; }

 private:
  void Tick(const Turn& now);

  const WorkerLimits limits_;
  Loop loop_;
  MemoryGuard memory_;
  std::vector<std::unique_ptr<PortCounters>> counters_;
  std::vector<std::unique_ptr<Acceptor>> acceptors_;
  std::vector<Served> served_;
  std::atomic<size_t> open_{0};
  std::thread thread_;
};

}  // namespace weir
