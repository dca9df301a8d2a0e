// The one place of the client that reads the machine's clock, sleeps, and asks for chance.
#include <chrono>
#include <random>
#include <thread>

#include "weir/client/clock.h"

namespace weir::client {
namespace {

class SystemClock : public Clock {
 public:
  Duration Now() override { return std::chrono::steady_clock::now().time_since_epoch(); }
  void Sleep(Duration time) override { std::this_thread::sleep_for(time); }
  double Chance() override {
    thread_local std::minstd_rand engine(std::random_device{}());
    return std::uniform_real_distribution<double>(0, 1)(engine);
  }
};

}  // namespace

std::shared_ptr<Clock> Clock::System() {
  static const std::shared_ptr<Clock> clock = std::make_shared<SystemClock>();
  return clock;
}

}  // namespace weir::client
