// Decisions over HTTP, from bytes to bytes: what goes wrong, then what is answered.
#include <gtest/gtest.h>

#include "fronts/http/http_front.h"
#include "tests/fronts/http_testing.h"

namespace weir::http_front_test {
namespace {

using namespace testing;  // NOLINT: the helpers are most of what is written here

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

// What the reader of JSON finds right may be wrong to whoever decides.
TEST_F(HttpTest, ErrorsOfTheLimiterNameTheirField) {
  const std::string long_name(1025, 'x');
  const struct {
    std::string path, ns, resource, subject, more, field;
  } kinds[] = {
      {"/v1/request", "shop", "search", long_name, "", "\"subject\""},
      {"/v1/peek", "shop", "search", long_name, "", "\"subject\""},
      {"/v1/request", "nowhere", "search", "u", "", "\"namespace\""},
      {"/v1/request", long_name, "search", "u", "", "\"namespace\""},
      {"/v1/peek", "nowhere", "search", "u", "", "\"namespace\""},
      {"/v1/request", "shop", "nothing", "u", "", "\"resource\""},
      {"/v1/request", "shop", long_name, "u", "", "\"resource\""},
      {"/v1/request", "shop", "sandbox", "u", "", "\"resource\""},
      {"/v1/request", "shop", "search", "u", ",\"cost\":9007199254740993", "\"cost\""},
      {"/v1/request", "shop", "search", "u", ",\"min_cost\":2", "\"min_cost\""},
      {"/v1/reserve", "shop", "sandbox", long_name, "", "\"subject\""},
      {"/v1/reserve", "nowhere", "sandbox", "u", "", "\"namespace\""},
      {"/v1/reserve", "shop", "nothing", "u", "", "\"resource\""},
      {"/v1/reserve", "shop", "search", "u", "", "\"resource\""},
      {"/v1/reserve", "shop", "sandbox", "u", ",\"copies\":0", "\"copies\""},
      {"/v1/reserve", "shop", "sandbox", "u", ",\"min_copies\":2", "\"min_copies\""},
  };
  const std::string opened = BodyOf(Send(Post("/v1/session", "")));
  const std::string session = opened.substr(opened.find(':') + 1, 34);
  for (const auto& kind : kinds) {
    const std::string answer = Send(
        Post(kind.path, (kind.path == "/v1/reserve" ? "{\"session\":" + session + "," : "{") +
                            "\"namespace\":\"" + kind.ns + "\",\"resource\":\"" + kind.resource +
                            "\",\"subject\":\"" + kind.subject + "\"" + kind.more + "}"));
    EXPECT_GE(StatusOf(answer), 400) << answer;
    EXPECT_TRUE(Has(answer, "\"field\":" + kind.field + "}")) << kind.path << " " << answer;
  }
  // The same in the query of /v1/auth.
  EXPECT_TRUE(
      Has(Send(Get("/v1/auth?namespace=no&resource=search&subject=u")), "\"field\":\"namespace\""));
  EXPECT_TRUE(Has(Send(Get("/v1/auth?namespace=shop&resource=search&subject=" + long_name)),
                  "\"field\":\"subject\""));
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
  EXPECT_EQ(field(good + "&subject_from=header:X-User", "X-User: a\r\nx-user: b\r\n"),
            "subject_from");
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
      "{\"name\":\"dark\",\"limit\":1,\"per_ms\":1000,\"remaining\":0,\"reset_after_ms\":1000,"
      "\"shadow\":true,\"would_refuse\":false}]}";
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
    const auto fresh = Open(kShopRules);
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

TEST_F(HttpTest, ALimitInShadowSaysWhetherItWouldRefuse) {
  const std::string ask = Post("/v1/request",
                               "{\"namespace\":\"shop\",\"resource\":\"search\",\"subject\":"
                               "\"who\"}");
  EXPECT_TRUE(Has(Send(ask), "\"shadow\":true,\"would_refuse\":false}]"));
  const std::string second = Send(ask);
  EXPECT_EQ(StatusOf(second), 200);
  EXPECT_TRUE(Has(second, "\"shadow\":true,\"would_refuse\":true}]")) << second;
}

// ---- Other routes ----

TEST_F(HttpTest, OtherRoutesAreThere) {
  EXPECT_EQ(Send(Get("/healthz")),
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 3\r\n"
            "\r\nOK\n");
  EXPECT_EQ(StatusOf(Send(Get("/healthcheck"))), 200);
  EXPECT_EQ(BodyOf(Send(Get("/readyz"))), "{\"ready\":true,\"problems\":[]}\n");
  HttpFront busy(*limiter, {.health = [] { return HttpOptions::Health{false, "{}"}; }});
  EXPECT_EQ(StatusOf(FakeLink(busy).Send(Get("/readyz"))), 503);
  EXPECT_EQ(BodyOf(FakeLink(busy).Send(Get("/readyz"))), "{}");
  EXPECT_EQ(BodyOf(FakeLink(busy).Send(Get("/healthz"))), "OK\n") << "it lives";
  EXPECT_EQ(StatusOf(FakeLink(busy).Send(Get("/healthz?verbose"))), 200);
  EXPECT_EQ(BodyOf(FakeLink(busy).Send(Get("/healthz?verbose"))), "{}");
  EXPECT_EQ(StatusOf(FakeLink(busy).Send(Post("/json", "{}"))), 404);
  const std::string json = Send(Post("/json", "{}"));
  EXPECT_EQ(StatusOf(json), 429);
  EXPECT_EQ(BodyOf(json), "[{}]");
}

}  // namespace
}  // namespace weir::http_front_test
