// A token of one namespace decides, settles, reserves and reads there and nowhere else, whatever it is
// shown on: HTTP, the Redis protocol, gRPC (grpc_reach_test.cc).
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "fronts/envoy/rate_limit_json.h"
#include "fronts/resp/connection.h"
#include "fronts/resp/resp_front.h"
#include "tests/fronts/http_testing.h"
#include "tests/fronts/reach_testing.h"

namespace weir::reach_test {
namespace {

using namespace testing;  // NOLINT: the helpers are most of what is written here

std::string Text(const std::string& answer, const std::string& field) {
  const size_t at = answer.find("\"" + field + "\":\"");
  if (at == std::string::npos) return "";
  const size_t from = at + field.size() + 4;
  return answer.substr(from, answer.find('"', from) - from);
}

// ---- HTTP ----

class HttpReach : public ReachTest {
 protected:
  HttpReach() {
    HttpOptions options;
    options.gate = {.policy = &policy_, .decisions_open = false};
    options.json_rate_limit = RateLimitJson(*limiter_);
    front_ = std::make_unique<HttpFront>(*limiter_, std::move(options));
  }
  std::string Ask(const std::string& token, const std::string& path, const std::string& body,
                  const std::string& method = "POST") {
    FakeLink link(*front_);
    return link.Send(method + " " + path + " HTTP/1.1\r\nHost: h\r\n" +
                     (token.empty() ? "" : "Authorization: Bearer " + token + "\r\n") +
                     "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
  }
  std::string Status(const std::string& token, const std::string& path, const std::string& body) {
    const std::string answer = Ask(token, path, body);
    return std::to_string(StatusOf(answer)) + " " + Text(answer, "code");
  }
  static std::string Of(const std::string& ns, const std::string& resource,
                        const std::string& more = "") {
    return R"({"namespace":")" + ns + R"(","resource":")" + resource + R"(","subject":"ann")" +
           more + "}";
  }

  std::unique_ptr<Limiter> limiter_ = Open(kTwo);
  std::unique_ptr<HttpFront> front_;
};

TEST_F(HttpReach, DecisionsAreOfTheTokensNamespaces) {
  for (const char* path : {"/v1/request", "/v1/peek"}) {
    EXPECT_EQ(Status("m", path, Of("mine", "rate")), "200 ") << path;
    EXPECT_EQ(Status("m", path, Of("theirs", "rate")), "403 forbidden") << path;
    EXPECT_EQ(Status("m", path, Of("unheard-of", "rate")), "403 forbidden")
        << "whether there is such a namespace is not told";
    EXPECT_EQ(Status("all", path, Of("theirs", "rate")), "200 ") << path;
    EXPECT_EQ(Status("", path, Of("mine", "rate")), "401 unauthenticated") << path;
    EXPECT_EQ(Status("wrong", path, Of("mine", "rate")), "401 unauthenticated") << path;
    EXPECT_EQ(Status("metrics", path, Of("mine", "rate")), "403 forbidden") << path;
  }
  const std::string auth = "/v1/auth?resource=rate&subject=ann&namespace=";
  EXPECT_EQ(StatusOf(Ask("m", auth + "mine", "", "GET")), 200);
  EXPECT_EQ(StatusOf(Ask("m", auth + "theirs", "", "GET")), 403);
  EXPECT_EQ(Used(*limiter_, "theirs"), 1u) << "by the token of all";
}

TEST_F(HttpReach, EnvoysDomainIsANamespace) {
  const auto body = [](const std::string& domain) {
    return R"({"domain":")" + domain +
           R"(","descriptors":[{"entries":[{"key":"k","value":"v"}]}]})";
  };
  EXPECT_EQ(Status("m", "/json", body("mine")), "200 OK");
  EXPECT_EQ(Status("m", "/json", body("theirs")), "403 ");
  EXPECT_EQ(Status("m", "/json", body("")), "403 ");
  EXPECT_EQ(Status("all", "/json", body("theirs")), "200 OK");
}

TEST_F(HttpReach, TicketsOfOthersAreUnknown) {
  const std::string settle = R"(,"cost":9,"settle":true)";
  const std::string ticket =
      Text(Ask("all", "/v1/request", Of("theirs", "rate", settle)), "ticket");
  const std::string own = Text(Ask("m", "/v1/request", Of("mine", "rate", settle)), "ticket");
  const auto settled = [&](const std::string& token, const std::string& which) {
    return Status(token, "/v1/settle", R"({"ticket":")" + which + R"(","cost":2})");
  };
  EXPECT_EQ(settled("m", ticket), "404 unknown_ticket");
  EXPECT_EQ(Used(*limiter_, "theirs"), 9u);
  EXPECT_EQ(settled("m", own), "200 ");
  EXPECT_EQ(settled("all", ticket), "200 ");
}

