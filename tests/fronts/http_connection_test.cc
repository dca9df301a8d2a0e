// A connection of HTTP: its end, its order, and answers that come later.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "fronts/http/http_front.h"
#include "tests/fronts/http_testing.h"

namespace weir::http_connection_test {
namespace {

using namespace testing;  // NOLINT: the helpers are most of what is written here

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
  link.protocol().Drain(Turn(link.clock()));
  EXPECT_FALSE(link.protocol().done());
  EXPECT_TRUE(Has(Send("TP/1.1\r\nHost: h\r\n\r\n"), "\r\nConnection: close\r\n"));
  EXPECT_TRUE(link.protocol().done());
  FakeLink quiet(front);
  quiet.protocol().Drain(Turn(quiet.clock()));
  EXPECT_TRUE(quiet.protocol().done());
}

// ---- Answers that come later ----

struct LaterTest : HttpTest {
  LaterTest() {
    front.routes().Add(
        "GET", "/later", Operation::kHealth,
        [this](const http::HttpRequest&, http::Responder r) { waiting.push_back(std::move(r)); });
    front.routes().Add("GET", "/drop", Operation::kHealth,
                       [](const http::HttpRequest&, http::Responder) {});
    front.routes().AddPrefix(
        "GET", "/tree/", Operation::kHealth, [](const http::HttpRequest& q, http::Responder r) {
          const std::string body =
              std::string(q.method) + " " + std::string(q.path) + " " + std::string(q.rest) + " " +
              std::string(q.FindParameter("a").value_or("-")) + " " +
              std::string(q.FindHeader("x-b").value_or("-")) + " " + std::string(q.peer);
          r.Send({.status = 201, .content_type = "a/b", .body = body, .headers = "E: f\r\n"});
        });
    front.routes().Add(
        "GET", "/same", Operation::kHealth, [](const http::HttpRequest&, http::Responder r) {
          r.Send({.status = 304, .content_type = {}, .body = "none", .headers = "ETag: e\r\n"});
        });
    front.routes().AddPrefix(
        "PUT", "/", Operation::kHealth, [](const http::HttpRequest&, http::Responder r) {
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

TEST_F(LaterTest, WhatIsNotModifiedHasNoBody) {
  EXPECT_EQ(Send(Get("/same")), "HTTP/1.1 304 Not Modified\r\nETag: e\r\n\r\n");
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
  const auto whole_limiter = Open(kShopRules), split_limiter = Open(kShopRules);
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
  const auto whole_limiter = Open(kShopRules), split_limiter = Open(kShopRules);
  HttpFront whole_front(*whole_limiter, Options()), split_front(*split_limiter, Options());
  FakeLink whole(whole_front), split(split_front);
  std::string answers;
  for (const char byte : sent) answers += split.Send({&byte, 1});
  EXPECT_EQ(answers, whole.Send(sent));
}

}  // namespace
}  // namespace weir::http_connection_test
