// Where to listen: "127.0.0.1:8080", "[::1]:8080", ":8080" (every address), "localhost:8080".
#pragma once

#include <string>
#include <string_view>

#include <sys/socket.h>

#include "weir/error.h"

namespace weir {

struct Address {
  sockaddr_storage storage{};
  socklen_t length = 0;

  static Result<Address> Parse(std::string_view text);
  static Address OfSocket(int fd);  // that a bound socket has
  static Address OfPeer(int fd);

  std::string host() const;  // "127.0.0.1", "::1"
  int port() const;
  std::string ToString() const;
  bool loopback() const;
};

}  // namespace weir
