// Holds on a gRPC Session: the stream is the session.
#include <gtest/gtest.h>
#include <weir/v1/limiter.pb.h>

#include <thread>

#include "tests/fronts/grpc_client.h"

namespace weir::testing::grpc_holds_test {
namespace {

static_assert(!std::is_copy_constructible_v<CallContext>);

using std::chrono::seconds;

const std::string kNobody = "00000000000000000000000000000001";

v1::SessionRequest Reserve(uint64_t id, const std::string& resource, uint64_t copies = 1,
                           uint64_t wait_ms = 0) {
  v1::SessionRequest request;
  request.set_id(id);
  v1::ReserveRequest& reserve = *request.mutable_reserve();
  reserve.set_namespace_("n");
  reserve.set_resource(resource);
  reserve.set_subject("ann");
  if (copies != 1) reserve.set_copies(copies);
  reserve.set_wait_ms(wait_ms);
  return request;
}
v1::SessionRequest Release(const std::string& hold) {
  v1::SessionRequest request;
  request.mutable_release()->set_hold(hold);
  return request;
}
v1::SessionRequest Transfer(const std::string& hold, uint64_t ttl_ms) {
  v1::SessionRequest request;
  request.mutable_transfer()->set_hold(hold);
  request.mutable_transfer()->set_ttl_ms(ttl_ms);
  return request;
}
v1::SessionRequest Seize(const std::string& transfer) {
  v1::SessionRequest request;
  request.mutable_seize()->set_transfer(transfer);
  return request;
}

class GrpcHolds : public ::testing::Test {
 protected:
  int32_t Stream() { return rig_.client.Open("/weir.v1.Limiter/Session"); }
  void Send(int32_t stream, const v1::SessionRequest& request, bool end = false) {
    rig_.client.Send(stream, Framed(request.SerializeAsString()), end);
    rig_.client.Exchange();
  }
  // What came last.
  v1::SessionResponse Last(int32_t stream) {
    v1::SessionResponse answer;
    const auto messages = rig_.client[stream].messages();
    EXPECT_FALSE(messages.empty());
    if (!messages.empty()) {
      EXPECT_TRUE(answer.ParseFromString(messages.back()));
    }
    return answer;
  }
  v1::SessionResponse Ask(int32_t stream, const v1::SessionRequest& request) {
    Send(stream, request);
    return Last(stream);
  }
  void RunPosted() {
    rig_.link.RunPosted();
    rig_.client.Exchange();
  }
  LimiterStats Stats() { return rig_.limiter.Stats(); }

