#include "net/address.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>

#include <charconv>
#include <cstring>

namespace weir {
namespace {

Error Wrong(std::string_view text, std::string_view why) {
  return {Code::kBadRequest,
          "\"" + std::string(text) + "\" " + std::string(why) +
              "; an address is HOST:PORT, [IPV6]:PORT or :PORT",
          ""};
}

// Splits at the last colon; takes the brackets off.
bool Split(std::string_view text, std::string& host, std::string& port) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return false;
  std::string_view name = text.substr(0, colon);
  if (name.size() >= 2 && name.front() == '[' && name.back() == ']') {
    name = name.substr(1, name.size() - 2);
  } else if (name.find(':') != std::string_view::npos) {
    return false;
  }
  host = name;
  port = text.substr(colon + 1);
  return true;
}

}  // namespace

Result<Address> Address::Parse(std::string_view text) {
  std::string host, port;
  if (!Split(text, host, port)) return Wrong(text, "is not an address");
  uint16_t number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  if (error != std::errc() || end != port.data() + port.size()) {
    return Wrong(text, "has no port from 0 to 65535");
  }
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.empty() ? nullptr : host.c_str(), port.c_str(), &hints, &found) != 0) {
    return Wrong(text, "names a host that cannot be found");
  }
  Address address;
  std::memcpy(&address.storage, found->ai_addr, found->ai_addrlen);
  address.length = found->ai_addrlen;
  freeaddrinfo(found);
  return address;
}

Address Address::OfSocket(int fd) {
  Address address;
  address.length = sizeof(address.storage);
  getsockname(fd, reinterpret_cast<sockaddr*>(&address.storage), &address.length);
  return address;
}

Address Address::OfPeer(int fd) {
  Address address;
  address.length = sizeof(address.storage);
  getpeername(fd, reinterpret_cast<sockaddr*>(&address.storage), &address.length);
  return address;
}

std::string Address::host() const {
  char text[INET6_ADDRSTRLEN] = "";
  if (storage.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(storage);
    inet_ntop(AF_INET, &v4.sin_addr, text, sizeof text);
  } else if (storage.ss_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(storage);
    if (IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr)) {
      inet_ntop(AF_INET, &v6.sin6_addr.s6_addr[12], text, sizeof text);
    } else {
      inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof text);
    }
  }
  return text;
}

int Address::port() const {
  if (storage.ss_family == AF_INET) {
    return ntohs(reinterpret_cast<const sockaddr_in&>(storage).sin_port);
  }
  if (storage.ss_family == AF_INET6) {
    return ntohs(reinterpret_cast<const sockaddr_in6&>(storage).sin6_port);
  }
  return 0;
}

std::string Address::ToString() const {
  const std::string name = host();
  const bool brackets = name.find(':') != std::string::npos;
  return (brackets ? "[" + name + "]" : name) + ":" + std::to_string(port());
}

bool Address::loopback() const {
  const std::string name = host();
  return name.starts_with("127.") || name == "::1";
}

}  // namespace weir
