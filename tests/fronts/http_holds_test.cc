// Holds over HTTP: sessions that live while they are renewed.
#include <gtest/gtest.h>

#include <thread>

#include "tests/fronts/http_testing.h"

namespace weir::http_holds_test {
namespace {

using namespace testing;  // NOLINT: the helpers are most of what is written here
using std::chrono::seconds;

// A handler that answers later does not keep its request, and so not its turn.
static_assert(!std::is_copy_constructible_v<http::HttpRequest>);
static_assert(!std::is_move_constructible_v<http::HttpRequest>);

constexpr std::string_view kNobody = "00000000000000000000000000000001";

std::string Text(const std::string& answer, const std::string& field) {
  const size_t at = answer.find("\"" + field + "\":\"");
  if (at == std::string::npos) return "";
  const size_t from = at + field.size() + 4;
  return answer.substr(from, answer.find('"', from) - from);
}

std::string Delete(const std::string& target) {
  return "DELETE " + target + " HTTP/1.1\r\nHost: h\r\n\r\n";
}

struct HttpHolds : ::testing::Test {
  std::unique_ptr<Limiter> limiter = Open(kHoldRules);
  HttpFront front{*limiter};
  FakeLink link{front}, other{front};
  std::string session = NewSession();

  std::string NewSession() { return Text(link.Send(Post("/v1/session", "")), "session"); }
  // `fields` as in {session, …}.
  std::string Ask(const std::string& what, const std::string& fields) {
    return link.Send(Question(what, fields));
  }
  std::string Question(const std::string& what, const std::string& fields) {
    return Post("/v1/" + what, "{\"session\":\"" + session + "\"," + fields + "}");
  }
  static std::string Of(const std::string& resource, const std::string& more = "") {
    return R"("namespace":"n","resource":")" + resource + R"(","subject":"ann")" + more;
  }
};

// ---- What goes wrong ----

TEST_F(HttpHolds, ErrorsHaveTheirStatusCodeAndField) {
  const auto error = [&](const std::string& what, const std::string& fields) {
    const std::string answer = Ask(what, fields);
    return std::to_string(StatusOf(answer)) + " " + Text(answer, "code") + " " +
           Text(answer, "field");
  };
  const std::string nobody = "\"" + std::string(kNobody) + "\"";
  EXPECT_EQ(error("reserve", R"("namespace":"x","resource":"box","subject":"ann")"),
            "404 unknown_namespace namespace");
  EXPECT_EQ(error("reserve", Of("x")), "404 unknown_resource resource");
  EXPECT_EQ(error("reserve", Of("rate")), "409 wrong_kind resource");
  EXPECT_EQ(error("reserve", Of("box", ",\"copies\":0")), "400 bad_request copies");
  EXPECT_EQ(error("reserve", Of("box", ",\"min_copies\":2")), "400 bad_request min_copies");
  EXPECT_EQ(error("reserve", Of("box", ",\"wait_ms\":-1")), "400 bad_request wait_ms");
  EXPECT_EQ(error("reserve", Of("box", ",\"share\":1")), "400 bad_request share");
  EXPECT_EQ(error("reserve", Of("box", ",\"cost\":1")), "400 bad_request cost");
  EXPECT_EQ(error("reserve", R"("namespace":"n","resource":"box")"), "400 bad_request subject");
  EXPECT_EQ(error("release", "\"hold\":" + nobody), "404 not_held hold");
  EXPECT_EQ(error("release", "\"hold\":\"x\""), "400 bad_request hold");
  EXPECT_EQ(error("release", "\"copies\":1"), "400 bad_request hold");
  EXPECT_EQ(error("release", "\"copies\":0,\"hold\":" + nobody), "400 bad_request copies");
  EXPECT_EQ(error("transfer", "\"ttl_ms\":5,\"hold\":" + nobody), "404 not_held hold");
  EXPECT_EQ(error("transfer", "\"ttl_ms\":0,\"hold\":" + nobody), "400 bad_request ttl_ms");
  EXPECT_EQ(error("transfer", "\"hold\":" + nobody), "400 bad_request ttl_ms");
  for (const char* too_long : {"86400001", "9007199254740992", "18446744073709551615"}) {
    EXPECT_EQ(error("transfer", "\"ttl_ms\":" + std::string(too_long) + ",\"hold\":" + nobody),
              "400 bad_request ttl_ms");
  }
  EXPECT_EQ(error("seize", "\"transfer\":" + nobody), "404 unknown_transfer transfer");
  EXPECT_EQ(error("seize", "\"transfer\":7"), "400 bad_request transfer");
  session = kNobody;
  EXPECT_EQ(error("reserve", Of("box")), "404 not_held session");
  EXPECT_EQ(error("seize", "\"transfer\":" + nobody), "404 not_held session");
  session = "x";
  EXPECT_EQ(error("reserve", Of("box")), "400 bad_request session");
  EXPECT_EQ(Text(link.Send(Post("/v1/reserve", "{" + Of("box") + "}")), "field"), "session");
}

TEST_F(HttpHolds, SessionsAreBoundedAndKnown) {
  EXPECT_EQ(BodyOf(link.Send(Post("/v1/session", "{\"ttl_ms\":1000}"))).substr(45),
            ",\"ttl_ms\":1000}");
  EXPECT_TRUE(link.Send(Post("/v1/session", "")).ends_with(",\"ttl_ms\":15000}"));
  EXPECT_TRUE(link.Send(Post("/v1/session", "{}")).ends_with(",\"ttl_ms\":15000}"));
  for (const char* bad : {"{\"ttl_ms\":999}", "{\"ttl_ms\":3600001}", "{\"ttl_ms\":\"1s\"}",
                          "{\"ttl_ms\":9007199254740992}", "{\"ttl\":1000}", "7"}) {
    EXPECT_EQ(StatusOf(link.Send(Post("/v1/session", bad))), 400) << bad;
  }
  const std::string nobody = "/v1/session/" + std::string(kNobody);
  EXPECT_EQ(StatusOf(link.Send(Post(nobody, ""))), 404);
  EXPECT_EQ(Text(link.Send(Delete(nobody)), "code"), "not_held");
  EXPECT_EQ(StatusOf(link.Send(Post("/v1/session/x", ""))), 400);
  EXPECT_EQ(StatusOf(link.Send(Delete("/v1/session/x"))), 400);
  EXPECT_EQ(StatusOf(link.Send(Get("/v1/session"))), 405);
}

// ---- What is answered ----

TEST_F(HttpHolds, AReservationTellsEverything) {
  const std::string answer = Ask("reserve", Of("box", ",\"copies\":9,\"min_copies\":2"));
  EXPECT_EQ(StatusOf(answer), 200);
  EXPECT_TRUE(BodyOf(answer).starts_with(
      "{\"allowed\":true,\"outcome\":\"granted\",\"granted\":4,\"hold\":\""));
  EXPECT_TRUE(
      answer.ends_with("\"held\":4,\"per_subject\":5,\"held_total\":4,\"total\":8,"
                       "\"groups\":[{\"name\":\"trial\",\"limit\":4,\"held\":4}]}"))
      << answer;
}

TEST_F(HttpHolds, ARefusalIsAProblemThatNamesWhatIsFull) {
  Ask("reserve", Of("box", ",\"copies\":4"));
  const std::string answer = Ask("reserve", Of("box"));
  EXPECT_EQ(StatusOf(answer), 429);
  EXPECT_TRUE(Has(answer, "\r\nContent-Type: application/problem+json\r\n"));
  EXPECT_TRUE(Has(answer, "#quota-exceeded\""));
  EXPECT_TRUE(Has(answer,
                  "\"violated-policies\":[\"group:trial\"],\"allowed\":false,"
                  "\"outcome\":\"refused\",\"granted\":0,\"hold\":null,"))
      << answer;
}

TEST_F(HttpHolds, CopiesChangeHands) {
  const std::string hold = Text(Ask("reserve", Of("box", ",\"copies\":3")), "hold");
  EXPECT_EQ(BodyOf(Ask("release", "\"copies\":1,\"hold\":\"" + hold + "\"")), "{\"copies\":2}");
  const std::string transfer =
      Text(Ask("transfer", "\"ttl_ms\":5000,\"hold\":\"" + hold + "\""), "transfer");
  EXPECT_EQ(StatusOf(link.Send(Delete("/v1/session/" + session))), 200);
  session = NewSession();
  const std::string seized = Ask("seize", "\"transfer\":\"" + transfer + "\"");
  EXPECT_TRUE(
      seized.ends_with("\"namespace\":\"n\",\"resource\":\"box\",\"subject\":\"ann\","
                       "\"copies\":2,\"groups\":[\"trial\"]}"))
      << seized;
  EXPECT_EQ(BodyOf(Ask("release", "\"hold\":\"" + Text(seized, "hold") + "\"")), "{\"copies\":0}");
}

TEST_F(HttpHolds, ASessionEndsWhenItIsNotRenewedAndNotWithItsConnection) {
  EXPECT_EQ(StatusOf(Ask("reserve", Of("lock"))), 200);
  link.protocol().Delivered();
  link.Close();
  limiter->Tick(kStart + seconds(14));
  EXPECT_EQ(limiter->Stats().holds, 1u);
  EXPECT_EQ(BodyOf(other.Send(Post("/v1/session/" + session, ""), kStart + seconds(14))),
            "{\"session\":\"" + session + "\"}");
  limiter->Tick(kStart + seconds(28));
  EXPECT_EQ(limiter->Stats().holds, 1u);
  limiter->Tick(kStart + seconds(30));
  EXPECT_EQ(limiter->Stats().holds, 0u);
  EXPECT_EQ(StatusOf(other.Send(Post("/v1/session/" + session, ""), kStart + seconds(30))), 404);
}

// ---- Waiting ----

TEST_F(HttpHolds, WhoWaitsIsAnsweredFromAnotherThread) {
  const std::string hold = Text(Ask("reserve", Of("lock")), "hold");
  EXPECT_EQ(other.Send(Question("reserve", Of("lock", ",\"wait_ms\":5000")) + Get("/healthz")), "");
  EXPECT_TRUE(other.protocol().answering());
  std::thread([&] { Ask("release", "\"hold\":\"" + hold + "\""); }).join();
  EXPECT_EQ(other.Written(), "");
  const std::string answers = other.RunPosted();
  EXPECT_EQ(StatusOf(answers), 200);
  EXPECT_TRUE(Has(answers, "\"outcome\":\"granted\""));
  EXPECT_TRUE(answers.ends_with("OK\n")) << "and then the next request: " << answers;
}

TEST_F(HttpHolds, RefusalsAfterWaitingAre429AndDoneIsNone) {
  const std::string hold = Text(Ask("reserve", Of("lock", ",\"share\":true")), "hold");
  other.Send(Question("reserve", Of("lock", ",\"wait_ms\":1000")));
  const std::string full = Ask("reserve", Of("lock", ",\"wait_ms\":1000,\"max_queue\":1"));
  EXPECT_EQ(StatusOf(full), 429);
  EXPECT_TRUE(Has(full, "\"queue_full\""));
  limiter->Tick(kStart + seconds(2));
  const std::string late = other.RunPosted();
  EXPECT_EQ(StatusOf(late), 429);
  EXPECT_TRUE(Has(late, "\"violated-policies\":[],\"allowed\":false,\"outcome\":\"timeout\""));
  other.Send(Question("reserve", Of("lock", ",\"wait_ms\":1000,\"share\":true")),
             kStart + seconds(2));
  Ask("release", "\"hold\":\"" + hold + "\"");
  const std::string done = other.RunPosted();
  EXPECT_EQ(StatusOf(done), 200);
  EXPECT_TRUE(Has(done, "\"allowed\":false,\"outcome\":\"done\""));
}

TEST_F(HttpHolds, WhatIsGrantedToWhoHasHungUpIsReleased) {
  for (const bool posted : {true, false}) {
    const std::string hold = Text(Ask("reserve", Of("lock")), "hold");
    FakeLink gone(front);
    gone.Send(Question("reserve", Of("lock", ",\"wait_ms\":5000")));
    if (!posted) gone.Close();
    Ask("release", "\"hold\":\"" + hold + "\"");
    if (posted) gone.Close();
    EXPECT_EQ(gone.RunPosted(), "");
    EXPECT_EQ(limiter->Stats().holds, 0u);
  }
}

TEST_F(HttpHolds, ASessionThatEndsAnswersWhatItWaitedFor) {
  Ask("reserve", Of("lock"));
  other.Send(Question("reserve", Of("lock", ",\"wait_ms\":60000")));
  std::thread([&] { limiter->Tick(kStart + seconds(16)); }).join();
  EXPECT_EQ(other.Written(), "");
  const std::string answer = other.RunPosted();
  EXPECT_EQ(StatusOf(answer), 404);
  EXPECT_EQ(Text(answer, "code"), "not_held");
}

TEST_F(HttpHolds, AnAddressThatWaitsAsOftenAsItMayLeavesRoomForOthers) {
  WaitAsOftenAsMay(*limiter, "192.0.2.7");
  Ask("reserve", Of("lock"));
  EXPECT_EQ(Text(Ask("reserve", Of("lock", ",\"wait_ms\":5000")), "outcome"), "queue_full");
  FakeLink elsewhere{front, "192.0.2.8"};
  session = Text(elsewhere.Send(Post("/v1/session", "")), "session");
  EXPECT_EQ(elsewhere.Send(Question("reserve", Of("lock", ",\"wait_ms\":5000"))), "");
}

}  // namespace
}  // namespace weir::http_holds_test