  GrpcRig rig_{Rules(kHoldRules)};
};

TEST_F(GrpcHolds, ErrorsAreAnswersWithTheirCode) {
  const int32_t stream = Stream();
  const auto code = [&](const v1::SessionRequest& request) {
    const v1::Error error = Ask(stream, request).error();
    return error.code() + " " + std::to_string(error.status());
  };
  v1::SessionRequest request = Reserve(1, "box");
  request.mutable_reserve()->set_namespace_("x");
  EXPECT_EQ(code(request), "unknown_namespace 5");
  EXPECT_EQ(code(Reserve(1, "x")), "unknown_resource 5");
  EXPECT_EQ(code(Reserve(1, "rate")), "wrong_kind 9");
  EXPECT_EQ(code(Reserve(1, "box", 0)), "bad_request 3");
  EXPECT_EQ(code(Release("x")), "bad_request 3");
  EXPECT_EQ(code(Release(kNobody)), "not_held 5");
  request = Release(kNobody);
  request.mutable_release()->set_copies(0);
  EXPECT_EQ(code(request), "bad_request 3");
  EXPECT_EQ(code(Transfer("x", 1)), "bad_request 3");
  EXPECT_EQ(code(Transfer(kNobody, 0)), "bad_request 3");
  EXPECT_EQ(code(Transfer(kNobody, 86'400'001)), "bad_request 3");
  EXPECT_EQ(code(Transfer(kNobody, uint64_t{1} << 53)), "bad_request 3");
  EXPECT_EQ(code(Transfer(kNobody, 1)), "not_held 5");
  request = Transfer(kNobody, 1);
  request.mutable_transfer()->set_copies(0);
  EXPECT_EQ(code(request), "bad_request 3");
  EXPECT_EQ(code(Seize("x")), "bad_request 3");
  EXPECT_EQ(code(Seize(kNobody)), "unknown_transfer 5");
}

TEST_F(GrpcHolds, CopiesChangeHands) {
  const int32_t giver = Stream(), taker = Stream();
  v1::SessionRequest many = Reserve(7, "box", 9);
  many.mutable_reserve()->set_min_copies(2);
  const v1::SessionResponse answer = Ask(giver, many);
  EXPECT_EQ(answer.id(), 7u);
  const v1::Reservation& got = answer.reservation();
  EXPECT_TRUE(got.allowed());
  EXPECT_EQ(got.outcome(), v1::Reservation::GRANTED);
  EXPECT_EQ(got.granted(), 4u);
  EXPECT_EQ(got.held(), 4u);
  EXPECT_EQ(got.per_subject(), 5u);
  EXPECT_EQ(got.held_total(), 4u);
  EXPECT_EQ(got.total(), 8u);
  ASSERT_EQ(got.groups_size(), 1);
  EXPECT_EQ(got.groups(0).name(), "trial");
  EXPECT_EQ(got.groups(0).limit(), 4u);
  EXPECT_EQ(Ask(giver, Reserve(8, "box")).reservation().outcome(), v1::Reservation::REFUSED);
  EXPECT_EQ(Ask(taker, Release(got.hold())).error().code(), "not_held");

  v1::SessionRequest one = Release(got.hold());
  one.mutable_release()->set_copies(1);
  EXPECT_EQ(Ask(giver, one).released().copies(), 3u);
  const std::string transfer = Ask(giver, Transfer(got.hold(), 5000)).transferred().transfer();
  const v1::Seized seized = Ask(taker, Seize(transfer)).seized();
  EXPECT_EQ(seized.namespace_(), "n");
  EXPECT_EQ(seized.resource(), "box");
  EXPECT_EQ(seized.subject(), "ann");
  EXPECT_EQ(seized.copies(), 3u);
  ASSERT_EQ(seized.groups_size(), 1);
  EXPECT_EQ(seized.groups(0).name(), "trial");
  EXPECT_EQ(Ask(taker, Release(seized.hold())).released().copies(), 0u);
}

TEST_F(GrpcHolds, TheEndOfAStreamReleasesHoweverItEnds) {
  const int32_t polite = Stream();
  Send(polite, Reserve(1, "lock"), true);
  EXPECT_TRUE(Last(polite).reservation().allowed());
  EXPECT_EQ(rig_.client[polite].status(), "0");
  EXPECT_EQ(Stats().holds, 0u);

  const int32_t reset = Stream();
  EXPECT_TRUE(Ask(reset, Reserve(1, "lock")).reservation().allowed());
  rig_.client.Reset(reset);
  rig_.client.Exchange();
  EXPECT_EQ(Stats().holds, 0u);

  const int32_t cut = Stream();
  EXPECT_TRUE(Ask(cut, Reserve(1, "lock")).reservation().allowed());
  rig_.protocol->Closed(rig_.link.At(kGrpcStart));
  EXPECT_EQ(Stats().holds, 0u);
  EXPECT_EQ(Stats().sessions, 0u);
}

TEST_F(GrpcHolds, WhoWaitsIsOvertakenAndAnsweredFromAnotherThread) {
  const int32_t holder = Stream(), waiter = Stream();
  const std::string hold = Ask(holder, Reserve(1, "lock")).reservation().hold();
  Send(waiter, Reserve(2, "lock", 1, 5000));
  EXPECT_EQ(rig_.client[waiter].messages().size(), 0u);
  EXPECT_EQ(Ask(waiter, Reserve(3, "box")).id(), 3u);
  EXPECT_EQ(Stats().waiting, 1u);
  std::thread([&] { Send(holder, Release(hold)); }).join();
  EXPECT_EQ(rig_.client[waiter].messages().size(), 1u);
  RunPosted();
  EXPECT_EQ(Last(waiter).id(), 2u);
  EXPECT_TRUE(Last(waiter).reservation().allowed());
}

TEST_F(GrpcHolds, AHalfClosedStreamEndsWithItsLastAnswer) {
  const int32_t holder = Stream(), waiter = Stream();
  Send(holder, Reserve(1, "lock"));
  Send(waiter, Reserve(2, "lock", 1, 1000), true);
  EXPECT_FALSE(rig_.client[waiter].ended);
  rig_.limiter.Tick(kGrpcStart + seconds(2));
  RunPosted();
  EXPECT_EQ(Last(waiter).reservation().outcome(), v1::Reservation::TIMEOUT);
  EXPECT_EQ(rig_.client[waiter].status(), "0");
}

TEST_F(GrpcHolds, AnAnswerForAStreamThatIsGoneIsDropped) {
  const int32_t holder = Stream(), waiter = Stream();
  const std::string hold = Ask(holder, Reserve(1, "lock")).reservation().hold();
  Send(waiter, Reserve(2, "lock", 1, 5000));
  Send(holder, Release(hold));
  rig_.client.Reset(waiter);
  rig_.client.Exchange();
  RunPosted();
  EXPECT_EQ(Stats().holds, 0u);
  EXPECT_EQ(Stats().sessions, 1u);
}

TEST_F(GrpcHolds, AnAddressThatWaitsAsOftenAsItMayFindsTheQueueFull) {
  WaitAsOftenAsMay(rig_.limiter, "192.0.2.7");
  const int32_t holder = Stream(), waiter = Stream();
  Ask(holder, Reserve(1, "lock"));
  EXPECT_EQ(Ask(waiter, Reserve(2, "lock", 1, 5000)).reservation().outcome(),
            v1::Reservation::QUEUE_FULL);
}

}  // namespace
}  // namespace weir::testing::grpc_holds_test
