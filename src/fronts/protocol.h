// What a front is to the server: bytes in, bytes out, and no socket.
//
//   server/net                       fronts
//   ----------                       ------
//   accepts a connection  ------>    Front::Accept(link)  -> Protocol
//   reads what there is   ------>    Protocol::Receive(bytes, now)
//                         <------        appends answers to link.out()
//   writes link.out()
//
// One thread runs a connection from its beginning to its end: a Protocol needs no lock. `now` is
// read once for everything that a read brought, and so is one instant for all requests in it.
//
// Bounds are kept on both sides: the server hands over at most kMostUnread bytes that were not used
// and closes a connection whose protocol then still wants more; and it reads nothing more while
// link.out() holds more than kMostUnsent. A protocol stops there too, leaving the rest unused: it is
// called again with that once its answers are written.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "weir/instant.h"

namespace weir {

inline constexpr size_t kMostUnread = size_t{1} << 20;    // of one request, headers and body
inline constexpr size_t kMostUnsent = size_t{256} << 10;  // then reading stops until it is written

// The connection as its protocol sees it.
class Link {
 public:
  virtual ~Link() = default;

  // What will be written after Receive, Drain or Flush.
  std::string& out() { return out_; }
  // To be called, on the connection's own thread, after something was appended to out() at another
  // time than in Receive or Drain.
  virtual void Flush() = 0;
  // Runs `work` on the connection's thread, soon; from any thread. The work must not assume that
  // the connection still exists: it captures what tells (a weak_ptr).
  virtual void Post(std::function<void()> work) = 0;

  // The peer's address without its port: "192.0.2.7", "2001:db8::1".
  virtual std::string_view peer() const = 0;
  bool from_loopback() const { return from_loopback_; }

 protected:
  std::string out_;
  bool from_loopback_ = false;
};

class Protocol {
 public:
  virtual ~Protocol() = default;

  // Bytes from the peer: what was not used before, and what is new. Returns how many are used up;
  // the rest comes again, with more behind it. What is not used up at all for long is a request that
  // does not end: the connection is closed.
  virtual size_t Receive(std::string_view in, Instant now) = 0;
  // Now and then, about once a second.
  virtual void Tick(Instant) {}
  // The server is going down: finish what was begun, take nothing new, and say so if the protocol
  // has words for it.
  virtual void Drain() = 0;
  // The connection has come to its end, for whatever reason; nothing is called after this.
  virtual void Closed(Instant) {}
  // Nothing was begun that is not finished: the server may close without harm. A connection that is
  // not idle must make progress within the server's deadline for a request.
  virtual bool idle() const = 0;
  // A request was taken and is not answered yet, and what follows it is left unused until it is:
  // it is not the peer who keeps the server waiting.
  virtual bool answering() const { return false; }
  // True: close the connection once link.out() is written.
  virtual bool done() const = 0;
};

// One way of talking to the limiter, on one port.
class Front {
 public:
  virtual ~Front() = default;
  virtual std::string_view name() const = 0;  // "resp", "grpc", "http", "poolcounter"
  virtual std::string_view alpn() const = 0;  // of TLS; empty: none
  // `link` outlives the protocol.
  virtual std::unique_ptr<Protocol> Accept(Link& link) = 0;
};

}  // namespace weir
