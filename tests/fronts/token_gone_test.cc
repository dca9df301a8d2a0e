// Tokens that are read again count at once, for whoever was let in before as well: his next question, and what
// he waits for, on every front that knows tokens.
#include <gtest/gtest.h>
#include <weir/v1/limiter.pb.h>

#include <map>

#include "fronts/http/http_front.h"
#include "fronts/resp/resp_front.h"
#include "tests/fronts/grpc_client.h"
#include "tests/fronts/http_testing.h"
#include "tests/fronts/reach_testing.h"

namespace weir::token_gone_test {
namespace {

using namespace testing;  // NOLINT: the helpers are most of what is written here

// A long connection of one client, whose token is `m`. Answers are "ok", or the kind of the error.
class Client {
 public:
  virtual ~Client() = default;
  virtual std::string Ask(const std::string& ns) = 0;
  // For the one copy of mine/one, however long it takes.
  virtual void Wait() = 0;
  // What came of it; empty: nothing yet.
  virtual std::string Waited() = 0;
  // Now and then.
  virtual void Tick() = 0;
  virtual Limiter& limiter() = 0;
};

class HttpClient : public Client {
 public:
  explicit HttpClient(ReachPolicy& policy) {
    HttpOptions options;
    options.gate = {.policy = &policy, .decisions_open = false};
    front_ = std::make_unique<HttpFront>(*limiter_, std::move(options));
    link_ = std::make_unique<FakeLink>(*front_);
    const std::string answer = Send("/v1/session", "{}");
    session_ = answer.substr(answer.find("{\"session\":\"") + 12, 32);
  }
  std::string Ask(const std::string& ns) override {
    return Kind(
        Send("/v1/request", R"({"namespace":")" + ns + R"(","resource":"rate","subject":"ann"})"));
  }
  void Wait() override {
    EXPECT_EQ(Send("/v1/reserve", R"({"namespace":"mine","resource":"one","subject":"ann",)"
                                  R"("wait_ms":50000,"session":")" +
                                      session_ + "\"}"),
              "");
  }
  std::string Waited() override { return Kind(link_->RunPosted()); }
  void Tick() override { link_->protocol().Tick(Turn(link_->clock())); }
  Limiter& limiter() override { return *limiter_; }

 private:
  std::string Send(const std::string& path, const std::string& body) {
    return link_->Send("POST " + path +
                       " HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer m\r\n"
                       "Content-Length: " +
                       std::to_string(body.size()) + "\r\n\r\n" + body);
  }
  static std::string Kind(const std::string& answer) {
    if (answer.empty()) return "";
    const int status = StatusOf(answer);
    return status == 200   ? "ok"
           : status == 401 ? "unauthenticated"
           : status == 403 ? "forbidden"
                           : answer;
  }

  std::unique_ptr<Limiter> limiter_ = Open(kTwo);
  std::unique_ptr<HttpFront> front_;
  std::unique_ptr<FakeLink> link_;
  std::string session_;
};

class RespClient : public Client {
 public:
  explicit RespClient(ReachPolicy& policy)
      : front_(*limiter_,
               {.password = [&policy](std::string_view word) { return policy.ReachOf(word); },
                .passwords_version = &policy.version()}) {
    EXPECT_EQ(link_.Send("AUTH m\r\n"), "+OK\r\n");
  }
  std::string Ask(const std::string& ns) override {
    return Kind(link_.Send("WEIR.REQUEST " + ns + " rate ann\r\n"));
  }
  void Wait() override { EXPECT_EQ(link_.Send("WEIR.RESERVE mine one ann WAIT 50000\r\n"), ""); }
  std::string Waited() override { return Kind(link_.RunPosted()); }
  void Tick() override { link_.protocol().Tick(Turn(link_.clock())); }
  Limiter& limiter() override { return *limiter_; }

 private:
  static std::string Kind(const std::string& answer) {
    if (answer.starts_with("-NOAUTH")) return "unauthenticated";
    if (answer.starts_with("-NOPERM")) return "forbidden";
    return answer.empty() || answer.starts_with('-') ? answer : "ok";
  }

  std::unique_ptr<Limiter> limiter_ = Open(kTwo);
  RespFront front_;
  FakeLink link_{front_};
};

class GrpcClient : public Client {
 public:
  explicit GrpcClient(ReachPolicy& policy)
      : rig_{Rules(kTwo), {.connection = {.policy = &policy}}},
        stream_(rig_.client.Open("/weir.v1.Limiter/Session", {{"authorization", "Bearer m"}})) {}
  std::string Ask(const std::string& ns) override {
    v1::SessionRequest request;
    request.mutable_request()->set_namespace_(ns);
    request.mutable_request()->set_resource("rate");
    request.mutable_request()->set_subject("ann");
    Send(request);
    return Kind();
  }
  void Wait() override {
    v1::SessionRequest request;
    request.mutable_reserve()->set_namespace_("mine");
    request.mutable_reserve()->set_resource("one");
    request.mutable_reserve()->set_subject("ann");
    request.mutable_reserve()->set_wait_ms(50000);
    Send(request);
    EXPECT_EQ(Kind(), "");
  }
  std::string Waited() override {
    rig_.link.RunPosted();
    rig_.client.Exchange();
    return Kind();
  }
  void Tick() override {
    rig_.protocol->Tick(rig_.link.At(rig_.client.now));
    rig_.client.Exchange();
  }
  Limiter& limiter() override { return rig_.limiter; }

