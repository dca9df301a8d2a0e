// Answers that come late keep their order, and nobody is told what was not for him.
#include <gtest/gtest.h>

#include "fronts/answer_line.h"
#include "fronts/resp/resp_front.h"
#include "rules/read/parse.h"
#include "tests/fronts/grpc_client.h"
#include "tests/fronts/http_testing.h"

namespace weir::testing::late_answers_test {
namespace {

using std::chrono::milliseconds;

// `far` is decided by a store that takes a millisecond, `near` here.
constexpr std::string_view kRules = R"(
namespaces:
  n:
    resources:
      far: {limits: [{name: far, limit: 100, per: 1h, coordination: shared}]}
      near: {limits: [{name: near, limit: 100, per: 1h}]}
      both:
        limits:
          - {name: here, limit: 10, per: 1h}
          - {name: there, limit: 5, per: 1h, coordination: shared}
      strict: {limits: [{name: far, limit: 100, per: 1h, coordination: shared, on_failure: deny}]}
)";

class LateAnswers : public ::testing::Test {
 protected:
  static std::unique_ptr<Limiter> NewLimiter(Duration takes) {
    LimiterOptions options;
    options.remote_store = [takes](MemoryStore& here) {
      return std::make_unique<lab::Later>(here, takes);
    };
    const ParseResult rules = ParseRulesText(kRules, "rules.yaml", {.redis = true});
    EXPECT_TRUE(rules.ok()) << ToString(rules.errors);
    return std::make_unique<Limiter>(rules.rules, options, kStart);
  }
  static std::string Ask(const std::string& resource, int cost = 1) {
    return "WEIR.REQUEST n " + resource + " ann COST " + std::to_string(cost) + "\r\n";
  }
  std::unique_ptr<Limiter> limiter = NewLimiter(milliseconds(1));
  RespFront resp{*limiter};
  HttpFront http{*limiter};
};

TEST_F(LateAnswers, AnswersWaitBehindThoseBeforeThem) {
  FakeLink link(resp);
  EXPECT_TRUE(
      link.Send("PING\r\n" + Ask("far") + "PING\r\n" + Ask("near") + Ask("far") + "ECHO x\r\n")
          .starts_with("+PONG\r\n"));
  EXPECT_EQ(link.Written(), "");
  EXPECT_TRUE(link.protocol().owes());
  const std::string answers = link.Send("", kStart + milliseconds(1));
  const size_t far = answers.find("$3\r\nfar"), pong = answers.find("+PONG"),
               near = answers.find("$4\r\nnear"), again = answers.rfind("$3\r\nfar"),
               echo = answers.find("$1\r\nx");
  EXPECT_TRUE(far < pong && pong < near && near < again && again < echo) << answers;
  EXPECT_FALSE(link.protocol().owes());
}

TEST_F(LateAnswers, SixtyFourPipelinedRequestsTakeOneRoundTrip) {
  FakeLink link(resp);
  std::string commands;
  for (int i = 0; i < 64; ++i) commands += Ask("far");
  EXPECT_EQ(link.Send(commands), "");
  const std::string answers = link.Send("", kStart + milliseconds(1));
  size_t count = 0;
  for (size_t at = 0; (at = answers.find("allowed", at)) != std::string::npos; ++at) ++count;
  EXPECT_EQ(count, 64u);
}

TEST_F(LateAnswers, AreInTheFormInWhichTheyWereAskedFor) {
  FakeLink link(resp);
  link.Send(Ask("far") + "HELLO 3\r\n" + Ask("far"));
  const std::string answers = link.Send("", kStart + milliseconds(1));
  EXPECT_EQ(answers[0], '*') << answers;
  EXPECT_NE(answers.find("\r\n%7\r\n", answers.find("proto")), std::string::npos) << answers;
}

TEST_F(LateAnswers, NothingMoreIsTakenWhileTooManyAreAwaited) {
  FakeLink link(resp);
  std::string commands;
  for (size_t i = 0; i < AnswerLine::kMostGaps + 100; ++i) commands += Ask("far");
  link.Send(commands);
  EXPECT_FALSE(link.unread().empty());
  EXPECT_TRUE(link.protocol().answering());
  for (int i = 1; i < 5; ++i) link.Send("", kStart + milliseconds(i));
  EXPECT_TRUE(link.unread().empty());
  EXPECT_FALSE(link.protocol().owes());
}

TEST_F(LateAnswers, AConnectionEndsOnlyWhenAllIsAnswered) {
  FakeLink link(resp);
  link.Send(Ask("far") + "QUIT\r\n");
  EXPECT_FALSE(link.protocol().done());
  EXPECT_TRUE(link.Send("", kStart + milliseconds(1)).ends_with("+OK\r\n"));
  EXPECT_TRUE(link.protocol().done());
}

TEST_F(LateAnswers, WhoHangsUpGetsBackWhatWasTakenHere) {
  {
    FakeLink link(resp);
    link.Send(Ask("both", 4));
    EXPECT_EQ(limiter->Stats().awaited, 1u);
    link.Close();
  }
  EXPECT_EQ(limiter->Stats().awaited, 0u);
  FakeLink link(resp);
  link.Send(Ask("both", 5));
  EXPECT_TRUE(Has(link.Send("", kStart + milliseconds(1)), "granted\r\n:5"));
}

TEST_F(LateAnswers, ARefusalThereTakesNothingHere) {
  FakeLink link(resp);
  link.Send(Ask("both", 6));
  EXPECT_TRUE(Has(link.Send("", kStart + milliseconds(1)), "allowed\r\n:0"));
  link.Send(Ask("both", 5));
  const std::string answer = link.Send("", kStart + milliseconds(2));
  EXPECT_TRUE(Has(answer, "allowed\r\n:1")) << answer;
}

TEST_F(LateAnswers, HttpKeepsTheOrderOfPipelinedRequests) {
  FakeLink link(http);
  const auto ask = [](const std::string& resource) {
    return Post("/v1/request",
                R"({"namespace":"n","resource":")" + resource + R"(","subject":"ann"})");
  };
  EXPECT_EQ(
      link.Send(ask("far") + ask("near") + "GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n" + ask("far")),
      "");
  const std::string answers = link.Send("", kStart + milliseconds(1));
  const size_t far = answers.find("\"limit\":\"far\""), near = answers.find("\"limit\":\"near\""),
               health = answers.find("OK\n"), again = answers.rfind("\"limit\":\"far\"");
  EXPECT_TRUE(far < near && near < health && health < again) << answers;
}

TEST_F(LateAnswers, HttpClosesAfterTheAnswerThatWasTheLast) {
  FakeLink link(http);
  link.Send(
      "POST /v1/request HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 50\r\n\r\n"
      R"({"namespace":"n","resource":"far","subject":"ann"})");
  EXPECT_FALSE(link.protocol().done());
  EXPECT_TRUE(Has(link.Send("", kStart + milliseconds(1)), "Connection: close"));
  EXPECT_TRUE(link.protocol().done());
}

TEST_F(LateAnswers, WhatIsNotAnsweredInTimeSaysSoOnEveryFront) {
  limiter = NewLimiter(std::chrono::hours(1));
  RespFront slow_resp{*limiter};
  HttpFront slow_http{*limiter};
  const Instant late = kStart + milliseconds(20);
  FakeLink link(slow_resp);
  EXPECT_EQ(link.Send(Ask("far") + Ask("strict")), "");
  EXPECT_EQ(link.Send("", late - milliseconds(1)), "");
  const std::string answers = link.Send("", late);
  EXPECT_TRUE(Has(answers, "$8\r\ndegraded\r\n:1\r\n-UNAVAILABLE ")) << answers;
  FakeLink proxy(slow_http);
  proxy.Send("GET /v1/auth?namespace=n&resource=far&subject=ann HTTP/1.1\r\nHost: h\r\n\r\n", late);
  const std::string answer = proxy.Send("", late + milliseconds(20));
  EXPECT_EQ(StatusOf(answer), 200);
  EXPECT_TRUE(Has(answer, "Weir-Degraded: true\r\n")) << answer;
  EXPECT_EQ(limiter->Stats().failures[0].cause, "deadline");
  EXPECT_EQ(limiter->Stats().failures[0].count, 3u);
}

}  // namespace
}  // namespace weir::testing::late_answers_test
