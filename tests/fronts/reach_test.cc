// A token of one namespace decides, settles, reserves and reads there and nowhere else, whatever it is
// shown on: HTTP, the Redis protocol, gRPC.
#include <envoy/service/ratelimit/v3/rls.pb.h>
#include <gtest/gtest.h>
#include <weir/v1/limiter.pb.h>

#include <map>
#include <set>

#include "fronts/envoy/rate_limit_json.h"
#include "fronts/resp/connection.h"
#include "fronts/resp/resp_front.h"
#include "tests/fronts/grpc_client.h"
#include "tests/fronts/http_testing.h"

namespace weir::reach_test {
namespace {

using namespace testing;  // NOLINT: the helpers are most of what is written here

constexpr std::string_view kTwo = R"(
namespaces:
  mine:
    resources:
      rate: {limits: [{limit: 100, per: 1h}]}
      free: {limits: [{limit: unlimited}]}
      box: {copies: {per_subject: 50}}
    descriptors: [{key: k, rate_limit: {unit: hour, requests_per_unit: 100}}]
  theirs:
    resources:
      rate: {limits: [{limit: 100, per: 1h}]}
      free: {limits: [{limit: unlimited}]}
      box: {copies: {per_subject: 50}}
    descriptors: [{key: k, rate_limit: {unit: hour, requests_per_unit: 100}}]
)";

// `m`: of the namespace mine; `all`: of all; `metrics`: known, and nowhere.
class Policy : public AccessPolicy {
 public:
  bool May(Operation what, std::string_view ns, const Asker& who) const override {
    if (what == Operation::kHealth || what == Operation::kDescribe) return true;
    const Reach* reach = ReachOf(who.token);
    return reach != nullptr && (ns.empty() ? reach->all : reach->Has(ns));
  }
  bool MaySomewhere(Operation what, const Asker& who) const override {
    return what == Operation::kHealth || what == Operation::kDescribe ||
           ReachOf(who.token) != nullptr;
  }
  const Reach* ReachOf(std::string_view token) const override {
    return token == "m" ? &mine_ : token == "all" ? &kEverywhere : nullptr;
  }
  Code WhyNot(const Asker& who) const override {
    const bool known = who.token == "m" || who.token == "all" || who.token == "metrics";
    return known ? Code::kForbidden : Code::kUnauthenticated;
  }

 private:
  const Reach mine_{.namespaces = {"another", "mine"}};
};

std::string Text(const std::string& answer, const std::string& field) {
  const size_t at = answer.find("\"" + field + "\":\"");
  if (at == std::string::npos) return "";
  const size_t from = at + field.size() + 4;
  return answer.substr(from, answer.find('"', from) - from);
}

// What was used in the other namespace, of the subject of all questions: nothing may ever be.
class ReachTest : public ::testing::Test {
 protected:
  uint64_t Used(Limiter& limiter, std::string_view ns) {
    return 100 - limiter.Peek({ns, "rate", "ann"}, kStart).remaining;
  }
  const Policy policy_;
};

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

// ---- gRPC ----

class GrpcReach : public ReachTest {
 protected:
  static Headers Token(const std::string& token) { return {{"authorization", "Bearer " + token}}; }
  std::string Status(const std::string& token, const std::string& path,
                     const google::protobuf::Message& message) {
    return rig_.client.Call(path, message.SerializeAsString(), Token(token)).status();
  }
  static v1::LimitRequest Of(const std::string& ns) {
    v1::LimitRequest request;
    request.set_namespace_(ns);
    request.set_resource("rate");
    request.set_subject("ann");
    return request;
  }
  int32_t Stream(const std::string& token) {
    return rig_.client.Open("/weir.v1.Limiter/Session", Token(token));
  }
  v1::SessionResponse Ask(int32_t stream, const v1::SessionRequest& request) {
    rig_.client.Send(stream, Framed(request.SerializeAsString()), false);
    rig_.client.Exchange();
    v1::SessionResponse answer;
    const auto messages = rig_.client[stream].messages();
    EXPECT_FALSE(messages.empty());
    if (!messages.empty()) answer.ParseFromString(messages.back());
    return answer;
  }