TEST_F(HttpReach, HoldsOfOthersAreUnknown) {
  const std::string session = Text(Ask("m", "/v1/session", ""), "session");
  const std::string in = R"(,"session":")" + session + "\"";
  EXPECT_EQ(Status("m", "/v1/reserve", Of("theirs", "box", in)), "403 forbidden");
  EXPECT_EQ(Status("m", "/v1/reserve", Of("mine", "box", in)), "200 ");
  // Even if a session, a hold and a transfer of somebody else's are known.
  const auto held = [&](int copies) {
    return Text(Ask("all", "/v1/reserve",
                    Of("theirs", "box", in + ",\"copies\":" + std::to_string(copies))),
                "hold");
  };
  const std::string hold = held(2);
  const auto give = [&](const std::string& token, const std::string& path,
                        const std::string& more) {
    return Status(token, path, R"({"hold":")" + hold + "\"" + in + more + "}");
  };
  EXPECT_EQ(give("m", "/v1/release", ""), "404 not_held");
  EXPECT_EQ(give("m", "/v1/transfer", R"(,"ttl_ms":1000)"), "404 not_held");
  const std::string transfer =
      Text(Ask("all", "/v1/transfer", R"({"hold":")" + hold + "\"" + in + R"(,"ttl_ms":1000})"),
           "transfer");
  const std::string seize = R"({"transfer":")" + transfer + "\"" + in + "}";
  EXPECT_EQ(Status("m", "/v1/seize", seize), "404 unknown_transfer");
  EXPECT_EQ(Status("all", "/v1/seize", seize), "200 ");
}

// Every route that decides: a new one has to be asked here for what is another's.
TEST_F(HttpReach, NoRouteReachesFurther) {
  const std::string session = Text(Ask("m", "/v1/session", ""), "session");
  const std::string in = R"("session":")" + session + "\"";
  const std::string ticket =
      Text(Ask("all", "/v1/request", Of("theirs", "rate", R"(,"settle":true)")), "ticket");
  const auto hold = [&] {
    return Text(Ask("all", "/v1/reserve", Of("theirs", "box", "," + in)), "hold");
  };
  const std::string one = hold(), other = hold();
  const std::string transfer =
      Text(Ask("all", "/v1/transfer", R"({"ttl_ms":1000,"hold":")" + other + "\"," + in + "}"),
           "transfer");
  ASSERT_EQ(transfer.size(), 32u);
  struct Question {
    std::string body, answer, query = "";
  };
  const std::map<std::string, Question> questions = {
      {"/v1/request", {Of("theirs", "rate"), "403"}},
      {"/v1/peek", {Of("theirs", "rate"), "403"}},
      {"/v1/auth", {"", "403", "?resource=rate&subject=ann&namespace=theirs"}},
      {"/json",
       {R"({"domain":"theirs","descriptors":[{"entries":[{"key":"k","value":"v"}]}]})", "403"}},
      {"/v1/settle", {R"({"cost":9,"ticket":")" + ticket + "\"}", "404"}},
      {"/v1/reserve", {Of("theirs", "box", "," + in), "403"}},
      {"/v1/release", {R"({"hold":")" + one + "\"," + in + "}", "404"}},
      {"/v1/transfer", {R"({"ttl_ms":1000,"hold":")" + one + "\"," + in + "}", "404"}},
      {"/v1/seize", {R"({"transfer":")" + transfer + "\"," + in + "}", "404"}},
  };
  const std::set<std::string> of_no_namespace = {"/v1/session", "/v1/session/*"};
  const uint64_t used = Used(*limiter_, "theirs");
  size_t asked = 0;
  for (const http::RouteTable::Listed& route : front_->routes().List()) {
    if (route.what == Operation::kHealth || of_no_namespace.contains(route.path)) continue;
    const auto found = questions.find(route.path);
    ASSERT_NE(found, questions.end()) << route.path << " may reach anything: nobody has asked";
    const auto& [body, answer, query] = found->second;
    EXPECT_EQ(std::to_string(StatusOf(Ask("m", route.path + query, body, route.method))), answer)
        << route.method << " " << route.path;
    EXPECT_EQ(StatusOf(Ask("metrics", route.path + query, body, route.method)), 403) << route.path;
    EXPECT_EQ(StatusOf(Ask("", route.path + query, body, route.method)), 401) << route.path;
    ++asked;
  }
  EXPECT_GE(asked, questions.size());
  EXPECT_EQ(Used(*limiter_, "theirs"), used);
}

