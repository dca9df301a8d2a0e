// Who asks over HTTP, and what strangers do not get: rebound names, proxies, pages of other sites.
#include <gtest/gtest.h>

#include "tests/fronts/http_testing.h"

namespace weir::http_gate_test {
namespace {

using testing::Get;
using testing::Has;
using testing::StatusOf;

// As a server without a token file.
class LocalOnly : public AccessPolicy {
 public:
  bool May(Operation what, std::string_view, const Asker& who) const override {
    return what == Operation::kHealth || what == Operation::kDecide ||
           what == Operation::kProxyDecide || who.local || who.token == "key";
  }
  bool MaySomewhere(Operation what, const Asker& who) const override { return May(what, "", who); }
  const Reach* ReachOf(std::string_view) const override { return &kEverywhere; }
  Code WhyNot(const Asker&) const override { return Code::kUnauthenticated; }
  const std::atomic<uint64_t>& version() const override { return version_; }

 private:
  const std::atomic<uint64_t> version_{1};
};

class LocalLink : public testing::FakeLink {
 public:
  LocalLink(Front& front, bool loopback) : FakeLink(front, loopback ? "127.0.0.1" : "192.0.2.7") {
    from_loopback_ = loopback;
  }
};

class HttpGate : public ::testing::Test {
 protected:
  HttpGate() { Build({}); }