  GrpcRig rig_{Rules(kTwo), {.connection = {.policy = &policy_}}};
};

TEST_F(GrpcReach, CallsAreOfTheTokensNamespaces) {
  for (const std::string path : {"/weir.v1.Limiter/Request", "/weir.v1.Limiter/Peek"}) {
    EXPECT_EQ(Status("m", path, Of("mine")), "0");
    EXPECT_EQ(Status("m", path, Of("theirs")), "7") << path;
    EXPECT_EQ(Status("m", path, Of("unheard-of")), "7") << path;
    EXPECT_EQ(Status("all", path, Of("theirs")), "0") << path;
    EXPECT_EQ(Status("wrong", path, Of("mine")), "16") << path;
    EXPECT_EQ(Status("metrics", path, Of("mine")), "7") << path;
  }
  envoy::service::ratelimit::v3::RateLimitRequest envoy;
  auto& entry = *envoy.add_descriptors()->add_entries();
  entry.set_key("k"), entry.set_value("v");
  const std::string path = "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit";
  envoy.set_domain("mine");
  EXPECT_EQ(Status("m", path, envoy), "0");
  envoy.set_domain("theirs");
  EXPECT_EQ(Status("m", path, envoy), "7");
  EXPECT_EQ(Status("all", path, envoy), "0");
  EXPECT_EQ(Used(rig_.limiter, "theirs"), 1u) << "by the token of all";
}

// Every method, and every operation of a stream: a new one has to be called here for what is another's.
TEST_F(GrpcReach, NoMethodReachesFurther) {
  v1::LimitRequest request = Of("theirs");
  request.set_settle(true);
  ClientCall& call =
      rig_.client.Call("/weir.v1.Limiter/Request", request.SerializeAsString(), Token("all"));
  v1::Decision decision;
  ASSERT_TRUE(decision.ParseFromString(call.messages().at(0)));
  v1::SettleRequest settle;
  settle.set_ticket(decision.ticket());
  settle.set_cost(9);
  envoy::service::ratelimit::v3::RateLimitRequest envoy;
  envoy.set_domain("theirs");
  auto& entry = *envoy.add_descriptors()->add_entries();
  entry.set_key("k"), entry.set_value("v");
  const std::map<std::string, std::pair<std::string, std::string>> questions = {
      {"/weir.v1.Limiter/Request", {Of("theirs").SerializeAsString(), "7"}},
      {"/weir.v1.Limiter/Peek", {Of("theirs").SerializeAsString(), "7"}},
      {"/weir.v1.Limiter/Settle", {settle.SerializeAsString(), "5"}},
      {"/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit",
       {envoy.SerializeAsString(), "7"}},
  };
  const std::string session = "/weir.v1.Limiter/Session";
  size_t asked = 0;
  for (const Method& method : rig_.front.methods().all()) {
    if (method.what != Operation::kDecide || method.path == session) continue;
    const auto found = questions.find(method.path);
    ASSERT_NE(found, questions.end()) << method.path << " may reach anything: nobody has asked";
    const auto& [bytes, answer] = found->second;
    EXPECT_EQ(rig_.client.Call(method.path, bytes, Token("m")).status(), answer) << method.path;
    EXPECT_EQ(rig_.client.Call(method.path, bytes, Token("metrics")).status(), "7") << method.path;
    EXPECT_EQ(rig_.client.Call(method.path, bytes).status(), "16") << method.path;
    ++asked;
  }
  EXPECT_EQ(asked, questions.size());

  const int32_t mine = Stream("m"), all = Stream("all");
  v1::SessionRequest reserve;
  reserve.mutable_reserve()->set_namespace_("theirs");
  reserve.mutable_reserve()->set_resource("box");
  reserve.mutable_reserve()->set_subject("ann");
  const std::string hold = Ask(all, reserve).reservation().hold();
  v1::SessionRequest transfer;
  transfer.mutable_transfer()->set_hold(Ask(all, reserve).reservation().hold());
  transfer.mutable_transfer()->set_ttl_ms(1000);
  const std::string given = Ask(all, transfer).transferred().transfer();
  ASSERT_EQ(given.size(), 32u);
  std::map<std::string, std::pair<v1::SessionRequest, std::string>> operations;
  *operations["request"].first.mutable_request() = Of("theirs");
  *operations["peek"].first.mutable_peek() = Of("theirs");
  *operations["settle"].first.mutable_settle() = settle;
  operations["reserve"].first = reserve;
  operations["release"].first.mutable_release()->set_hold(hold);
  operations["transfer"].first.mutable_transfer()->set_hold(hold);
  operations["transfer"].first.mutable_transfer()->set_ttl_ms(1000);
  operations["seize"].first.mutable_seize()->set_transfer(given);
  for (const char* name : {"request", "peek", "reserve"}) operations[name].second = "forbidden";
  for (const char* name : {"release", "transfer"}) operations[name].second = "not_held";
  operations["settle"].second = "unknown_ticket";
  operations["seize"].second = "unknown_transfer";
  const auto& known = *v1::SessionRequest::descriptor()->FindOneofByName("operation");
  for (int i = 0; i < known.field_count(); ++i) {
    const auto found = operations.find(known.field(i)->name());
    ASSERT_NE(found, operations.end()) << known.field(i)->name() << ": nobody has asked";
    EXPECT_EQ(Ask(mine, found->second.first).error().code(), found->second.second) << found->first;
  }
  EXPECT_EQ(Used(rig_.limiter, "theirs"), 1u) << "by the token of all";
}

TEST_F(GrpcReach, TicketsOfOthersAreUnknown) {
  v1::LimitRequest request = Of("theirs");
  request.set_settle(true);
  ClientCall& call =
      rig_.client.Call("/weir.v1.Limiter/Request", request.SerializeAsString(), Token("all"));
  v1::Decision decision;
  ASSERT_TRUE(decision.ParseFromString(call.messages().at(0)));
  v1::SettleRequest settle;
  settle.set_ticket(decision.ticket());
  EXPECT_EQ(Status("m", "/weir.v1.Limiter/Settle", settle), "5");
  EXPECT_EQ(Status("all", "/weir.v1.Limiter/Settle", settle), "0");
}

TEST_F(GrpcReach, AStreamIsOfTheTokensNamespaces) {
  const int32_t mine = Stream("m"), all = Stream("all");
  const auto reserve = [](const std::string& ns) {
    v1::SessionRequest request;
    request.mutable_reserve()->set_namespace_(ns);
    request.mutable_reserve()->set_resource("box");
    request.mutable_reserve()->set_subject("ann");
    return request;
  };
  EXPECT_EQ(Ask(mine, reserve("theirs")).error().code(), "forbidden");
  EXPECT_TRUE(Ask(mine, reserve("mine")).reservation().allowed());
  v1::SessionRequest request;
  *request.mutable_request() = Of("theirs");
  EXPECT_EQ(Ask(mine, request).error().code(), "forbidden");
  *request.mutable_peek() = Of("theirs");
  EXPECT_EQ(Ask(mine, request).error().code(), "forbidden");
  EXPECT_EQ(Ask(all, request).error().code(), "");

  v1::SessionRequest transfer;
  transfer.mutable_transfer()->set_hold(Ask(all, reserve("theirs")).reservation().hold());
  transfer.mutable_transfer()->set_ttl_ms(1000);
  v1::SessionRequest seize;
  seize.mutable_seize()->set_transfer(Ask(all, transfer).transferred().transfer());
  EXPECT_EQ(Ask(mine, seize).error().code(), "unknown_transfer");
  EXPECT_EQ(Ask(all, seize).seized().namespace_(), "theirs");
  EXPECT_EQ(Used(rig_.limiter, "theirs"), 0u);
}

}  // namespace
}  // namespace weir::reach_test
