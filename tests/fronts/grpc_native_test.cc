// The native service over gRPC: the limiter's answers in its messages.
#include <gtest/gtest.h>
#include <weir/v1/limiter.pb.h>

#include "fronts/grpc/native_messages.h"
#include "tests/fronts/grpc_client.h"

namespace weir::testing::grpc_native_test {
namespace {

constexpr std::string_view kRules = R"(
namespaces:
  shop:
    resources:
      search: {limits: [{name: burst, limit: 10, per: 1m}]}
      video: {tiers: {hard_limit: 100, tiers: [{limit: 5, window: 1s, active: 60s}]}}
      seats: {copies: {per_subject: 2}}
      dark: {limits: [{name: rate, limit: 1, per: 1h, shadow: true}]}
)";

const std::string kRequest = "/weir.v1.Limiter/Request";
const std::string kPeek = "/weir.v1.Limiter/Peek";
const std::string kSettle = "/weir.v1.Limiter/Settle";
const std::string kSession = "/weir.v1.Limiter/Session";

v1::LimitRequest Search(uint64_t cost = 1) {
  v1::LimitRequest request;
  request.set_namespace_("shop");
  request.set_resource("search");
  request.set_subject("ann");
  if (cost != 1) request.set_cost(cost);
  return request;
}

class GrpcNative : public ::testing::Test {
 protected:
  v1::Decision Ask(const std::string& path, const v1::LimitRequest& request) {
    return rig_.client.Ask<v1::Decision>(path, request);
  }
  ClientCall& Call(const std::string& path, const v1::LimitRequest& request) {
    return rig_.client.Call(path, request.SerializeAsString());
  }