TEST_F(HttpReach, ACallIsUsedAgainWithTheReachOfWhoeverAsksNext) {
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(Status("all", "/v1/request", Of("theirs", "rate")), "200 ");
    EXPECT_EQ(Status("m", "/v1/request", Of("theirs", "rate")), "403 forbidden");
  }
  EXPECT_EQ(Used(*limiter_, "theirs"), 3u);
}

TEST_F(HttpReach, ATicketOfWhatHasNoLimitIsOfItsNamespaceToo) {
  const std::string ticket =
      Text(Ask("all", "/v1/request", Of("theirs", "free", R"(,"settle":true)")), "ticket");
  ASSERT_EQ(ticket.size(), 32u);
  const std::string settle = R"({"cost":1,"ticket":")" + ticket + "\"}";
  EXPECT_EQ(Status("m", "/v1/settle", settle), "404 unknown_ticket");
  EXPECT_EQ(Status("all", "/v1/settle", settle), "200 ");
}

// ---- The Redis protocol ----

class RespReach : public ReachTest {
 protected:
  std::string Send(FakeLink& link, const std::string& command) {
    const std::string answer = link.Send(command + "\r\n");
    return answer.starts_with('-') ? answer.substr(1, answer.find(' ') - 1) : "ok";
  }

  static std::string Last(const std::string& answer, const std::string& field) {
    const size_t at = answer.find(field + "\r\n$32\r\n");
    return at == std::string::npos ? "" : answer.substr(at + field.size() + 7, 32);
  }

  std::unique_ptr<Limiter> limiter_ = Open(kTwo);
  std::atomic<uint64_t> version_{1};
  const Reach other_{.namespaces = {"theirs"}};
  bool moved_ = false;  // the token is for another namespace now
  RespFront front_{*limiter_,
                   {.password = [this](std::string_view word) -> const Reach* {
                      if (word == "m" && moved_) return &other_;
                      return policy_.ReachOf(word);
                    },
                    .passwords_version = &version_}};
};

TEST_F(RespReach, EveryCommandIsOfTheTokensNamespaces) {
  FakeLink mine(front_), all(front_);
  EXPECT_EQ(Send(mine, "AUTH metrics"), "WRONGPASS");
  EXPECT_EQ(Send(mine, "WEIR.REQUEST mine rate ann"), "NOAUTH");
  EXPECT_EQ(Send(mine, "AUTH m"), "ok");
  EXPECT_EQ(Send(all, "AUTH all"), "ok");
  for (const std::string command : {"WEIR.REQUEST", "WEIR.PEEK"}) {
    EXPECT_EQ(Send(mine, command + " mine rate ann"), "ok");
    EXPECT_EQ(Send(mine, command + " theirs rate ann"), "NOPERM");
    EXPECT_EQ(Send(mine, command + " unheard-of rate ann"), "NOPERM");
    EXPECT_EQ(Send(all, command + " theirs rate ann"), "ok");
  }
  EXPECT_EQ(Send(mine, "WEIR.RESERVE theirs box ann"), "NOPERM");
  EXPECT_EQ(Send(mine, "WEIR.RESERVE mine box ann"), "ok");
  EXPECT_EQ(Send(mine, "CL.THROTTLE k 1 1 1"), "NOPERM") << "it is of no namespace";
  EXPECT_EQ(Send(all, "CL.THROTTLE k 1 1 1"), "ok");
  EXPECT_EQ(Used(*limiter_, "theirs"), 1u) << "by the token of all";
}

