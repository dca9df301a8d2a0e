// The way from any thread back to a connection, or to a call on it, which may be gone by then.
//
//   limiter: done(answer), on whatever thread  --Post-->  the connection's thread  -->  the protocol
//
// Shared by everyone who may answer late. Whoever it leads to closes it, on the connection's thread,
// before the link goes away: afterwards nothing that was posted is run.
#pragma once

#include <functional>
#include <memory>
#include <mutex>

#include "fronts/protocol.h"
#include "weir/limiter.h"

namespace weir {

class WayBack : public std::enable_shared_from_this<WayBack> {
 public:
  static std::shared_ptr<WayBack> To(Link& link) { return std::make_shared<WayBack>(link); }
  explicit WayBack(Link& link) : clock_(link.clock()), link_(&link) {}

  // From any thread. Runs `work` on the connection's thread; or `gone`, on any, if there is nobody
  // any more.
  void Post(std::function<void(const Turn&)> work, std::function<void(const Turn&)> gone);

  // On the connection's thread.
  void Close();

 private:
  bool open();

  Clock& clock_;
  std::mutex mutex_;
  Link* link_;  // guarded by mutex_; null once it is closed
};

// Makes a reservation whose answer is needed on the connection's thread: calls `reserve` with the
// function that the limiter is to tell, and then `answer` once, before it returns or, if it may wait,
// later by the way back. If there is nobody any more, `gone` (may be null) is called instead, on any thread. A
// limiter that forgets to answer, because the session has ended meanwhile, is answered for.
//
// `answer` and `gone` are given the turn in which they run: `now`, or a later one.
//
// False if the answer is still to come.
using ReserveTold = std::function<void(const Result<Reservation>&, const Turn& now)>;
bool ReserveOnThread(WayBack& way, const Turn& now, bool may_wait,
                     const std::function<void(ReserveDone)>& reserve, ReserveTold answer,
                     ReserveTold gone = nullptr);

// Tokens may have been read again while a reservation waited. To somebody who has no reach there any more
// (null: nowhere at all) nothing is granted: what was is released, and he is told so.
Result<Reservation> IfReached(const Reach* reach, std::string_view ns,
                              const Result<Reservation>& told, Limiter& limiter,
                              const SessionId& session, const Turn& now);

}  // namespace weir
