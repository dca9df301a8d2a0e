// HOST:PORT, and the sockets' addresses that it stands for.
#pragma once

#include <sys/socket.h>

#include <string>
#include <vector>

#include "weir/client/clock.h"

namespace weir::client {

struct Address {
  std::string host, port;
};

// Also [HOST]:PORT, for hosts with colons in them. Throws an Error of kBadRequest.
Address ParseAddress(const std::string& text);

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t length = 0;
};

// Throws Failure if there is none, or if it is not found by the deadline.
std::vector<SocketAddress> Resolve(const Address& address, Duration deadline);

}  // namespace weir::client