  GrpcRig rig_{Rules(kRules)};
};

TEST_F(GrpcNative, ARequestTakesOneIfNothingElseIsSaid) {
  const v1::Decision decision = Ask(kRequest, Search());
  EXPECT_TRUE(decision.allowed());
  EXPECT_EQ(decision.granted(), 1u);
  EXPECT_EQ(decision.remaining(), 9u);
  EXPECT_EQ(decision.retry_after_ms(), 0);
  EXPECT_EQ(decision.reset_after_ms(), 6000);
  EXPECT_EQ(decision.limit(), "burst");
  EXPECT_EQ(decision.ticket(), "");
  EXPECT_FALSE(decision.has_tier());
  ASSERT_EQ(decision.limits_size(), 1);
  EXPECT_EQ(decision.limits(0).name(), "burst");
  EXPECT_EQ(decision.limits(0).limit(), 10u);
  EXPECT_EQ(decision.limits(0).per_ms(), 60'000);
  EXPECT_EQ(decision.limits(0).remaining(), 9u);
  EXPECT_EQ(decision.limits(0).reset_after_ms(), 6000);
}

TEST_F(GrpcNative, ALimitInShadowSaysWhetherItWouldRefuse) {
  EXPECT_FALSE(Ask(kRequest, Search()).limits(0).shadow());
  v1::LimitRequest dark = Search();
  dark.set_resource("dark");
  const v1::Decision first = Ask(kRequest, dark), second = Ask(kRequest, dark);
  EXPECT_TRUE(first.limits(0).shadow());
  EXPECT_FALSE(first.limits(0).would_refuse());
  EXPECT_TRUE(second.allowed());
  EXPECT_TRUE(second.limits(0).would_refuse());
}

TEST_F(GrpcNative, ARefusalIsAnAnswer) {
  EXPECT_TRUE(Ask(kRequest, Search(10)).allowed());
  const v1::Decision decision = Ask(kRequest, Search());
  EXPECT_FALSE(decision.allowed());
  EXPECT_EQ(decision.retry_after_ms(), 6000);
  EXPECT_EQ(Ask(kRequest, Search(11)).retry_after_ms(), -1);
}

TEST_F(GrpcNative, MinCostTakesWhatThereIs) {
  v1::LimitRequest request = Search(15);
  request.set_min_cost(3);
  EXPECT_EQ(Ask(kRequest, request).granted(), 10u);
}

TEST_F(GrpcNative, PeekTakesNothing) {
  EXPECT_EQ(Ask(kPeek, Search(4)).granted(), 4u);
  EXPECT_EQ(Ask(kRequest, Search()).remaining(), 9u);
}

TEST_F(GrpcNative, ATicketIsSettledByOneMessageOnly) {
  v1::LimitRequest request = Search(4);
  request.set_settle(true);
  v1::SettleRequest settle;
  settle.set_ticket(Ask(kRequest, request).ticket());
  settle.set_cost(1);
  const int32_t stream = rig_.client.Open(kSettle);
  rig_.client.Send(stream, Framed(settle.SerializeAsString()), false);
  rig_.client.Exchange();
  settle.set_cost(2);
  rig_.client.Send(stream, Framed(settle.SerializeAsString()), true);
  rig_.client.Exchange();
  EXPECT_EQ(rig_.client[stream].status(), "12");
  EXPECT_TRUE(rig_.client[stream].messages().empty());
  const auto settled = rig_.client.Ask<v1::Settled>(kSettle, settle);
  EXPECT_EQ(settled.charged(), 2u) << "nothing was settled before";
  EXPECT_EQ(rig_.client.Call(kSettle, "").status(), "3");
  const int32_t empty = rig_.client.Open(kSettle, {}, true);
  rig_.client.Exchange();
  EXPECT_EQ(rig_.client[empty].status(), "12");
}

TEST_F(GrpcNative, ATicketIsSettledOnce) {
  v1::LimitRequest request = Search(5);
  request.set_settle(true);
  v1::SettleRequest settle;
  settle.set_ticket(Ask(kRequest, request).ticket());
  settle.set_cost(2);
  EXPECT_EQ(settle.ticket().size(), 32u);
  const auto settled = rig_.client.Ask<v1::Settled>(kSettle, settle);
  EXPECT_EQ(settled.charged(), 2u);
  EXPECT_EQ(settled.remaining(), 8u);
  EXPECT_EQ(rig_.client.Call(kSettle, settle.SerializeAsString()).status(), "5");
  settle.set_ticket("nonsense");
  EXPECT_EQ(rig_.client.Call(kSettle, settle.SerializeAsString()).status(), "3");
}

TEST_F(GrpcNative, TiersTellEverything) {
  v1::LimitRequest request = Search();
  request.set_resource("video");
  const v1::Decision decision = Ask(kRequest, request);
  EXPECT_TRUE(decision.has_tier());
  EXPECT_EQ(decision.tier_limit(), 5u);
  EXPECT_EQ(decision.tier_hits(), 1u);
  EXPECT_EQ(decision.hard_limit(), 100u);
  EXPECT_FALSE(decision.has_global_limit());
}

TEST_F(GrpcNative, CodesBecomeStatuses) {
  v1::LimitRequest request = Search();
  request.set_namespace_("nowhere");
  EXPECT_EQ(Call(kRequest, request).status(), "5");
  EXPECT_EQ(Call(kPeek, request).message().substr(0, 19), "unknown_namespace: ");
  request = Search();
  request.set_resource("nothing");
  EXPECT_EQ(Call(kRequest, request).status(), "5");
  request.set_resource("seats");
  EXPECT_EQ(Call(kRequest, request).status(), "9");
  request = Search();
  request.set_min_cost(2);
  EXPECT_EQ(Call(kRequest, request).status(), "3");
}

TEST_F(GrpcNative, WhatIsNoMessageIsABadRequest) {
  EXPECT_EQ(rig_.client.Call(kRequest, "\xff\xff").status(), "3");
  EXPECT_EQ(rig_.client.Call(kSettle, "\xff\xff").status(), "3");
}

TEST_F(GrpcNative, ASessionCarriesEverything) {
  GrpcClient& client = rig_.client;
  const int32_t stream = client.Open(kSession);
  v1::SessionRequest ask;
  ask.set_id(7);
  *ask.mutable_request() = Search(3);
  client.Send(stream, Framed(ask.SerializeAsString()), false);
  client.Exchange();
  v1::SessionResponse answer;
  ASSERT_EQ(client[stream].messages().size(), 1u);
  ASSERT_TRUE(answer.ParseFromString(client[stream].messages()[0]));
  EXPECT_EQ(answer.id(), 7u);
  EXPECT_EQ(answer.decision().remaining(), 7u);

  std::string several;
  ask.set_id(8);
  *ask.mutable_peek() = Search(2);
  several += Framed(ask.SerializeAsString());
  ask.set_id(9);
  ask.mutable_settle()->set_ticket("0123456789abcdef0123456789abcdef");
  several += Framed(ask.SerializeAsString());
  ask.set_id(10);
  ask.mutable_reserve()->set_resource("seats");
  several += Framed(ask.SerializeAsString());
  ask.set_id(11);
  ask.clear_operation();
  several += Framed(ask.SerializeAsString());
  client.Send(stream, several, true);
  client.Exchange();
  auto messages = client[stream].messages();
  ASSERT_EQ(messages.size(), 5u);
  const auto id = [](const std::string& message) {
    v1::SessionResponse response;
    EXPECT_TRUE(response.ParseFromString(message));
    return response.id();
  };
  // In any order: that is what the numbers are for.
  std::sort(messages.begin(), messages.end(),
            [&](const std::string& a, const std::string& b) { return id(a) < id(b); });
  ASSERT_TRUE(answer.ParseFromString(messages[1]));
  EXPECT_EQ(answer.decision().granted(), 2u);
  EXPECT_EQ(answer.decision().remaining(), 7u);
  ASSERT_TRUE(answer.ParseFromString(messages[2]));
  EXPECT_EQ(answer.error().status(), 5);
  EXPECT_EQ(answer.error().code(), "unknown_ticket");
  EXPECT_NE(answer.error().message(), "");
  ASSERT_TRUE(answer.ParseFromString(messages[3]));
  EXPECT_EQ(answer.id(), 10u);
  EXPECT_EQ(answer.error().code(), "unknown_namespace");
  ASSERT_TRUE(answer.ParseFromString(messages[4]));
  EXPECT_EQ(answer.error().code(), "bad_request");
  EXPECT_EQ(client[stream].status(), "0");
  EXPECT_TRUE(client[stream].closed);
}

TEST(NativeMessages, MillisecondsAreRoundedUp) {
  EXPECT_EQ(ToMillis(Duration(0)), 0);
  EXPECT_EQ(ToMillis(Duration(1)), 1);
  EXPECT_EQ(ToMillis(Duration(1'000'000)), 1);
  EXPECT_EQ(ToMillis(Duration(1'000'001)), 2);
  EXPECT_EQ(ToMillis(kNever), -1);
}

}  // namespace
}  // namespace weir::testing::grpc_native_test