  void Build(std::vector<std::string> cors) {
    HttpOptions options;
    options.gate = {.policy = &policy_,
                    .decisions_open = true,
                    .cors = std::move(cors),
                    .own_names = {"weir.internal"}};
    front_ = std::make_unique<HttpFront>(*limiter_, std::move(options));
    front_->routes().Add("GET", "/secret", Operation::kStatistics,
                         [](const http::HttpRequest&, http::Responder responder) {
                           responder.Send({.body = "seen"});
                         });
  }
  int Secret(const std::string& host, const std::string& headers = "", bool loopback = true) {
    LocalLink link(*front_, loopback);
    return StatusOf(link.Send("GET /secret HTTP/1.1\r\nHost: " + host + "\r\n" + headers + "\r\n"));
  }
  std::string Ask(const std::string& headers, const std::string& method = "POST",
                  const std::string& path = "/v1/request") {
    LocalLink link(*front_, true);
    const std::string body(testing::kAsk);
    return link.Send(method + " " + path + " HTTP/1.1\r\nHost: localhost:8080\r\n" + headers +
                     "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
  }

  const LocalOnly policy_;
  std::unique_ptr<Limiter> limiter_ = testing::Open(testing::kShopRules);
  std::unique_ptr<HttpFront> front_;
};

TEST_F(HttpGate, ThisMachineIsWhoAsksLoopbackByItsName) {
  for (const char* host : {"localhost", "LOCALHOST:8080", "127.0.0.1", "127.1.2.3:80", "[::1]:8080",
                           "weir.internal:8080"}) {
    EXPECT_EQ(Secret(host), 200) << host;
    EXPECT_EQ(Secret(host, "", false), 401) << host << " from elsewhere";
  }
  for (const char* host :
       {"evil.example", "evil.example:8080", "localhost.evil.example", "10.0.0.1",
        "127.0.0.1.evil.example", "", "[::2]", "[::1", "localhost@evil.example"}) {
    EXPECT_EQ(Secret(host), 401) << host;
  }
  EXPECT_EQ(Secret("evil.example", "Authorization: Bearer key\r\n", false), 200);
  EXPECT_EQ(Secret("evil.example", "Authorization: bearer key\r\n", false), 200);
  EXPECT_EQ(Secret("evil.example", "Authorization: Basic key\r\n", false), 401);
}

// As HAProxy's health check does. The sanitizers look on.
TEST_F(HttpGate, WhoNamesNoHostIsAnsweredAndNotFromHere) {
  LocalLink checks(*front_, true), asks(*front_, true);
  EXPECT_EQ(StatusOf(checks.Send("GET /healthz HTTP/1.0\r\n\r\n")), 200);
  EXPECT_EQ(StatusOf(asks.Send("GET /secret HTTP/1.0\r\n\r\n")), 401);
  for (const char* host : {"", "[]", ":", "[", "[]:80", "\x01"}) EXPECT_NE(Secret(host), 200);
}

TEST_F(HttpGate, ATargetThatNamesAnotherHostIsNotFromHere) {
  const auto ask = [&](const std::string& target, const std::string& host) {
    LocalLink link(*front_, true);
    return StatusOf(link.Send("GET " + target + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n"));
  };
  EXPECT_EQ(ask("http://localhost:8080/secret", "localhost"), 200);
  EXPECT_EQ(ask("http://127.0.0.1/secret", "weir.internal"), 200);
  EXPECT_EQ(ask("http://evil.example/secret", "localhost"), 401);
  EXPECT_EQ(ask("http://localhost@evil.example/secret", "localhost"), 401);
  EXPECT_EQ(ask("http://localhost/secret", "evil.example"), 401);
  EXPECT_EQ(ask("http:///secret", "localhost"), 400);
  EXPECT_EQ(ask("/secret", "localhost"), 200) << "nothing is left of the last";
}

TEST_F(HttpGate, WhatCameThroughAHopOrFromAPageIsNotFromHere) {
  for (const char* header :
       {"X-Forwarded-For: 8.8.8.8", "x-forwarded-for: 127.0.0.1", "X-Forwarded-Host: localhost",
        "Forwarded: for=8.8.8.8", "Via: 1.1 proxy", "X-Real-IP: 8.8.8.8", "X-Forwarded-Proto: http",
        "Origin: https://evil.example", "Origin: null", "Origin: http://localhost.evil.example",
        "Sec-Fetch-Site: cross-site", "Sec-Fetch-Site: same-site"}) {
    EXPECT_EQ(Secret("localhost", std::string(header) + "\r\n"), 401) << header;
  }
  for (const char* header :
       {"Origin: http://localhost:3000", "Origin: http://127.0.0.1", "Origin: http://[::1]:80",
        "Sec-Fetch-Site: same-origin", "Sec-Fetch-Site: none", "X-Api-Key: k"}) {
    EXPECT_EQ(Secret("localhost", std::string(header) + "\r\n"), 200) << header;
  }
  EXPECT_EQ(Secret("localhost", "Origin: http://localhost\r\nOrigin: http://localhost\r\n"), 400);
  EXPECT_EQ(Secret("localhost", "Authorization: Bearer key\r\nAuthorization: Bearer x\r\n"), 400);
}

TEST_F(HttpGate, APageOfAnotherSiteDecidesNothing) {
  const std::string foreign = "Origin: https://evil.example\r\n";
  const auto remaining = [&] {
    return limiter_->Peek({"shop", "search", "ann"}, testing::kStart).remaining;
  };
  const uint64_t before = remaining();
  for (const char* type : {"", "Content-Type: text/plain\r\n", "Content-Type: text/plain\r\n",
                           "Content-Type: application/x-www-form-urlencoded\r\n",
                           "Content-Type: multipart/form-data; boundary=x\r\n",
                           "Content-Type: text/plain; application/json\r\n"}) {
    for (const char* path : {"/v1/request", "/v1/peek", "/v1/settle", "/v1/session", "/v1/reserve",
                             "/v1/release", "/v1/transfer", "/v1/seize", "/v1/session/x"}) {
      EXPECT_EQ(StatusOf(Ask(foreign + type, "POST", path)), 403) << path << type;
    }
    EXPECT_EQ(
        StatusOf(Ask(foreign + type, "GET", "/v1/auth?namespace=shop&resource=free&subject=a")),
        403);
  }
  EXPECT_EQ(remaining(), before);
  // What is no page, or had to be asked for first.
  EXPECT_EQ(StatusOf(Ask("")), 200);
  EXPECT_EQ(StatusOf(Ask("Content-Type: application/x-www-form-urlencoded\r\n")), 200) << "curl -d";
  EXPECT_EQ(StatusOf(Ask(foreign + "Content-Type: Application/JSON; charset=utf-8\r\n")), 429);
  // A proxy passes on what its client says.
  EXPECT_EQ(StatusOf(Ask(foreign + "X-Forwarded-For: 8.8.8.8\r\n", "GET",
                         "/v1/auth?namespace=shop&resource=free&subject=a")),
            200);
}

TEST_F(HttpGate, ListedOriginsAreAnsweredAsBrowsersWant) {
  Build({"https://shop.example"});
  const std::string origin = "Origin: https://shop.example\r\n";
  const std::string asked = Ask(origin + "Access-Control-Request-Method: POST\r\n", "OPTIONS");
  EXPECT_EQ(StatusOf(asked), 204);
  EXPECT_TRUE(Has(asked, "Access-Control-Allow-Origin: https://shop.example\r\n")) << asked;
  EXPECT_TRUE(Has(asked, "Access-Control-Allow-Headers: Content-Type, Authorization\r\n"));
  const std::string answer = Ask(origin + "Content-Type: text/plain\r\n");
  EXPECT_EQ(StatusOf(answer), 200);
  EXPECT_TRUE(Has(answer, "Access-Control-Allow-Origin: https://shop.example\r\n")) << answer;
  EXPECT_TRUE(Has(answer, "Vary: Origin\r\n"));
  EXPECT_FALSE(Has(Ask(""), "Access-Control"));
  EXPECT_EQ(StatusOf(Ask("Origin: https://evil.example\r\n", "OPTIONS")), 405);
  EXPECT_EQ(StatusOf(Ask("Origin: https://shop.example.evil\r\nContent-Type: text/plain\r\n")),
            403);
  EXPECT_EQ(Secret("localhost", origin), 401) << "decisions, no more";
  EXPECT_FALSE(Has(Ask(origin, "OPTIONS", "/secret"), "Access-Control"));
}

}  // namespace
}  // namespace weir::http_gate_test