 private:
  void Send(const v1::SessionRequest& request) {
    rig_.client.Send(stream_, Framed(request.SerializeAsString()), false);
    rig_.client.Exchange();
  }
  std::string Kind() {
    const ClientCall& call = rig_.client[stream_];
    const auto messages = call.messages();
    if (messages.size() > seen_) {
      seen_ = messages.size();
      v1::SessionResponse answer;
      EXPECT_TRUE(answer.ParseFromString(messages.back()));
      return answer.has_error() ? answer.error().code() : "ok";
    }
    return call.status() == "16"  ? "unauthenticated"
           : call.status() == "7" ? "forbidden"
                                  : call.status();
  }

  GrpcRig rig_;
  const int32_t stream_;
  size_t seen_ = 0;
};

using Make = std::unique_ptr<Client> (*)(ReachPolicy&);
template <typename C>
std::unique_ptr<Client> New(ReachPolicy& policy) {
  return std::make_unique<C>(policy);
}
// Every front but PoolCounter, whose clients have no word for a token.
const std::map<std::string, Make> kFronts = {
    {"http", New<HttpClient>}, {"resp", New<RespClient>}, {"grpc", New<GrpcClient>}};

class TokenGone : public ::testing::TestWithParam<std::string> {
 protected:
  // Somebody else has the copy.
  void Fill() {
    client_->limiter().Reserve(other_, {"mine", "one", "ann"}, kStart,
                               [&](const Result<Reservation>& told) { hold_ = told->hold; });
    ASSERT_TRUE(hold_);
  }
  void Free() { client_->limiter().Release(other_, hold_, 0, kStart); }
  bool IsFree() {
    bool allowed = false;
    client_->limiter().Reserve(
        other_, {"mine", "one", "ann"}, kStart,
        [&](const Result<Reservation>& told) { allowed = told && told->allowed; });
    return allowed;
  }

  ReachPolicy policy_;
  const std::unique_ptr<Client> client_ = kFronts.at(GetParam())(policy_);
  const SessionId other_ = client_->limiter().OpenSession(kNever, kStart, "192.0.2.8");
  Ticket hold_;
};

TEST_P(TokenGone, NothingMoreIsDecidedOnALongConnection) {
  EXPECT_EQ(client_->Ask("mine"), "ok");
  policy_.TakeAway("another");
  EXPECT_EQ(client_->Ask("mine"), "ok") << "of somebody else";
  policy_.TakeAway("m");
  EXPECT_EQ(client_->Ask("mine"), "unauthenticated");
}

TEST_P(TokenGone, OneThatIsForAnotherNamespaceNowDecidesThere) {
  EXPECT_EQ(client_->Ask("theirs"), "forbidden");
  policy_.Move("m");
  EXPECT_EQ(client_->Ask("mine"), "forbidden");
  EXPECT_EQ(client_->Ask("theirs"), "ok");
}

TEST_P(TokenGone, WhoeverWaitsIsGrantedNothing) {
  Fill();
  client_->Wait();
  policy_.TakeAway("m");
  Free();
  EXPECT_EQ(client_->Waited(), "unauthenticated");
  EXPECT_TRUE(IsFree());
}

TEST_P(TokenGone, WhoeverWaitsWhereHeMayNoMoreIsGrantedNothing) {
  Fill();
  client_->Wait();
  policy_.Move("m");
  Free();
  EXPECT_EQ(client_->Waited(), "forbidden");
  EXPECT_TRUE(IsFree());
  EXPECT_EQ(client_->Ask("theirs"), "ok") << "the connection lives on";
}

TEST_P(TokenGone, WhoeverMayStillIsGrantedWhatHeWaitsFor) {
  Fill();
  client_->Wait();
  policy_.TakeAway("another");
  client_->Tick();
  Free();
  EXPECT_EQ(client_->Waited(), "ok");
  EXPECT_FALSE(IsFree());
}

// Over HTTP a session has to be renewed, which needs a token: it ends by itself.
TEST_P(TokenGone, WhatAConnectionHoldsIsReleasedThoughItSaysNothing) {
  if (GetParam() == "http") return;
  Fill();
  client_->Wait();
  Free();
  EXPECT_EQ(client_->Waited(), "ok");
  EXPECT_FALSE(IsFree());
  policy_.TakeAway("m");
  client_->Tick();
  EXPECT_TRUE(IsFree());
}

INSTANTIATE_TEST_SUITE_P(Fronts, TokenGone, ::testing::Values("http", "resp", "grpc"),
                         [](const auto& of) { return of.param; });

}  // namespace
}  // namespace weir::token_gone_test
