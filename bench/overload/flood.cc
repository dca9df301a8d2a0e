#include "bench/overload/flood.h"

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <thread>

#include "bench/load_socket.h"

namespace weir::bench {
namespace {

using Clock = std::chrono::steady_clock;
constexpr double kAnswered = -1;
constexpr auto kLightEvery = std::chrono::milliseconds(10);

double Seconds(Clock::time_point at) {
  return std::chrono::duration<double>(at.time_since_epoch()).count();
}

class FloodClient {
 public:
  FloodClient(const Wire& wire, int port, int in_flight)
      : wire_(wire),
        socket_(port),
        out_(wire.Greeting()),
        in_flight_(static_cast<uint64_t>(in_flight)),
        asked_at_(std::bit_ceil(4 * in_flight_)) {}

  uint64_t room() const { return in_flight_ - std::min(in_flight_, asked_ - answered_); }
  void Ask(double now) {
    asked_at_[asked_ % asked_at_.size()] = now;
    wire_.AppendRequest(asked_++, out_);
  }
  void Write() { socket_.TrySend(out_); }
  // Adds them to `waits` if that is not null.
  void Read(double now, FloodResult* waits) {
    if (!socket_.TryReceive(in_)) return;
    answers_.clear();
    wire_.Take(in_, next_, answers_);
    for (const Wire::Answer& answer : answers_) {
      double& asked_at = asked_at_[answer.n % asked_at_.size()];
      if (asked_at == kAnswered) continue;  // a call that was refused may be reset as well
      if (waits != nullptr) (answer.decided ? waits->decided : waits->told).Add(now - asked_at);
      asked_at = kAnswered;
      answered_ += 1;
    }
  }

 private:
  const Wire& wire_;
  LoadSocket socket_;
  std::string in_, out_;
  const uint64_t in_flight_;
  std::vector<double> asked_at_;
  std::vector<Wire::Answer> answers_;
  uint64_t asked_ = 0, answered_ = 0, next_ = 0;
};

// Asks, waits for the answer, and sleeps until the next is due.
class LightClient {
 public:
  LightClient(const Wire& wire, int port)
      : wire_(wire), socket_(port), thread_([this] { Run(); }) {}
  // What it waited, in milliseconds, since Begin.
  std::vector<double> End() {
    ending_ = true;
    thread_.join();
    std::sort(waits_.begin(), waits_.end());
    return std::move(waits_);
  }
  void Begin() { counts_ = true; }

 private:
  void Run() {
    // Not to wait for the flood's own thread, where that is allowed.
    setpriority(PRIO_PROCESS, 0, -15);
    std::string in, out = wire_.Greeting();
    std::vector<Wire::Answer> answers;
    uint64_t next = 0;
    auto due = Clock::now();
    for (uint64_t n = 0; !ending_; ++n) {
      std::this_thread::sleep_until(due);
      wire_.AppendRequest(n, out);
      const auto asked = Clock::now();
      socket_.Send(out);
      out.clear();
      answers.clear();
      for (; answers.empty(); wire_.Take(in, next, answers)) socket_.Receive(in);
      const auto now = Clock::now();
      if (counts_) waits_.push_back((Seconds(now) - Seconds(asked)) * 1000);
      due = std::max(due + kLightEvery, now);
    }
  }

  const Wire& wire_;
  LoadSocket socket_;
  std::vector<double> waits_;
  std::atomic<bool> counts_{false}, ending_{false};
  std::thread thread_;
};

}  // namespace

double Waits::QuantileMs(double q) const {
  auto left = static_cast<uint64_t>(q * static_cast<double>(count_));
  for (size_t i = 0; i < steps_.size(); ++i) {
    if (left < steps_[i]) return static_cast<double>(i + 1) / 4;
    left -= steps_[i];
  }
  return 0;
}

FloodResult Flood(const Wire& wire, int port, const FloodOptions& options) {
  std::vector<std::unique_ptr<FloodClient>> clients;
  for (int i = 0; i < options.connections; ++i) {
    clients.push_back(std::make_unique<FloodClient>(wire, port, options.in_flight));
  }
  LightClient light(wire, port);
  FloodResult result;
  const double start = Seconds(Clock::now()), warm = start + options.seconds / 4;
  double asked = start * options.per_second;  // what was due by then was asked, or given up
  for (double now = start; now < warm + options.seconds; now = Seconds(Clock::now())) {
    if (now >= warm) light.Begin();
    double due = options.per_second == 0 ? 1e18 : now * options.per_second - asked;
    asked = now * options.per_second;
    size_t left = clients.size();
    for (const auto& client : clients) {
      // An equal part of what is due; what one has no room for, the next ones are given.
      auto mine = static_cast<uint64_t>(due / static_cast<double>(left--)) + 1;
      mine = std::min({mine, client->room(), static_cast<uint64_t>(std::max(due, 0.0))});
      due -= static_cast<double>(mine);
      for (; mine > 0; --mine) client->Ask(now);
      client->Write();
      client->Read(now, now < warm ? nullptr : &result);
    }
  }
  result.light_ms = light.End();
  return result;
}

}  // namespace weir::bench
