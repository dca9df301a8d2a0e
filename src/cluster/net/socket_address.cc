#include "cluster/net/socket_address.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <memory>

namespace weir::cluster {
namespace {

Error Wrong(std::string_view text) {
  return {Code::kBadRequest,
          "\"" + std::string(text) +
              "\" is not an address: HOST:PORT, [IPV6]:PORT or :PORT, with a port up to 65535",
          ""};
}

std::vector<std::string> Sorted(std::vector<std::string> all) {
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

std::string Text(const sockaddr* from, socklen_t length) {
  SocketAddress address;
  std::memcpy(&address.storage, from, length);
  address.length = length;
  return address.ToString();
}

in6_addr Mapped(const in_addr& v4) {
  in6_addr v6{};
  v6.s6_addr[10] = v6.s6_addr[11] = 0xff;
  std::memcpy(&v6.s6_addr[12], &v4, sizeof v4);
  return v6;
}

}  // namespace

Result<HostPort> SplitHostPort(std::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return Wrong(text);
  std::string_view host = text.substr(0, colon);
  const std::string_view port = text.substr(colon + 1);
  if (host.size() >= 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return Wrong(text);
  }
  uint16_t number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  if (error != std::errc() || end != port.data() + port.size()) return Wrong(text);
  return HostPort{std::string(host), std::string(port)};
}

bool SocketAddress::Parse(std::string_view text, int family, SocketAddress& address) {
  const Result<HostPort> split = SplitHostPort(text);
  if (!split) return false;
  const auto port = htons(static_cast<uint16_t>(std::stoi(split->port)));
  in_addr v4{};
  auto& as_v4 = reinterpret_cast<sockaddr_in&>(address.storage);
  auto& as_v6 = reinterpret_cast<sockaddr_in6&>(address.storage);
  address.storage = {};
  const bool is_v4 = inet_pton(AF_INET, split->host.c_str(), &v4) == 1;
  if (is_v4 && family == AF_INET) {
    as_v4.sin_family = AF_INET;
    as_v4.sin_port = port;
    as_v4.sin_addr = v4;
    address.length = sizeof as_v4;
    return true;
  }
  if (family == AF_INET) return false;
  as_v6.sin6_family = AF_INET6;
  as_v6.sin6_port = port;
  address.length = sizeof as_v6;
  if (is_v4) {
    as_v6.sin6_addr = Mapped(v4);
    return true;
  }
  return inet_pton(AF_INET6, split->host.c_str(), &as_v6.sin6_addr) == 1;
}

SocketAddress SocketAddress::OfSocket(int fd) {
  SocketAddress address;
  address.length = sizeof address.storage;
  getsockname(fd, address.get(), &address.length);
  return address;
}

int SocketAddress::port() const {
  return ntohs(family() == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(storage).sin6_port
                                    : reinterpret_cast<const sockaddr_in&>(storage).sin_port);
}

bool SocketAddress::any() const {
  if (family() == AF_INET6) {
    return IN6_IS_ADDR_UNSPECIFIED(&reinterpret_cast<const sockaddr_in6&>(storage).sin6_addr);
  }
  return reinterpret_cast<const sockaddr_in&>(storage).sin_addr.s_addr == htonl(INADDR_ANY);
}

std::string SocketAddress::ToString() const {
  char text[INET6_ADDRSTRLEN] = "";
  const auto& v6 = reinterpret_cast<const sockaddr_in6&>(storage);
  if (family() == AF_INET) {
    inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in&>(storage).sin_addr, text, sizeof text);
  } else if (IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr)) {
    inet_ntop(AF_INET, &v6.sin6_addr.s6_addr[12], text, sizeof text);
  } else {
    inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof text);
    return "[" + std::string(text) + "]:" + std::to_string(port());
  }
  return std::string(text) + ":" + std::to_string(port());
}

std::vector<std::string> LookUp(const HostPort& name, int family) {
  addrinfo hints{};
  hints.ai_family = family;
  hints.ai_socktype = SOCK_DGRAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (getaddrinfo(name.host.empty() ? nullptr : name.host.c_str(), name.port.c_str(), &hints,
                  &found) != 0) {
    return {};
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, freeaddrinfo);
  std::vector<std::string> all;
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    all.push_back(Text(one->ai_addr, one->ai_addrlen));
  }
  return Sorted(std::move(all));
}

std::vector<std::string> OwnAddresses(const SocketAddress& own) {
  if (!own.any()) return {own.ToString()};
  ifaddrs* found = nullptr;
  if (getifaddrs(&found) != 0) return {};
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(found, freeifaddrs);
  std::vector<std::string> all;
  for (const ifaddrs* one = found; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr) continue;
    const int family = one->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    const bool v6 = family == AF_INET6;
    const std::string zero = Text(one->ifa_addr, v6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in));
    all.push_back(zero.substr(0, zero.rfind(':') + 1) + std::to_string(own.port()));
  }
  return Sorted(std::move(all));
}

}  // namespace weir::cluster
