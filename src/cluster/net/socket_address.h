// Addresses as nodes write them: "10.0.0.1:7946", "[fd00::1]:7946". What a kernel wants is made of
// them here. An IPv4 address is written as such, also where a socket of IPv6 sees it.
#pragma once

#include <sys/socket.h>

#include <string>
#include <string_view>
#include <vector>

#include "weir/error.h"

namespace weir::cluster {

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t length = 0;

  // Numbers only: nothing is looked up. `family` AF_INET6 maps an IPv4 address.
  static bool Parse(std::string_view text, int family, SocketAddress& address);
  static SocketAddress OfSocket(int fd);

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
  int family() const { return storage.ss_family; }
  int port() const;
  bool any() const;  // every address of the machine
  // Which family of addresses a socket that is bound to this one reaches; AF_UNSPEC: both.
  int reaches() const { return family() == AF_INET6 && any() ? AF_UNSPEC : family(); }
  std::string ToString() const;
};

struct HostPort {
  std::string host, port;
};
// HOST:PORT, [IPV6]:PORT or :PORT, with a port from 0 to 65535.
Result<HostPort> SplitHostPort(std::string_view text);

// Every address of a host in `family` (AF_UNSPEC: in both), sorted; waits for the answer. Empty if it
// cannot be found.
std::vector<std::string> LookUp(const HostPort& name, int family);
// Where who listens on `own` is reached. One address of a machine leaves the others to other nodes.
std::vector<std::string> OwnAddresses(const SocketAddress& own);

}  // namespace weir::cluster
