// Internet addresses, and the networks that hold them. An IPv4 address is kept as the IPv6 address
// that maps it (::ffff:192.0.2.7), so both are compared alike.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weir::http {

struct Address {
  std::array<uint8_t, 16> bytes{};
  bool operator==(const Address&) const = default;
  // "192.0.2.7", "2001:db8::1": one text for each address. Written into `text`; returns its view.
  using Text = std::array<char, 46>;
  std::string_view ToText(Text& text) const;
};

// With or without port, as hops write it: 192.0.2.7, 192.0.2.7:80, 2001:db8::1, [2001:db8::1]:80.
std::optional<Address> ParseAddress(std::string_view text);

struct Network {
  Address address;
  int bits = 128;  // of the mapped form
  bool Contains(const Address& other) const;
};

// 10.0.0.0/8, fd00::/8, or a single address.
std::optional<Network> ParseNetwork(std::string_view text);

}  // namespace weir::http
