// A ticket that another node has issued: it is settled there, and answered late, on every front.
#include <gtest/gtest.h>
#include <weir/v1/limiter.pb.h>

#include "fronts/resp/resp_front.h"
#include "tests/fronts/grpc_client.h"
#include "tests/fronts/http_testing.h"

namespace weir::testing::settle_elsewhere_test {
namespace {

const std::string kTicket = "0000000500000000000000000000beef";

// The other node: it is told, and answers when the test says so.
struct OtherNode {
  explicit OtherNode(Limiter& limiter) {
    limiter.SettleElsewhere([this](const SettleRequest& request, SettleDone done) {
      asked.push_back(request);
      waiting.push_back(std::move(done));
    });
  }
  void Answer(const Result<Settled>& settled) {
    for (const SettleDone& done : std::exchange(waiting, {})) done(settled);
  }
  std::vector<SettleRequest> asked;
  std::vector<SettleDone> waiting;
};

const Error kAway{Code::kUnavailable, "node b is not there", "ticket"};

struct RespElsewhere : ::testing::Test {
  std::unique_ptr<Limiter> limiter = Open(kShopRules);
  OtherNode node{*limiter};
  RespFront front{*limiter};
  FakeLink link{front};
  const std::string settle = "WEIR.SETTLE " + kTicket + " 7\r\n";
};

TEST_F(RespElsewhere, CommandsBehindItWaitForTheirTurn) {
  EXPECT_EQ(link.Send(settle + "PING\r\n"), "");
  ASSERT_EQ(node.asked.size(), 1u);
  EXPECT_EQ(node.asked[0].cost, 7u);
  EXPECT_EQ(node.asked[0].ticket.ToString(), kTicket);
  node.Answer(Settled{7, 3});
  const std::string answer = link.RunPosted();
  EXPECT_TRUE(Has(answer, "charged\r\n:7\r\n")) << answer;
  EXPECT_TRUE(answer.ends_with("+PONG\r\n")) << answer;
}

TEST_F(RespElsewhere, AnErrorKeepsItsCode) {
  link.Send(settle);
  node.Answer(kAway);
  EXPECT_EQ(link.RunPosted(), "-UNAVAILABLE node b is not there\r\n");
}

TEST_F(RespElsewhere, WhoeverHasHungUpIsNotAnswered) {
  link.Send(settle);
  link.Close();
  node.Answer(Settled{7, 3});
  EXPECT_EQ(link.RunPosted(), "");
}

TEST_F(RespElsewhere, OwnTicketsAreSettledAtOnce) {
  Request request{"shop", "search", "ann", 2};
  request.settle = true;
  const Decision decision = limiter->Decide(request, kStart);
  EXPECT_TRUE(Has(link.Send("WEIR.SETTLE " + decision.ticket.ToString() + " 1\r\n"), ":1\r\n"));
  EXPECT_TRUE(node.asked.empty());
}

TEST_F(RespElsewhere, WhatIsNeverAnsweredIsAnError) {
  link.Send(settle);
  node.waiting.clear();
  EXPECT_TRUE(link.RunPosted().starts_with("-UNAVAILABLE "));
}

struct HttpElsewhere : ::testing::Test {
  std::unique_ptr<Limiter> limiter = Open(kShopRules);
  OtherNode node{*limiter};
  HttpFront front{*limiter};
  FakeLink link{front};
  std::string Late() { return link.RunPosted(); }
  const std::string settle = Post("/v1/settle", R"({"ticket":")" + kTicket + R"(","cost":7})");
};

TEST_F(HttpElsewhere, IsAnsweredWhenTheOtherNodeHas) {
  EXPECT_EQ(link.Send(settle), "");
  node.Answer(Settled{7, 3});
  const std::string answer = Late();
  EXPECT_EQ(StatusOf(answer), 200);
  EXPECT_EQ(BodyOf(answer), R"({"charged":7,"remaining":3})");
}

TEST_F(HttpElsewhere, AnErrorHasItsStatus) {
  link.Send(settle);
  node.Answer(kAway);
  EXPECT_EQ(StatusOf(Late()), 503);
}

TEST_F(HttpElsewhere, WhoeverHasHungUpIsNotAnswered) {
  link.Send(settle);
  link.Close();
  node.Answer(Settled{7, 3});
  EXPECT_EQ(link.RunPosted(), "");
}

struct GrpcElsewhere : ::testing::Test {
  GrpcElsewhere() { settle.set_ticket(kTicket), settle.set_cost(7); }
  ClientCall& Call() {
    const int32_t stream = rig.client.Open("/weir.v1.Limiter/Settle");
    rig.client.Send(stream, Framed(settle.SerializeAsString()), true);
    rig.client.Exchange();
    return rig.client[stream];
  }
  void RunPosted() {
    rig.link.RunPosted();
    rig.client.Exchange();
  }
  GrpcRig rig{Rules(kShopRules)};
  OtherNode node{rig.limiter};
  v1::SettleRequest settle;
};

TEST_F(GrpcElsewhere, ACallIsAnsweredWhenTheOtherNodeHas) {
  ClientCall& call = Call();
  EXPECT_EQ(call.status(), "");
  node.Answer(Settled{7, 3});
  RunPosted();
  EXPECT_EQ(call.status(), "0");
  v1::Settled settled;
  ASSERT_EQ(call.messages().size(), 1u);
  EXPECT_TRUE(settled.ParseFromString(call.messages()[0]));
  EXPECT_EQ(settled.remaining(), 3u);
}

TEST_F(GrpcElsewhere, AnErrorIsAStatus) {
  ClientCall& call = Call();
  node.Answer(kAway);
  RunPosted();
  EXPECT_EQ(call.status(), "14");
}

TEST_F(GrpcElsewhere, ACallThatWasResetIsNotAnswered) {
  const int32_t stream = rig.client.Open("/weir.v1.Limiter/Settle");
  rig.client.Send(stream, Framed(settle.SerializeAsString()), true);
  rig.client.Exchange();
  rig.client.Reset(stream);
  rig.client.Exchange();
  node.Answer(Settled{7, 3});
  RunPosted();
  EXPECT_TRUE(rig.client[stream].messages().empty());
}

TEST_F(GrpcElsewhere, ASessionGoesOnMeanwhile) {
  const int32_t stream = rig.client.Open("/weir.v1.Limiter/Session");
  v1::SessionRequest request;
  request.set_id(1);
  *request.mutable_settle() = settle;
  rig.client.Send(stream, Framed(request.SerializeAsString()), false);
  request.set_id(2);
  request.mutable_peek()->set_namespace_("shop");
  rig.client.Send(stream, Framed(request.SerializeAsString()), true);
  rig.client.Exchange();
  EXPECT_EQ(rig.client[stream].status(), "") << "one is not answered yet";
  node.Answer(Settled{7, 3});
  RunPosted();
  const auto messages = rig.client[stream].messages();
  ASSERT_EQ(messages.size(), 2u);
  v1::SessionResponse last;
  EXPECT_TRUE(last.ParseFromString(messages[1]));
  EXPECT_EQ(last.id(), 1u);
  EXPECT_EQ(last.settled().charged(), 7u);
  EXPECT_EQ(rig.client[stream].status(), "0");
}

}  // namespace
}  // namespace weir::testing::settle_elsewhere_test
