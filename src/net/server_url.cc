#include "net/server_url.h"

#include <charconv>

namespace weir {
namespace {

struct Scheme {
  std::string_view text, port;
  UrlKind kind;
  bool tls;
};
constexpr Scheme kSchemes[] = {{"http://", "80", UrlKind::kHttp, false},
                               {"https://", "443", UrlKind::kHttp, true},
                               {"redis://", "6379", UrlKind::kRedis, false},
                               {"rediss://", "6379", UrlKind::kRedis, true}};

Error Wrong(std::string_view text, std::string_view why, UrlKind kind) {
  return {Code::kBadRequest,
          "\"" + std::string(text) + "\" " + std::string(why) + "; an address is HOST:PORT, " +
              (kind == UrlKind::kHttp ? "http://HOST:PORT or https://HOST:PORT"
                                      : "redis://HOST:PORT or rediss://HOST:PORT"),
          ""};
}

bool IsPort(std::string_view text) {
  uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

Result<ServerUrl> ServerUrl::Parse(std::string_view text, UrlKind kind, bool tls) {
  ServerUrl url;
  url.tls = tls;
  std::string_view rest = text;
  std::string_view port;  // unless it is there
  for (const Scheme& scheme : kSchemes) {
    if (scheme.kind != kind || !rest.starts_with(scheme.text)) continue;
    rest.remove_prefix(scheme.text.size());
    url.tls = scheme.tls;
    port = scheme.port;
  }
  if (rest.find("://") != std::string_view::npos) return Wrong(text, "is no address here", kind);
  while (rest.ends_with('/')) rest.remove_suffix(1);
  if (rest.find_first_of("/?#@ ") != std::string_view::npos) {
    return Wrong(text, "has more than a host and a port", kind);
  }
  const size_t colon = rest.rfind(':');
  const size_t bracket = rest.rfind(']');
  std::string_view host = rest;
  if (colon != std::string_view::npos && (bracket == std::string_view::npos || bracket < colon)) {
    host = rest.substr(0, colon);
    port = rest.substr(colon + 1);
    if (!IsPort(port)) return Wrong(text, "has no port from 0 to 65535", kind);
  }
  if (port.empty()) return Wrong(text, "has no port", kind);
  if (host.size() >= 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return Wrong(text, "needs brackets around its IPv6 address", kind);
  }
  if (host.empty() && text.find("://") != std::string_view::npos) {
    return Wrong(text, "has no host", kind);
  }
  url.host = host;
  url.port = port;
  url.authority = rest;
  return url;
}

}  // namespace weir
