// The reach of tokens over gRPC, as reach_test.cc has it for HTTP and the Redis protocol.
#include <envoy/service/ratelimit/v3/rls.pb.h>
#include <gtest/gtest.h>
#include <weir/v1/limiter.pb.h>

#include <map>

#include "tests/fronts/grpc_client.h"
#include "tests/fronts/reach_testing.h"

namespace weir::grpc_reach_test {
namespace {

using namespace testing;  // NOLINT: the helpers are most of what is written here

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
}  // namespace weir::grpc_reach_test
