#include "fronts/http/client_address.h"

#include <algorithm>

namespace weir::http {
namespace {

bool Trusted(const Address& address, std::span<const Network> hops) {
  return std::any_of(hops.begin(), hops.end(),
                     [&](const Network& hop) { return hop.Contains(address); });
}

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

}  // namespace

std::optional<std::string_view> ClientAddress(const HttpRequest& request,
                                              std::span<const Network> trusted_hops,
                                              Address::Text& text) {
  std::optional<Address> client = ParseAddress(request.peer);
  if (!client) return request.peer;  // not of the Internet: a Unix socket
  for (size_t i = request.headers.size(); i-- > 0;) {
    if (!IsWord(request.headers[i].name, "x-forwarded-for")) continue;
    std::string_view list = request.headers[i].value;
    for (bool more = true; more;) {
      if (!Trusted(*client, trusted_hops)) return client->ToText(text);
      const size_t comma = list.rfind(',');
      more = comma != std::string_view::npos;
      client = ParseAddress(Trimmed(more ? list.substr(comma + 1) : list));
      if (!client) return std::nullopt;
      if (more) list = list.substr(0, comma);
    }
  }
  return client->ToText(text);
}

}  // namespace weir::http
