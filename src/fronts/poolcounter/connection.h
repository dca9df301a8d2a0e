// One connection of PoolCounter: a session of the limiter that holds, or waits for, one lock.
//
// Lines are taken while a lock is waited for, too: whoever asks for another is told to wait, and
// whoever releases gives up waiting.
#pragma once

#include <memory>
#include <string_view>

#include "fronts/protocol.h"
#include "fronts/way_back.h"
#include "weir/limiter.h"

namespace weir::poolcounter {

inline constexpr size_t kMostLine = 4096;

class Connection : public Protocol {
 public:
  // Both outlive the connection.
  Connection(Link& link, Limiter& limiter)
      : link_(link), limiter_(limiter), way_back_(WayBack::To(link)) {}
  ~Connection() override { way_back_->Close(); }

  size_t Receive(std::string_view in, const Turn& now) override;
  void Drain(const Turn&) override { draining_ = true; }
  void Closed(const Turn& now) override;
  bool idle() const override { return !partial_ && !session_; }
  bool owes() const override { return waiting_; }
  bool done() const override { return done_ || (draining_ && !partial_ && !waiting_); }

 private:
  void Carry(std::string_view line, const Turn& now);
  void Acquire(std::string_view words, bool share, const Turn& now);
  void Release(const Turn& now);
  void Answer(const Result<Reservation>& told, bool may_queue);
  void EndSession(const Turn& now);
  void Say(std::string_view line) { link_.out().append(line).push_back('\n'); }

  Link& link_;
  Limiter& limiter_;
  const std::shared_ptr<WayBack> way_back_;

  SessionId session_;     // while it holds or waits
  bool waiting_ = false;  // for the lock
  bool late_ = false;     // what is answered now has to be flushed
  uint64_t asked_ = 0;    // how often; tells answers that are not waited for any more
  bool partial_ = false;
  bool draining_ = false;
  bool done_ = false;
};

}  // namespace weir::poolcounter
