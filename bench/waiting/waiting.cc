#include "bench/waiting/waiting.h"

#include <fmt/core.h>
#include <time.h>

#include <algorithm>
#include <memory>

#include "base/manual_executor.h"
#include "bench/load_socket.h"
#include "fronts/resp/resp_front.h"
#include "lab/live/free_port.h"
#include "lab/stores/later.h"
#include "server/connections/worker.h"
#include "store/memory_store.h"

namespace weir::bench {
namespace {

constexpr std::string_view kRules =
    "namespaces: {n: {resources: {r: {limits: [{limit: 1000000000, per: 1s}]}}}}";
constexpr size_t kPipelined = 64;

std::string Pipeline(size_t requests) {
  std::string bytes;
  for (size_t i = 0; i < requests; ++i) {
    const std::string subject = fmt::format("subject-{:04}", i);
    bytes += fmt::format("*4\r\n$12\r\nWEIR.REQUEST\r\n$1\r\nn\r\n$1\r\nr\r\n${}\r\n{}\r\n",
                         subject.size(), subject);
  }
  return bytes;
}

std::unique_ptr<Limiter> NewLimiter(bool later, Duration takes, Instant now) {
  std::string errors;
  LimiterOptions options;
  if (later) {
    options.remote_store = [takes](MemoryStore& here) {
      return std::make_unique<lab::Later>(here, takes);
    };
    options.all_remote = true;
    options.deadline = std::chrono::seconds(10);
  }
  return std::make_unique<Limiter>(ParseRules(kRules, &errors), options, now);
}

// A connection without a socket, so that nothing but the request is measured.
class BenchLink final : public Link {
 public:
  explicit BenchLink(Front& front) : protocol_(front.Accept(*this)) { Trust(); }
  ~BenchLink() override { protocol_->Closed(Turn(clock_)); }
  void Flush() override {}
  void FlushSoon() override {}
  Executor& executor() override { return executor_; }
  Clock& clock() override { return clock_; }
  std::string_view peer() const override { return "192.0.2.7"; }

  size_t Ask(std::string_view bytes) {
    clock_.Advance(std::chrono::microseconds(10));
    protocol_->Receive(bytes, Turn(clock_));
    executor_.timers().Run(Turn(clock_));
    const size_t answered = out_.size();
    out_.clear();
    return answered;
  }

 private:
  ManualClock clock_{FromNanos(1'800'000'000'000'000'000)};
  ManualExecutor executor_{clock_};
  std::unique_ptr<Protocol> protocol_;
};

double ThreadCpu() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

double NanosPerRequest(bool later, uint64_t requests) {
  const auto limiter = NewLimiter(later, {}, FromNanos(1'800'000'000'000'000'000));
  RespFront front(*limiter);
  BenchLink link(front);
  const std::string bytes = Pipeline(kPipelined);
  for (int i = 0; i < 100; ++i) link.Ask(bytes);
  const uint64_t rounds = std::max<uint64_t>(1, requests / kPipelined);
  const double begun = ThreadCpu();
  for (uint64_t i = 0; i < rounds; ++i) link.Ask(bytes);
  return (ThreadCpu() - begun) * 1e9 / static_cast<double>(rounds * kPipelined);
}

size_t Answers(std::string_view text) {
  constexpr std::string_view kLast = "reset_after_ms";  // twice in each, the second time at its end
  size_t count = 0;
  for (size_t at = 0; (at = text.find(kLast, at)) != std::string_view::npos; ++at) ++count;
  return count / 2;
}

// From sending 64 requests to having all the answers, by a server's own thread and sockets.
std::vector<double> PipelinedMs() {
  SystemClock clock;
  const auto limiter = NewLimiter(true, std::chrono::milliseconds(1), clock.Now());
  RespFront front(*limiter);
  SharedBytes memory(uint64_t{1} << 30, 1), port_memory(uint64_t{1} << 30, 1);
  const int port = lab::FreePort();
  const auto address = Address::Parse("127.0.0.1:" + std::to_string(port));
  auto socket = Listen(*address, false);
  if (!socket) throw std::runtime_error(socket.error().message);
  Worker worker(clock, {}, memory);
  worker.Serve({.front = &front, .address = *address, .memory = &port_memory}, std::move(*socket));
  worker.Start(0);
  LoadSocket peer(port);
  const std::string bytes = Pipeline(kPipelined);
  std::vector<double> times;
  for (int i = 0; i < 200; ++i) {
    const Instant begun = clock.Now();
    peer.Send(bytes);
    std::string text;
    while (Answers(text) < kPipelined) peer.Receive(text);
    times.push_back(std::chrono::duration<double, std::milli>(clock.Now() - begun).count());
  }
  worker.Stop();
  std::sort(times.begin(), times.end());
  return times;
}

}  // namespace

WaitingResult MeasureWaiting(const WaitingOptions& options,
                             const std::function<void(const std::string&)>& progress) {
  WaitingResult result;
  for (int round = 0; round < options.rounds; ++round) {
    progress(fmt::format("round {} of {}", round + 1, options.rounds));
    const double at_once = NanosPerRequest(false, options.requests);
    const double waiting = NanosPerRequest(true, options.requests);
    if (round == 0 || at_once < result.at_once_ns) result.at_once_ns = at_once;
    if (round == 0 || waiting < result.waiting_ns) result.waiting_ns = waiting;
  }
  progress("64 pipelined");
  const std::vector<double> times = PipelinedMs();
  result.pipelined_ms_median = times[times.size() / 2];
  result.pipelined_ms_worst = times.back();
  result.goals = {
      {"CPU of waiting, µs more", (result.waiting_ns - result.at_once_ns) / 1000, 2, true},
      {"64 pipelined over a store that takes 1 ms, ms (median)", result.pipelined_ms_median, 3,
       true}};
  return result;
}

}  // namespace weir::bench
