// What a front does for a peer that sends nothing more, or that has waited too long.
#include <gtest/gtest.h>
#include <weir/v1/limiter.pb.h>

#include "fronts/resp/resp_front.h"
#include "tests/fronts/grpc_client.h"
#include "tests/fronts/http_testing.h"

namespace weir::testing::half_close_test {
namespace {

constexpr char kRules[] =
    "namespaces: {n: {resources: {lock: {copies: {per_subject: 1}}, box: {copies: {per_subject: "
    "1}}, api: {limits: [{limit: 9, per: 1s}]}}}}\n";

class HalfClose : public ::testing::Test {
 protected:
  bool Free(const std::string& resource) {
    bool free = false;
    const SessionId session = limiter_->OpenSession(kNever, kStart);
    ReserveRequest request{"n", resource, "ann"};
    limiter_->Reserve(session, request, kStart,
                      [&](const Result<Reservation>& told) { free = told && told->allowed; });
    limiter_->EndSession(session, kStart);
    return free;
  }
  SessionId Hold(const std::string& resource) {
    const SessionId session = limiter_->OpenSession(kNever, kStart);
    ReserveRequest request{"n", resource, "ann"};
    limiter_->Reserve(session, request, kStart, [](const Result<Reservation>&) {});
    return session;
  }

  std::unique_ptr<Limiter> limiter_ = Open(kRules);
};

TEST_F(HalfClose, RespReleasesAtOnceAndAnswersWhatIsAwaited) {
  const SessionId other = Hold("lock");
  RespFront front(*limiter_);
  FakeLink link(front);
  link.Send("WEIR.RESERVE n box ann\r\n");
  EXPECT_FALSE(link.protocol().owes());
  link.Send("WEIR.RESERVE n lock ann WAIT 9000\r\n");
  EXPECT_TRUE(link.protocol().owes());
  EXPECT_FALSE(Free("box"));
  link.protocol().HalfClosed(Turn(link.clock()));
  EXPECT_TRUE(Free("box"));
  limiter_->EndSession(other, kStart);
  EXPECT_NE(link.RunPosted().find("allowed\r\n:1\r\n"), std::string::npos);
  EXPECT_FALSE(link.protocol().owes());
  EXPECT_FALSE(Free("lock"));
  link.Close();
  EXPECT_TRUE(Free("lock"));
}

TEST_F(HalfClose, GrpcReleasesAtOnceAndAnswersWhatIsAwaited) {
  GrpcRig rig{Rules(kRules)};
  const auto ask = [&](int32_t stream, const std::string& resource, int64_t wait_ms) {
    v1::SessionRequest request;
    request.set_id(1);
    request.mutable_reserve()->set_namespace_("n");
    request.mutable_reserve()->set_resource(resource);
    request.mutable_reserve()->set_subject("ann");
    request.mutable_reserve()->set_wait_ms(static_cast<uint64_t>(wait_ms));
    rig.client.Send(stream, Framed(request.SerializeAsString()), false);
    rig.client.Exchange();
    return rig.client[stream].messages().size();
  };
  const int32_t holder = rig.client.Open("/weir.v1.Limiter/Session");
  EXPECT_EQ(ask(holder, "lock", 0), 1u);
  const int32_t waiter = rig.client.Open("/weir.v1.Limiter/Session");
  EXPECT_EQ(ask(waiter, "box", 0), 1u);
  EXPECT_FALSE(rig.protocol->owes());
  EXPECT_EQ(ask(waiter, "lock", 9000), 1u);
  EXPECT_TRUE(rig.protocol->owes());
  rig.protocol->HalfClosed(rig.link.At(rig.client.now));  // the holder's lock is released as well
  rig.link.RunPosted();
  rig.client.Exchange();
  EXPECT_EQ(rig.client[waiter].messages().size(), 2u);
  EXPECT_FALSE(rig.protocol->owes());
}

TEST_F(HalfClose, HttpTakesBackWhatDoesNotReachItsPeer) {
  for (const bool delivered : {true, false}) {
    const SessionId other = Hold("lock"), session = limiter_->OpenSession(kNever, kStart);
    HttpFront front(*limiter_);
    FakeLink link(front);
    link.Send(Post("/v1/reserve", "{\"session\":\"" + session.ToString() +
                                      "\",\"namespace\":\"n\",\"resource\":\"lock\","
                                      "\"subject\":\"ann\",\"wait_ms\":9000}"));
    EXPECT_TRUE(link.protocol().owes());
    link.SetHalfClosed();
    link.protocol().HalfClosed(Turn(link.clock()));
    limiter_->EndSession(other, kStart);
    EXPECT_EQ(StatusOf(link.RunPosted()), 200);
    EXPECT_TRUE(link.protocol().asks_for_delivery());
    if (delivered) link.protocol().Delivered();
    link.Close();
    EXPECT_EQ(Free("lock"), !delivered);
    limiter_->EndSession(session, kStart);
  }
}

TEST_F(HalfClose, HttpDoesNotDecideWhatWaitedTooLong) {
  HttpFront front(*limiter_);
  FakeLink link(front);
  const std::string body = R"({"namespace":"n","resource":"api","subject":"ann"})";
  const std::string query = "?namespace=n&resource=api&subject=ann";
  link.SetLate(true);
  for (const std::string& request :
       {Post("/v1/request", body), Post("/v1/peek", body),
        "GET /v1/auth" + query + " HTTP/1.1\r\nHost: x\r\n\r\n", Post("/v1/reserve", "{}")}) {
    const std::string answer = link.Send(request);
    EXPECT_EQ(StatusOf(answer), 503) << answer;
    EXPECT_NE(answer.find("\"code\":\"overloaded\""), std::string::npos) << answer;
    EXPECT_NE(answer.find("Retry-After: 1\r\n"), std::string::npos) << answer;
  }
  EXPECT_EQ(link.refused(), 4u);
  EXPECT_EQ(StatusOf(link.Send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")), 200);
  link.SetLate(false);
  EXPECT_NE(link.Send(Post("/v1/request", body)).find("\"remaining\":8"), std::string::npos)
      << "nothing was taken";
}

}  // namespace
}  // namespace weir::testing::half_close_test
