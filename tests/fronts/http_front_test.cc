// HTTP from bytes to bytes.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "fronts/http/http_front.h"
#include "tests/fronts/testing.h"

namespace weir {
namespace {

using std::chrono::milliseconds;
using testing::FakeLink;
using testing::kStart;

constexpr std::string_view kRules = R"(
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

std::string Get(std::string_view target, std::string_view headers = "") {
  return "GET " + std::string(target) + " HTTP/1.1\r\nHost: h\r\n" + std::string(headers) + "\r\n";
}
std::string Post(std::string_view target, std::string_view body) {
  return "POST " + std::string(target) +
         " HTTP/1.1\r\nHost: h\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
         std::string(body);
}
int StatusOf(const std::string& answer) {
  return answer.size() < 12 ? 0 : std::stoi(answer.substr(9, 3));
}
std::string BodyOf(const std::string& answer) {
  const size_t end = answer.find("\r\n\r\n");
  return end == std::string::npos ? "" : answer.substr(end + 4);
}
bool Has(const std::string& answer, std::string_view part) {
  return answer.find(part) != std::string::npos;
}

HttpOptions Options() {
  HttpOptions options;
  options.trusted_hops = {*http::ParseNetwork("10.0.0.0/8")};
  options.json_rate_limit = [](std::string_view body, Instant) {
    return HttpOptions::JsonAnswer{429, "[" + std::string(body) + "]"};
  };
  return options;
}

struct HttpTest : ::testing::Test {
  std::unique_ptr<Limiter> limiter = testing::Open(kRules);
  HttpFront front{*limiter, Options()};
  FakeLink link{front};
  std::string Send(std::string_view bytes, Instant now = kStart) { return link.Send(bytes, now); }
};

// ---- What goes wrong ----

TEST_F(HttpTest, BrokenRequestsAreAnsweredOnceAndEndTheConnection) {
  EXPECT_EQ(Send("GET / HTTP/1.1\r\n\r\n" + Get("/healthz")),
            "HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: 84\r\n"
            "Connection: close\r\n\r\n"
            "{\"error\":{\"code\":\"bad_request\",\"message\":\"the Host header is missing\","
            "\"field\":null}}");
  EXPECT_TRUE(link.protocol().done());
  EXPECT_EQ(Send(Get("/healthz")), "");
}

TEST_F(HttpTest, TooMuchIsRefusedBeforeItComes) {
  const auto status = [&](std::string_view bytes) { return StatusOf(FakeLink(front).Send(bytes)); };
  EXPECT_EQ(status("POST /json HTTP/1.1\r\nHost: h\r\nContent-Length: 1048576\r\n\r\n"), 413);
  EXPECT_EQ(status("POST /json HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
                   "fffff\r\n"),
            413);
  EXPECT_EQ(status("GET /" + std::string(20'000, 'x')), 431);
  EXPECT_EQ(status("GET / HTTP/3.0\r\nHost: h\r\n\r\n"), 505);
  EXPECT_EQ(status("GET / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip\r\n\r\n"), 501);
}

TEST_F(HttpTest, UnknownPathsAndMethodsAreErrorsInJson) {
  const std::string missing = Send(Get("/nothing"));
  EXPECT_EQ(StatusOf(missing), 404);
  EXPECT_EQ(BodyOf(missing),
            "{\"error\":{\"code\":\"not_found\",\"message\":\"there is nothing at this path\","
            "\"field\":null}}");
  const std::string wrong = Send(Get("/v1/request"));
  EXPECT_EQ(StatusOf(wrong), 405);
  EXPECT_TRUE(Has(wrong, "\r\nAllow: POST\r\n"));
  EXPECT_TRUE(
      Has(Send("DELETE /v1/auth HTTP/1.1\r\nHost: h\r\n\r\n"), "\r\nAllow: GET, HEAD, POST\r\n"));
  EXPECT_EQ(StatusOf(Send(Get("/v1/auth?a=%"))), 400);
  EXPECT_FALSE(link.protocol().done());
}

TEST_F(HttpTest, JsonErrorsNameTheirField) {
  const auto field = [&](std::string_view body) {
    const std::string answer = Send(Post("/v1/request", body));
    EXPECT_EQ(StatusOf(answer), 400) << body;
    const size_t at = answer.find("\"field\":");
    return at == std::string::npos ? answer : answer.substr(at + 8, answer.size() - at - 10);
  };
  const auto with = [&](std::string_view more) {
    return field("{\"namespace\":\"shop\",\"resource\":\"search\",\"subject\":\"u\"," +
                 std::string(more) + "}");
  };
  EXPECT_EQ(field(""), "null");
  EXPECT_EQ(field("{"), "null");
  EXPECT_EQ(field("[]"), "null");
  EXPECT_EQ(field("7"), "null");
  EXPECT_EQ(field("{\"namespace\"}"), "null");
  EXPECT_EQ(field("{} x"), "null");
  EXPECT_EQ(field("{\"subject\":\"\xff\"}"), "null");
  EXPECT_EQ(field("{}"), "\"namespace\"");
  EXPECT_EQ(field("{\"namespace\":\"shop\"}"), "\"resource\"");
  EXPECT_EQ(field("{\"namespace\":1}"), "\"namespace\"");
  EXPECT_EQ(field("{\"namespace\":null}"), "\"namespace\"");
  EXPECT_EQ(field("{\"namespace\":\"\\q\"}"), "\"namespace\"");
  EXPECT_EQ(with("\"cost\":-1"), "\"cost\"");
  EXPECT_EQ(with("\"cost\":1.5"), "\"cost\"");
  EXPECT_EQ(with("\"cost\":1.0"), "\"cost\"");
  EXPECT_EQ(with("\"cost\":1e3"), "\"cost\"");
  EXPECT_EQ(with("\"cost\":01"), "\"cost\"");
  EXPECT_EQ(with("\"cost\":\"1\""), "\"cost\"");
  EXPECT_EQ(with("\"cost\":9007199254740993"), "\"cost\"");
  EXPECT_EQ(with("\"cost\":99999999999999999999999999"), "\"cost\"");
  EXPECT_EQ(with("\"cost\":{}"), "\"cost\"");
  EXPECT_EQ(with("\"cost\":1x"), "\"cost\"");
  EXPECT_EQ(with("\"cost\":1,\"cost\":1"), "\"cost\"");
  EXPECT_EQ(with("\"min_cost\":2"), "\"min_cost\"");
  EXPECT_EQ(with("\"settle\":1"), "\"settle\"");
  EXPECT_EQ(with("\"settle\":truex"), "\"settle\"");
  EXPECT_EQ(with("\"other\":1"), "\"other\"");
  EXPECT_EQ(with("\"o\\\"\\u0001\":1"), "\"o\\\"\\u0001\"");
  EXPECT_EQ(with("\"cost\":1 2"), "null");
  EXPECT_EQ(with("\"cost\":1]"), "null");
}

TEST_F(HttpTest, ErrorsOfTheLimiterHaveTheirStatus) {
  const auto ask = [&](std::string_view ns, std::string_view resource) {
    return StatusOf(
        Send(Post("/v1/request", "{\"namespace\":\"" + std::string(ns) + "\",\"resource\":\"" +
                                     std::string(resource) + "\",\"subject\":\"u\"}")));
  };
  EXPECT_EQ(ask("nowhere", "search"), 404);
  EXPECT_EQ(ask("shop", "nothing"), 404);
  EXPECT_EQ(ask("shop", "sandbox"), 409);
  const auto settle = [&](std::string_view body) { return Send(Post("/v1/settle", body)); };
  const std::string gone = settle("{\"ticket\":\"00000000000000000000000000000001\",\"cost\":1}");
  EXPECT_EQ(StatusOf(gone), 404);
  EXPECT_TRUE(Has(gone, "\"code\":\"unknown_ticket\""));
  EXPECT_TRUE(Has(settle("{\"ticket\":\"x\",\"cost\":1}"), "\"field\":\"ticket\""));
  EXPECT_TRUE(Has(settle("{\"ticket\":\"x\"}"), "\"field\":\"cost\""));
}

TEST_F(HttpTest, AuthNamesTheParameterThatIsWrong) {
  const auto field = [&](std::string_view query, std::string_view headers = "") {
    const std::string answer = Send(Get("/v1/auth?" + std::string(query), headers));
    EXPECT_EQ(StatusOf(answer), 400) << query;
    const size_t at = answer.find("\"field\":\"");
    return at == std::string::npos ? "" : answer.substr(at + 9, answer.size() - at - 12);
  };
  const std::string good = "namespace=shop&resource=search";
  EXPECT_EQ(field("resource=search&subject=u"), "namespace");
  EXPECT_EQ(field("namespace=shop&subject=u"), "resource");
  EXPECT_EQ(field(good), "subject");
  EXPECT_EQ(field(good + "&subject=u&cost=-1"), "cost");
  EXPECT_EQ(field(good + "&subject=u&cost=1.5"), "cost");
  EXPECT_EQ(field(good + "&subject=u&cost="), "cost");
  EXPECT_EQ(field(good + "&subject=u&deny=200"), "deny");
  EXPECT_EQ(field(good + "&subject=u&subject=v"), "subject");
  EXPECT_EQ(field(good + "&subject=u&other=v"), "other");
  EXPECT_EQ(field(good + "&subject=u&%ff=v"), "?");
  EXPECT_EQ(field(good + "&subject=u&subject_from=address"), "subject_from");
  EXPECT_EQ(field(good + "&subject_from=cookie:a"), "subject_from");
  EXPECT_EQ(field(good + "&subject_from=header:"), "subject_from");
  EXPECT_EQ(field(good + "&subject_from=header:X-User"), "subject_from");
  EXPECT_EQ(field(good + "&subject_from=header:X-User", "X-User:\r\n"), "subject_from");
  EXPECT_EQ(StatusOf(Send(Get("/v1/auth?namespace=no&resource=search&subject=u"))), 404);
}

// ---- Decisions ----

constexpr std::string_view kAsk =
    "{\"namespace\": \"shop\", \"resource\": \"search\", \"subject\": \"ann\"}";

TEST_F(HttpTest, AnAllowedRequestIsToldWhereItStands) {
  const std::string body =
      "{\"allowed\":true,\"granted\":1,\"remaining\":1,\"retry_after_ms\":0,\"reset_after_ms\":750,"
      "\"limit\":\"bu\\\"rst\",\"limits\":["
      "{\"name\":\"daily\",\"limit\":100,\"per_ms\":86400000,\"remaining\":99,"
      "\"reset_after_ms\":57600000},"
      "{\"name\":\"bu\\\"rst\",\"limit\":2,\"per_ms\":1500,\"remaining\":1,\"reset_after_ms\":750},"
      "{\"name\":\"dark\",\"limit\":1,\"per_ms\":1000,\"remaining\":0,\"reset_after_ms\":1000}]}";
  EXPECT_EQ(Send(Post("/v1/request", kAsk)),
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " +
                std::to_string(body.size()) +
                "\r\nRateLimit-Policy: \"bu\\\"rst\";q=2;w=2,\"daily\";q=100;w=86400\r\n"
                "RateLimit: \"bu\\\"rst\";r=1;t=1\r\nX-RateLimit-Limit: 2\r\n"
                "X-RateLimit-Remaining: 1\r\nX-RateLimit-Reset: 1\r\n\r\n" +
                body);
}

TEST_F(HttpTest, ARefusalIsAProblemWithAllFields) {
  Send(Post("/v1/request", kAsk) + Post("/v1/request", kAsk));
  const std::string answer = Send(Post("/v1/request", kAsk));
  EXPECT_EQ(StatusOf(answer), 429);
  EXPECT_TRUE(Has(answer, "\r\nContent-Type: application/problem+json\r\n"));
  EXPECT_TRUE(Has(answer, "\r\nRetry-After: 1\r\n"));
  EXPECT_TRUE(Has(BodyOf(answer),
                  "{\"type\":\"https://iana.org/assignments/http-problem-types#quota-exceeded\","
                  "\"title\":\"Request cannot be satisfied as assigned quota has been exceeded\","
                  "\"status\":429,\"violated-policies\":[\"bu\\\"rst\"],\"allowed\":false,"
                  "\"granted\":0,\"remaining\":0,\"retry_after_ms\":750,"));
  const std::string peek = Send(Post("/v1/peek", kAsk));
  EXPECT_EQ(StatusOf(peek), 200);
  EXPECT_TRUE(Has(peek, "\"allowed\":false"));
  EXPECT_FALSE(Has(peek, "Retry-After"));
}

TEST_F(HttpTest, WhereWaitingDoesNotHelpThereIsNoTimeToWait) {
  const std::string answer = Send(
      Post("/v1/request", "{\"namespace\":\"shop\",\"resource\":\"never\",\"subject\":\"u\"}"));
  EXPECT_EQ(StatusOf(answer), 429);
  EXPECT_TRUE(Has(answer, "\"retry_after_ms\":-1,"));
  EXPECT_FALSE(Has(answer, "Retry-After"));
}

TEST_F(HttpTest, WhereNothingLimitsNumbersAreNullAndHeadersLeftOut) {
  const std::string body =
      "{\"allowed\":true,\"granted\":1,\"remaining\":null,\"retry_after_ms\":0,"
      "\"reset_after_ms\":0,\"limit\":null,\"limits\":[{\"name\":\"open\",\"limit\":null,"
      "\"per_ms\":0,\"remaining\":null,\"reset_after_ms\":0}]}";
  EXPECT_EQ(
      Send(Post("/v1/request", "{\"namespace\":\"shop\",\"resource\":\"free\",\"subject\":\"u\"}")),
      "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " +
          std::to_string(body.size()) + "\r\n\r\n" + body);
}

TEST_F(HttpTest, TiersTellTheirOwnFields) {
  const std::string answer = Send(
      Post("/v1/request", "{\"namespace\":\"shop\",\"resource\":\"video\",\"subject\":\"u\"}"));
  EXPECT_TRUE(Has(answer,
                  "],\"tier\":1,\"tier_limit\":3,\"tier_hits\":1,\"burst\":true,\"hard_limit\":5,"
                  "\"hard_limited\":false,\"hits_last_second\":1,\"global_limit\":null,"
                  "\"global_limited\":false,\"global_hits_last_second\":0}"))
      << answer;
}

TEST_F(HttpTest, TheTrueCostIsSettledByTicket) {
  const std::string answer =
      Send(Post("/v1/request",
                "{\"namespace\":\"shop\",\"resource\":\"search\",\"subject\":\"u\",\"cost\":2,"
                "\"min_cost\":1,\"settle\":true}"));
  const size_t at = answer.find("\"ticket\":\"");
  ASSERT_NE(at, std::string::npos) << answer;
  const std::string settle =
      Post("/v1/settle", "{\"ticket\":\"" + answer.substr(at + 10, 32) + "\",\"cost\":1}");
  EXPECT_EQ(BodyOf(Send(settle)), "{\"charged\":1,\"remaining\":0}");
  EXPECT_EQ(StatusOf(Send(settle)), 404);
}

// ---- For proxies ----

TEST_F(HttpTest, AuthAnswersWithoutABody) {
  const std::string ask = Get("/v1/auth?namespace=shop&resource=search&subject=a%20b&deny=403");
  EXPECT_EQ(Send(ask),
            "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n"
            "RateLimit-Policy: \"bu\\\"rst\";q=2;w=2,\"daily\";q=100;w=86400\r\n"
            "RateLimit: \"bu\\\"rst\";r=1;t=1\r\nX-RateLimit-Limit: 2\r\n"
            "X-RateLimit-Remaining: 1\r\nX-RateLimit-Reset: 1\r\n\r\n");
  EXPECT_EQ(StatusOf(Send(ask)), 200);
  const std::string refused = Send(ask);
  EXPECT_EQ(StatusOf(refused), 403);
  EXPECT_TRUE(Has(refused, "\r\nRetry-After: 1\r\n"));
  EXPECT_EQ(BodyOf(refused), "");
  EXPECT_EQ(StatusOf(Send(Post("/v1/auth?namespace=shop&resource=search&subject=a+b", "ignored"))),
            429);
  EXPECT_EQ(StatusOf(Send(Get("/v1/auth?namespace=shop&resource=search&subject=c&cost=3"))), 429);
}

TEST_F(HttpTest, AuthTakesTheSubjectFromAHeader) {
  const auto remaining = [&](std::string_view headers) {
    const std::string answer =
        Send(Get("/v1/auth?namespace=shop&resource=search&subject_from=header:X-User", headers));
    const size_t at = answer.find("X-RateLimit-Remaining: ");
    return at == std::string::npos ? answer : answer.substr(at + 23, 1);
  };
  EXPECT_EQ(remaining("x-user: ann\r\n"), "1");
  EXPECT_EQ(remaining("X-USER: bob\r\n"), "1");
  EXPECT_EQ(remaining("X-User: ann\r\n"), "0");
}

TEST_F(HttpTest, AnAddressIsBelievedOnlyFromTrustedHops) {
  // Which subject was asked for is seen from what is left to it.
  const auto counted_as = [&](std::string_view peer, std::string_view headers) -> std::string {
    const auto fresh = testing::Open(kRules);
    HttpFront other(*fresh, Options());
    FakeLink from(other, peer);
    const std::string answer =
        from.Send(Get("/v1/auth?namespace=shop&resource=search&subject_from=address", headers));
    if (StatusOf(answer) != 200) return std::to_string(StatusOf(answer));
    const auto busiest = fresh->Busiest("shop", "search");
    return busiest.empty() ? "nobody" : busiest[0].subject;
  };
  EXPECT_EQ(counted_as("192.0.2.7", ""), "192.0.2.7");
  EXPECT_EQ(counted_as("192.0.2.7", "X-Forwarded-For: 1.1.1.1\r\n"), "192.0.2.7");
  EXPECT_EQ(counted_as("10.0.0.1", ""), "10.0.0.1");
  EXPECT_EQ(counted_as("10.0.0.1", "X-Forwarded-For: 1.1.1.1\r\n"), "1.1.1.1");
  EXPECT_EQ(counted_as("10.0.0.1", "X-Forwarded-For: 6.6.6.6, 1.1.1.1:99 , 10.0.0.2\r\n"),
            "1.1.1.1");
  EXPECT_EQ(counted_as("10.0.0.1", "X-Forwarded-For: 6.6.6.6\r\nx-forwarded-for: 1.1.1.1\r\n"),
            "1.1.1.1");
  EXPECT_EQ(counted_as("10.0.0.1", "X-Forwarded-For: 10.0.0.3, 10.0.0.2\r\n"), "10.0.0.3");
  EXPECT_EQ(counted_as("10.0.0.1", "X-Forwarded-For: [2001:DB8::1]:5\r\n"), "2001:db8::1");
  EXPECT_EQ(counted_as("10.0.0.1", "X-Forwarded-For: garbage, 1.1.1.1\r\n"), "1.1.1.1");
  EXPECT_EQ(counted_as("10.0.0.1", "X-Forwarded-For: unknown\r\n"), "400");
  EXPECT_EQ(counted_as("10.0.0.1", "X-Forwarded-For:\r\n"), "400");
}

// ---- The connection ----

TEST_F(HttpTest, OtherRoutesAreThere) {
  EXPECT_EQ(Send(Get("/healthz")),
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 3\r\n"
            "\r\nOK\n");
  EXPECT_EQ(StatusOf(Send(Get("/healthcheck"))), 200);
  EXPECT_EQ(StatusOf(Send(Get("/readyz"))), 200);
  HttpFront busy(*limiter, {.ready = [] { return false; }});
  EXPECT_EQ(StatusOf(FakeLink(busy).Send(Get("/readyz"))), 503);
  EXPECT_EQ(StatusOf(FakeLink(busy).Send(Post("/json", "{}"))), 404);
  const std::string json = Send(Post("/json", "{}"));
  EXPECT_EQ(StatusOf(json), 429);
  EXPECT_EQ(BodyOf(json), "[{}]");
}

TEST_F(HttpTest, HeadIsGetWithoutItsBody) {
  EXPECT_EQ(Send("HEAD /healthz HTTP/1.1\r\nHost: h\r\n\r\n"),
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 3\r\n"
            "\r\n");
}

TEST_F(HttpTest, ConnectionsCloseWhenTheyShould) {
  EXPECT_TRUE(Has(Send("GET /healthz HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"),
                  "\r\nConnection: keep-alive\r\n"));
  EXPECT_FALSE(link.protocol().done());
  EXPECT_TRUE(Has(Send(Get("/healthz", "Connection: close\r\n") + Get("/healthz")),
                  "\r\nConnection: close\r\n\r\nOK\n"));
  EXPECT_TRUE(link.protocol().done());
  FakeLink old(front);
  EXPECT_TRUE(Has(old.Send("GET /healthz HTTP/1.0\r\n\r\n"), "\r\nConnection: close\r\n"));
  EXPECT_TRUE(old.protocol().done());
}

TEST_F(HttpTest, ABodyIsAskedForOnce) {
  const std::string head =
      "POST /json HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n";
  EXPECT_EQ(Send(head), "HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_EQ(Send("bo"), "");
  EXPECT_EQ(BodyOf(Send("dy")), "[body]");
  EXPECT_EQ(BodyOf(Send(head + "body")), "[body]");
  EXPECT_EQ(Send("POST /json HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\n"
                 "Transfer-Encoding: chunked\r\n\r\n"),
            "HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_EQ(BodyOf(Send("2\r\nbo\r\n2\r\ndy\r\n0\r\n\r\n")), "[body]");
}

TEST_F(HttpTest, DrainingFinishesWhatHasBegun) {
  EXPECT_TRUE(link.protocol().idle());
  Send("GET /healthz HT");
  EXPECT_FALSE(link.protocol().idle());
  link.protocol().Drain();
  EXPECT_FALSE(link.protocol().done());
  EXPECT_TRUE(Has(Send("TP/1.1\r\nHost: h\r\n\r\n"), "\r\nConnection: close\r\n"));
  EXPECT_TRUE(link.protocol().done());
  FakeLink quiet(front);
  quiet.protocol().Drain();
  EXPECT_TRUE(quiet.protocol().done());
}

// ---- Answers that come later ----

struct LaterTest : HttpTest {
  LaterTest() {
    front.routes().Add("GET", "/later", [this](const http::HttpRequest&, http::Responder r) {
      waiting.push_back(std::move(r));
    });
    front.routes().Add("GET", "/drop", [](const http::HttpRequest&, http::Responder) {});
    front.routes().AddPrefix("GET", "/tree/", [](const http::HttpRequest& q, http::Responder r) {
      const std::string body =
          std::string(q.method) + " " + std::string(q.path) + " " + std::string(q.rest) + " " +
          std::string(q.FindParameter("a").value_or("-")) + " " +
          std::string(q.FindHeader("x-b").value_or("-")) + " " + std::string(q.peer);
      r.Send({.status = 201, .content_type = "a/b", .body = body, .headers = "E: f\r\n"});
    });
    front.routes().AddPrefix("PUT", "/", [](const http::HttpRequest&, http::Responder r) {
      r.Send({.status = 200, .content_type = {}, .body = {}, .headers = {}});
    });
  }
  std::vector<http::Responder> waiting;
};

TEST_F(LaterTest, RequestsBehindAnOutstandingAnswerWait) {
  EXPECT_EQ(Send(Get("/later") + Get("/healthz")), "");
  EXPECT_FALSE(link.protocol().idle());
  ASSERT_EQ(waiting.size(), 1u);
  waiting[0].Send({.status = 200, .content_type = "t", .body = "late", .headers = {}});
  waiting[0].Send({.status = 200, .content_type = "t", .body = "again", .headers = {}});
  const std::string both = link.RunPosted();
  EXPECT_EQ(both,
            "HTTP/1.1 200 OK\r\nContent-Type: t\r\nContent-Length: 4\r\n\r\nlate"
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 3\r\n"
            "\r\nOK\n");
  EXPECT_TRUE(link.protocol().idle());
}

TEST_F(LaterTest, AnAnswerToAConnectionThatIsGoneDoesNothing) {
  Send(Get("/later"));
  link.Disconnect();
  waiting[0].Send({.status = 200, .content_type = "t", .body = "late", .headers = {}});
  EXPECT_EQ(link.RunPosted(), "");
  FakeLink other(front);
  other.Send(Get("/later"));
  waiting[1].Send({.status = 200, .content_type = "t", .body = "late", .headers = {}});
  other.Disconnect();
  other.RunPosted();  // its flush comes too late, and harms nobody
}

TEST_F(LaterTest, AForgottenAnswerIsGivenAllTheSame) {
  EXPECT_EQ(StatusOf(Send(Get("/drop"))), 503);
  Send(Get("/later"));
  waiting.clear();
  EXPECT_EQ(StatusOf(link.RunPosted()), 503);
  EXPECT_EQ(StatusOf(Send(Get("/healthz"))), 200);
}

TEST_F(LaterTest, PrefixesTakeWhatIsBelowThem) {
  EXPECT_EQ(Send(Get("/tree/x/y?a=%41", "X-B: c\r\n")),
            "HTTP/1.1 201 Created\r\nContent-Type: a/b\r\nContent-Length: 31\r\nE: f\r\n\r\n"
            "GET /tree/x/y x/y A c 192.0.2.7");
  EXPECT_EQ(StatusOf(Send("PUT /any HTTP/1.1\r\nHost: h\r\n\r\n")), 200);
  EXPECT_TRUE(Has(Send("PUT /tree/x HTTP/1.1\r\nHost: h\r\n\r\n"), "Allow: GET, HEAD\r\n"));
}

// ---- Splits ----

RC_GTEST_PROP(HttpProperty, EverySplitOfTheBytesGivesTheSameAnswers, ()) {
  const auto pieces = *rc::gen::container<std::vector<std::string>>(rc::gen::element<std::string>(
      Get("/healthz"), Get("/v1/auth?namespace=shop&resource=search&subject=u"),
      Post("/v1/request", kAsk), Post("/v1/request", "{\"a\""), Get("/nothing"), "\r\n",
      "POST /json HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
      "2;x\r\nbo\r\n2\r\ndy\r\n0\r\nT: u\r\n\r\n",
      "HEAD /healthz HTTP/1.1\r\nHost: h\r\n\r\n", Get("/healthz", "Connection: close\r\n"),
      "GET / HTTP/1.1\r\n\r\n", "GET", "\r", "\n", "0\r\n",
      "POST /json HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"));
  std::string sent;
  for (const std::string& piece : pieces) sent += piece;
  const auto whole_limiter = testing::Open(kRules), split_limiter = testing::Open(kRules);
  HttpFront whole_front(*whole_limiter, Options()), split_front(*split_limiter, Options());
  FakeLink whole(whole_front), split(split_front);
  const std::string expected = whole.Send(sent);
  const size_t at = *rc::gen::inRange<size_t>(0, sent.size() + 1);
  std::string answers = split.Send(std::string_view(sent).substr(0, at));
  answers += split.Send(std::string_view(sent).substr(at));
  RC_ASSERT(answers == expected);
  RC_ASSERT(split.protocol().done() == whole.protocol().done());
}

TEST(HttpSplits, SingleBytesGiveTheSameAnswersAsAll) {
  const std::string sent = Get("/healthz") + Post("/v1/request", kAsk) + "\r\n" +
                           "POST /json HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
                           "2;x\r\nbo\r\n2\r\ndy\r\n0\r\nT: u\r\n\r\n" +
                           Post("/v1/settle", "{}") + Get("/v1/nothing") + "GET /\n";
  const auto whole_limiter = testing::Open(kRules), split_limiter = testing::Open(kRules);
  HttpFront whole_front(*whole_limiter, Options()), split_front(*split_limiter, Options());
  FakeLink whole(whole_front), split(split_front);
  std::string answers;
  for (const char byte : sent) answers += split.Send({&byte, 1});
  EXPECT_EQ(answers, whole.Send(sent));
}

}  // namespace
}  // namespace weir
