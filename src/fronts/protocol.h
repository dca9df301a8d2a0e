// What a front is to the server: bytes in, bytes out, and no socket.
//
//   server/connections               fronts
//   ----------                       ------
//   accepts a connection  ------>    Front::Accept(link)  -> Protocol
//   reads what there is   ------>    Protocol::Receive(bytes, now)
//                         <------        appends answers to link.out()
//   writes link.out()
//
// One thread runs a connection from its beginning to its end: a Protocol needs no lock. `now` is
// read once for everything that a read brought, and so is one instant for all requests in it. It
// ends with the call (base/turn.h): what runs later is given the turn in which it runs.
//
// Bounds are kept on both sides: the server hands over at most link.most_unread() bytes that were
// not used and closes a connection whose protocol then still wants more; and it reads nothing more
// while link.full(). A protocol stops there too, leaving the rest unused: it is called again with
// that once its answers are written. Strangers get little: the bounds are wider once a peer has asked
// for something that could be answered, or has shown a token (link.Trust()).
//
// A peer may close its sending side and wait for what it is owed: an answer that comes late. It then
// looks like one that has gone. It is told, what it holds is released meanwhile, and the connection
// ends when nothing is owed any more.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/executor.h"
#include "base/turn.h"

namespace weir {

inline constexpr size_t kMostUnread = size_t{1} << 20;    // of one request, headers and body
inline constexpr size_t kMostUnsent = size_t{256} << 10;  // then reading stops until it is written
// Of a stranger. With what one read brings, and the memory that strings take in reserve, a connection
// holds no more than kMostOfAStranger.
inline constexpr size_t kMostOfAStranger = size_t{64} << 10;
inline constexpr size_t kMostUnreadAtFirst = size_t{48} << 10;
inline constexpr size_t kMostUnsentAtFirst = size_t{8} << 10;

// The connection as its protocol sees it.
class Link {
 public:
  virtual ~Link() = default;

  // What will be written after Receive, Drain or Flush.
  std::string& out() { return out_; }
  // To be called, on the connection's own thread, after something was appended to out() at another
  // time than in Receive or Drain.
  virtual void Flush() = 0;
  // The same, at the end of this turn of the loop: what was answered late in one turn is written once.
  virtual void FlushSoon() = 0;
  // The connection's thread: where what it waits for is answered. Outlives the connection.
  virtual Executor& executor() = 0;
  // Runs `work` on the connection's thread, soon; from any thread. The work must not assume that
  // the connection still exists: it captures what tells (a weak_ptr).
  void Post(std::function<void(const Turn& now)> work) { executor().Post(std::move(work)); }
  // The server's: outlives the link, and whoever asks from any thread.
  virtual Clock& clock() = 0;

  // The peer's address without its port: "192.0.2.7", "2001:db8::1".
  virtual std::string_view peer() const = 0;
  bool from_loopback() const { return from_loopback_; }

  // The peer is no stranger any more.
  void Trust() { trusted_ = true; }
  bool trusted() const { return trusted_; }
  size_t most_unread() const { return trusted_ ? kMostUnread : kMostUnreadAtFirst; }
  bool full() const { return out_.size() > (trusted_ ? kMostUnsent : kMostUnsentAtFirst); }

  // The peer sends nothing more, and may be gone.
  bool half_closed() const { return half_closed_; }

  // Within Receive: for how long the bytes are known to have waited for it, and whether that is so
  // long that what they ask for is to be refused (Code::kOverloaded) rather than decided. Whoever
  // refuses counts it.
  Duration waited() const { return waited_; }
  bool late() const { return late_; }
  void CountRefused() { refused_ += 1; }

 protected:
  std::string out_;
  bool from_loopback_ = false;
  bool trusted_ = false;
  bool half_closed_ = false;
  bool late_ = false;
  Duration waited_{};
  uint64_t refused_ = 0;
};

class Protocol {
 public:
  virtual ~Protocol() = default;

  // Bytes from the peer: what was not used before, and what is new. Returns how many are used up;
  // the rest comes again, with more behind it. What is not used up at all for long is a request that
  // does not end: the connection is closed.
  virtual size_t Receive(std::string_view in, const Turn& now) = 0;
  // Now and then, about once a second.
  virtual void Tick(const Turn&) {}
  // The server is going down: finish what was begun, take nothing new, and say so if the protocol
  // has words for it.
  virtual void Drain(const Turn& now) = 0;
  // The connection has come to its end, for whatever reason; nothing is called after this.
  virtual void Closed(const Turn&) {}
  // Nothing was begun that is not finished: the server may close without harm. A connection that is
  // not idle must make progress within the server's deadline for a request.
  virtual bool idle() const = 0;
  // A request was taken and is not answered yet, and what follows it is left unused until it is:
  // it is not the peer who keeps the server waiting.
  virtual bool answering() const { return false; }
  // Answers are to come to what the peer has sent.
  virtual bool owes() const { return answering(); }
  // The peer sends nothing more, and may be gone: what it holds is released. Called once.
  virtual void HalfClosed(const Turn&) {}
  // Whether it wants to know that its answers reached the peer's machine: it is told by Delivered once
  // all that it owes did, before Closed.
  virtual bool asks_for_delivery() const { return false; }
  virtual void Delivered() {}
  // What is kept for the peer beside link.out() and what was not used, in bytes of memory.
  virtual size_t bytes() const { return 0; }
  // True: close the connection once link.out() is written.
  virtual bool done() const = 0;
};

// One way of talking to the limiter, on one port.
class Front {
 public:
  virtual ~Front() = default;
  virtual std::string_view name() const = 0;  // "resp", "grpc", "http", "poolcounter"
  virtual std::string_view alpn() const = 0;  // of TLS; empty: none
  // Its requests may be refused when they have waited too long.
  virtual bool refuses_late() const { return false; }
  // `link` outlives the protocol.
  virtual std::unique_ptr<Protocol> Accept(Link& link) = 0;
};

}  // namespace weir
