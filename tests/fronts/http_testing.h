// What the tests of HTTP share: rules, requests as text, and a look at answers.
#pragma once

#include <string>
#include <string_view>

#include "fronts/http/http_front.h"
#include "tests/fronts/testing.h"

namespace weir::testing {

inline constexpr std::string_view kShopRules = R"(
namespaces:
  shop:
    resources:
      search:
        limits:
          - {name: daily, algorithm: fixed_window, limit: 100, per: 1d}
          - {name: 'bu"rst', limit: 2, per: 1500ms}
          - {name: dark, limit: 1, per: 1s, shadow: true}
      never: {limits: [{name: shut, limit: 0, per: 1s}]}
      free: {limits: [{name: open, limit: unlimited}]}
      video:
        tiers:
          hard_limit: 5
          tiers: [{limit: 3, window: 1s, active: 60s, cooldown: 0s}]
      sandbox: {copies: {per_subject: 5}}
)";

inline std::string Get(std::string_view target, std::string_view headers = "") {
  return "GET " + std::string(target) + " HTTP/1.1\r\nHost: h\r\n" + std::string(headers) + "\r\n";
}
inline std::string Post(std::string_view target, std::string_view body) {
  return "POST " + std::string(target) +
         " HTTP/1.1\r\nHost: h\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
         std::string(body);
}
inline int StatusOf(const std::string& answer) {
  return answer.size() < 12 ? 0 : std::stoi(answer.substr(9, 3));
}
inline std::string BodyOf(const std::string& answer) {
  const size_t end = answer.find("\r\n\r\n");
  return end == std::string::npos ? "" : answer.substr(end + 4);
}
inline bool Has(const std::string& answer, std::string_view part) {
  return answer.find(part) != std::string::npos;
}

inline HttpOptions Options() {
  HttpOptions options;
  options.trusted_hops = {*http::ParseNetwork("10.0.0.0/8")};
  options.json_rate_limit = [](const http::HttpRequest& request, http::Responder responder) {
    const std::string body = "[" + std::string(request.body) + "]";
    responder.Send({.status = 429, .content_type = "application/json", .body = body});
  };
  return options;
}

struct HttpTest : ::testing::Test {
  std::unique_ptr<Limiter> limiter = Open(kShopRules);
  HttpFront front{*limiter, Options()};
  FakeLink link{front};
  std::string Send(std::string_view bytes, Instant now = kStart) { return link.Send(bytes, now); }
};

inline constexpr std::string_view kAsk =
    "{\"namespace\": \"shop\", \"resource\": \"search\", \"subject\": \"ann\"}";

}  // namespace weir::testing
