// What the tests of the fronts share: a connection without a socket.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/manual_executor.h"
#include "fronts/protocol.h"
#include "tests/limiter/testing.h"

namespace weir::testing {

// Keeps what was not used, as the server does, and all that was written.
class FakeLink : public Link {
 public:
  explicit FakeLink(Front& front, std::string_view peer = "192.0.2.7")
      : peer_(peer), protocol_(front.Accept(*this)) {}

  void Flush() override {
    for (bool more = true; more;) {
      written_ += out_;
      more = !out_.empty() && !unread_.empty();
      out_.clear();
      if (more) Offer();
    }
  }
  void FlushSoon() override { soon_ = true; }
  ManualExecutor& executor() override { return executor_; }
  ManualClock& clock() override { return clock_; }
  std::string_view peer() const override { return peer_; }
  void SetLate(bool late) { late_ = late; }
  void SetHalfClosed() { half_closed_ = true; }
  uint64_t refused() const { return refused_; }

  // Sends bytes to the protocol; returns all that it has written since it was last asked.
  std::string Send(std::string_view bytes, Instant now = kStart) {
    clock_.Set(now);
    unread_.append(bytes);
    Offer();
    Flush();
    RunDue();
    return Written();
  }
  // Carries out what was posted.
  std::string RunPosted() {
    executor_.RunSome();
    RunDue();
    return Written();
  }
  std::string Written() { return std::exchange(written_, {}); }
  const std::string& unread() const { return unread_; }
  Protocol& protocol() { return *protocol_; }
  void Disconnect() { protocol_.reset(); }
  // As the server does when the peer has hung up.
  void Close(Instant now = kStart) {
    clock_.Set(now);
    protocol_->Closed(Turn(clock_));
    protocol_.reset();
  }
  bool has_posted() { return executor_.has_posted(); }

 private:
  // What is due, and what that answers.
  void RunDue() {
    do {
      if (std::exchange(soon_, false) && protocol_ != nullptr) Flush();
      executor_.timers().Run(Turn(clock_));
    } while (soon_);
  }

  // In a place of its own, so that a view kept too long is seen by the sanitizers.
  void Offer() {
    const std::vector<char> bytes(unread_.begin(), unread_.end());
    unread_.erase(0, protocol_->Receive({bytes.data(), bytes.size()}, Turn(clock_)));
  }

  const std::string peer_;
  std::string unread_;
  std::string written_;
  ManualClock& clock_ = KeptClock();
  ManualExecutor executor_{clock_};
  bool soon_ = false;
  std::unique_ptr<Protocol> protocol_;
};

}  // namespace weir::testing
