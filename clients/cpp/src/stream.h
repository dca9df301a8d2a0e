// Bytes to and from a server, each wait with a deadline; sealed by TLS if asked for.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "clients/cpp/src/address.h"
#include "clients/cpp/src/tls.h"

namespace weir::client {

class Stream {
 public:
  // Connects. All throw Failure: kDeadlineExceeded leaves the stream as it was, to be gone on with.
  Stream(const Address& address, const TlsContext* tls, Duration deadline);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  void Queue(std::string_view bytes);  // to be sent by the next Flush
  void Flush(Duration deadline);
  std::string Read(Duration deadline);  // at least one byte

  // From any thread.
  void Shut();          // ends it; whoever reads is told
  bool HungUp() const;  // the server has
  int descriptor() const { return descriptor_; }

 private:
  bool Connect(const SocketAddress& address, Duration deadline);  // false: see errno
  void Await(short events, Duration deadline) const;
  std::string Receive(Duration deadline);

  int descriptor_ = -1;
  std::optional<Tls> tls_;
  std::string unsent_;
};

}  // namespace weir::client