// Every command: a new one has to be sent here for what is another's.
TEST_F(RespReach, NoCommandReachesFurther) {
  FakeLink mine(front_), all(front_);
  mine.Send("AUTH m\r\n"), all.Send("AUTH all\r\n");
  const std::string ticket = Last(all.Send("WEIR.REQUEST theirs rate ann SETTLE\r\n"), "ticket");
  const std::string hold = Last(all.Send("WEIR.RESERVE theirs box ann COPIES 2\r\n"), "hold");
  const std::string transfer =
      Last(all.Send("WEIR.TRANSFER " + hold + " COPIES 1 TTL 1000\r\n"), "transfer");
  ASSERT_EQ(transfer.size(), 32u);
  const std::map<std::string_view, std::pair<std::string, std::string>> questions = {
      {"weir.request", {"theirs rate ann", "NOPERM"}},
      {"weir.peek", {"theirs rate ann", "NOPERM"}},
      {"cl.throttle", {"k 1 1 1", "NOPERM"}},
      {"weir.settle", {ticket + " 9", "UNKNOWN_TICKET"}},
      {"weir.reserve", {"theirs box ann", "NOPERM"}},
      {"weir.release", {hold, "NOT_HELD"}},
      {"weir.transfer", {hold + " TTL 1000", "NOT_HELD"}},
      {"weir.seize", {transfer, "UNKNOWN_TRANSFER"}},
  };
  // Those ask the limiter nothing.
  const std::set<std::string_view> redis = {"ping",    "echo", "hello",  "auth", "select",
                                            "client",  "info", "config", "quit", "reset",
                                            "command", "post", "host:"};
  const uint64_t used = Used(*limiter_, "theirs");
  size_t asked = 0;
  for (const std::string_view command : resp::Connection::Commands()) {
    if (redis.contains(command)) continue;
    const auto found = questions.find(command);
    ASSERT_NE(found, questions.end()) << command << " may reach anything: nobody has asked";
    const auto& [words, answer] = found->second;
    EXPECT_EQ(Send(mine, std::string(command) + " " + words), answer) << command;
    ++asked;
  }
  EXPECT_EQ(asked, questions.size());
  EXPECT_EQ(Used(*limiter_, "theirs"), used);
}

// What a connection holds from before another token was shown is not the other token's.
TEST_F(RespReach, AnotherTokenOnTheSameConnectionLosesSightOfWhatTheFormerHolds) {
  FakeLink link(front_);
  link.Send("AUTH all\r\n");
  const std::string hold = Last(link.Send("WEIR.RESERVE theirs box ann\r\n"), "hold");
  EXPECT_EQ(Send(link, "AUTH m"), "ok");
  EXPECT_EQ(Send(link, "WEIR.RELEASE " + hold), "NOT_HELD");
  EXPECT_EQ(Send(link, "AUTH all"), "ok");
  EXPECT_EQ(Send(link, "WEIR.RELEASE " + hold), "ok");
}

TEST_F(RespReach, OfABatchOnlyWhatMayBeIsDecidedAndAnswersStayInOrder) {
  FakeLink link(front_);
  link.Send("AUTH m\r\n");
  const std::string answer = link.Send(
      "WEIR.REQUEST mine rate ann\r\nWEIR.REQUEST theirs rate ann\r\nWEIR.REQUEST mine rate "
      "ann\r\n");
  const size_t refused = answer.find("-NOPERM");
  ASSERT_NE(refused, std::string::npos);
  EXPECT_GT(refused, 0u);
  EXPECT_NE(answer.find("allowed", refused), std::string::npos);
  EXPECT_EQ(answer.find("-NOPERM", refused + 1), std::string::npos);
  EXPECT_EQ(Used(*limiter_, "mine"), 2u);
  EXPECT_EQ(Used(*limiter_, "theirs"), 0u);
}

TEST_F(RespReach, TicketsAndTransfersOfOthersAreUnknown) {
  FakeLink mine(front_), all(front_);
  mine.Send("AUTH m\r\n"), all.Send("AUTH all\r\n");
  const std::string ticket =
      Last(all.Send("WEIR.REQUEST theirs rate ann COST 9 SETTLE\r\n"), "ticket");
  EXPECT_EQ(Send(mine, "WEIR.SETTLE " + ticket + " 1"), "UNKNOWN_TICKET");
  EXPECT_EQ(Send(all, "WEIR.SETTLE " + ticket + " 1"), "ok");
  const std::string hold = Last(all.Send("WEIR.RESERVE theirs box ann\r\n"), "hold");
  const std::string transfer =
      Last(all.Send("WEIR.TRANSFER " + hold + " TTL 1000\r\n"), "transfer");
  EXPECT_EQ(Send(mine, "WEIR.SEIZE " + transfer), "UNKNOWN_TRANSFER");
  EXPECT_EQ(Send(all, "WEIR.SEIZE " + transfer), "ok");
}

TEST_F(RespReach, TokensThatAreReadAgainCountAtOnce) {
  FakeLink link(front_);
  link.Send("AUTH m\r\n");
  EXPECT_EQ(Send(link, "WEIR.REQUEST mine rate ann"), "ok");
  moved_ = true;
  version_ += 1;
  EXPECT_EQ(Send(link, "WEIR.REQUEST mine rate ann"), "NOPERM");
  EXPECT_EQ(Send(link, "WEIR.REQUEST theirs rate ann"), "ok");
}

}  // namespace
}  // namespace weir::reach_test
