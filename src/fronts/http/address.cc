#include "fronts/http/address.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>

namespace weir::http {
namespace {

constexpr std::array<uint8_t, 12> kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

bool IsMapped(const Address& address) {
  return std::equal(kMapped.begin(), kMapped.end(), address.bytes.begin());
}

std::optional<Address> ParseBare(std::string_view text) {
  Address::Text copy{};
  if (text.size() >= copy.size() || text.find('\0') != std::string_view::npos) return std::nullopt;
  std::copy(text.begin(), text.end(), copy.begin());
  Address address;
  if (inet_pton(AF_INET6, copy.data(), address.bytes.data()) == 1) return address;
  std::copy(kMapped.begin(), kMapped.end(), address.bytes.begin());
  if (inet_pton(AF_INET, copy.data(), address.bytes.data() + kMapped.size()) == 1) return address;
  return std::nullopt;
}

bool IsPort(std::string_view text) {
  return !text.empty() && text.size() <= 5 &&
         text.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

std::string_view Address::ToText(Text& text) const {
  const bool mapped = IsMapped(*this);
  const uint8_t* const from = bytes.data() + (mapped ? kMapped.size() : 0);
  return inet_ntop(mapped ? AF_INET : AF_INET6, from, text.data(),
                   static_cast<socklen_t>(text.size()));
}

std::optional<Address> ParseAddress(std::string_view text) {
  if (!text.empty() && text[0] == '[') {
    const size_t end = text.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view rest = text.substr(end + 1);
    if (!rest.empty() && (rest[0] != ':' || !IsPort(rest.substr(1)))) return std::nullopt;
    return ParseBare(text.substr(1, end - 1));
  }
  const size_t colon = text.find(':');
  if (colon != std::string_view::npos && colon == text.rfind(':')) {
    if (!IsPort(text.substr(colon + 1))) return std::nullopt;
    text = text.substr(0, colon);
  }
  return ParseBare(text);
}

bool Network::Contains(const Address& other) const {
  int left = bits;
  for (size_t i = 0; i < 16 && left > 0; ++i, left -= 8) {
    const unsigned differ = address.bytes[i] ^ other.bytes[i];
    if (left >= 8 ? differ != 0 : differ >> (8 - left) != 0) return false;
  }
  return true;
}

std::optional<Network> ParseNetwork(std::string_view text) {
  const size_t slash = std::min(text.find('/'), text.size());
  const std::optional<Address> address = ParseBare(text.substr(0, slash));
  if (!address) return std::nullopt;
  const bool four = IsMapped(*address) && text.substr(0, slash).find(':') == std::string_view::npos;
  if (slash == text.size()) return Network{*address, 128};
  const std::string_view digits = text.substr(slash + 1);
  int bits = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, bits);
  if (error != std::errc() || stop != end || bits < 0 || bits > (four ? 32 : 128)) {
    return std::nullopt;
  }
  return Network{*address, four ? 96 + bits : bits};
}

}  // namespace weir::http
