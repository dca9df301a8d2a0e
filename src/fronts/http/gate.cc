#include "fronts/http/gate.h"

#include <algorithm>

#include "fronts/codes.h"
#include "fronts/http/address.h"
#include "fronts/letters.h"

namespace weir::http {
namespace {

constexpr std::string_view kBearer = "bearer ";

bool Decides(Operation what) {
  return what == Operation::kDecide || what == Operation::kProxyDecide;
}

// "localhost:8080" -> "localhost", "[::1]:8080" -> "::1".
std::string_view WithoutPort(std::string_view host) {
  if (host.starts_with('[')) {
    const size_t end = host.find(']');
    return end == std::string_view::npos ? host : host.substr(1, end - 1);
  }
  return host.substr(0, host.find(':'));
}

bool IsLoopback(std::string_view host) {
  if (IsWord(host, "localhost")) return true;
  static const Network kFour = *ParseNetwork("127.0.0.0/8"), kSix = *ParseNetwork("::1");
  const std::optional<Address> address = ParseAddress(host);
  return address && (kFour.Contains(*address) || kSix.Contains(*address));
}

bool IsJson(std::string_view content_type) {
  content_type = content_type.substr(0, content_type.find(';'));
  while (content_type.ends_with(' ') || content_type.ends_with('\t')) content_type.remove_suffix(1);
  return IsWord(content_type, "application/json");
}

}  // namespace

std::string_view TokenOf(std::string_view authorization) {
  if (!IsWord(authorization.substr(0, kBearer.size()), kBearer)) return {};
  authorization.remove_prefix(kBearer.size());
  while (authorization.starts_with(' ')) authorization.remove_prefix(1);
  return authorization;
}

bool Gate::NamesThisMachine(std::string_view host) const {
  const std::string_view name = WithoutPort(host);
  if (IsLoopback(name)) return true;
  return std::any_of(options_.own_names.begin(), options_.own_names.end(),
                     [&](const std::string& own) { return SameWord(own, name); });
}

// "null" is what a browser says for pages that have no origin, or hide it.
bool Gate::IsForeign(std::string_view origin) const {
  const size_t scheme = origin.find("://");
  return scheme == std::string_view::npos || !NamesThisMachine(origin.substr(scheme + 3));
}

bool Gate::Lists(std::string_view origin) const {
  if (origin.empty()) return false;
  return std::any_of(options_.cors.begin(), options_.cors.end(), [&](const std::string& listed) {
    return listed == "*" || SameWord(listed, origin);
  });
}

Asker Gate::WhoAsks(Operation what, const RequestHead& head, bool from_loopback) const {
  Asker who{.token = TokenOf(head.authorization)};
  if (Decides(what) || !from_loopback || head.through_hop) return who;
  // A target may name a host too. Whichever counts: both must be this machine.
  const bool named =
      NamesThisMachine(head.host) && (head.authority.empty() || NamesThisMachine(head.authority));
  if (!named) return who;
  const bool other_site = head.fetch_site == "cross-site" || head.fetch_site == "same-site";
  who.local = !other_site && (head.origin.empty() || !IsForeign(head.origin));
  return who;
}

std::optional<Gate::Refusal> Gate::Refuse(Operation what, const RequestHead& head, const Asker& who,
                                          const Reach*& reach) const {
  reach = &kEverywhere;
  if (Decides(what)) {
    if (!head.origin.empty() && !head.beyond_pages && !head.is_1_0 && !IsJson(head.content_type) &&
        IsForeign(head.origin) && !Lists(head.origin)) {
      return Refusal{403, "forbidden",
                     "a web page of another site may not ask; --cors ORIGIN allows it, and what is "
                     "no page sends its body as application/json"};
    }
    if (options_.decisions_open || options_.policy == nullptr) return std::nullopt;
    reach = options_.policy->ReachOf(who.token);
    if (reach != nullptr) return std::nullopt;
  } else if (options_.policy == nullptr || options_.policy->MaySomewhere(what, who)) {
    return std::nullopt;
  }
  const Code why = options_.policy->WhyNot(who);
  return Refusal{HttpStatus(why), CodeName(why),
                 why == Code::kForbidden ? kNotThisToken : kTokenNeeded};
}

std::string Gate::CorsHeaders(std::string_view origin) {
  return "Access-Control-Allow-Origin: " + std::string(origin) +
         "\r\nAccess-Control-Expose-Headers: RateLimit, RateLimit-Policy, Retry-After, "
         "X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset\r\nVary: Origin\r\n";
}

std::string Gate::PreflightHeaders(std::string_view origin) {
  return "Access-Control-Allow-Origin: " + std::string(origin) +
         "\r\nAccess-Control-Allow-Methods: POST, DELETE\r\n"
         "Access-Control-Allow-Headers: Content-Type, Authorization\r\n"
         "Access-Control-Max-Age: 600\r\nVary: Origin\r\n";
}

}  // namespace weir::http
