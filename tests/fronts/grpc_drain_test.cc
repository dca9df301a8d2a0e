// gRPC when the server goes down: what was begun is finished, and nobody is waited for without end.
#include <gtest/gtest.h>
#include <weir/v1/limiter.pb.h>

#include "tests/fronts/grpc_client.h"

namespace weir::testing::grpc_drain_test {
namespace {

class GrpcDrain : public ::testing::Test {
 protected:
  static std::string Question() {
    v1::LimitRequest request;
    request.set_namespace_("n");
    request.set_resource("r");
    request.set_subject("s");
    return request.SerializeAsString();
  }

  GrpcRig rig_{Rules("namespaces: {n: {resources: {r: {limits: [{limit: 1000000, per: 1d}]}}}}")};
  GrpcClient& client_ = rig_.client;
};

TEST_F(GrpcDrain, DrainingFinishesWhatWasBegun) {
  const int32_t unary = client_.Open("/weir.v1.Limiter/Peek");
  const int32_t session = client_.Open("/weir.v1.Limiter/Session");
  client_.Exchange();
  rig_.protocol->Drain(rig_.link.At(client_.now));
  EXPECT_FALSE(rig_.protocol->idle());
  client_.Exchange();
  ASSERT_EQ(client_.goaway_last.size(), 2u);
  EXPECT_EQ(client_.goaway_last[0], INT32_MAX);
  EXPECT_EQ(client_.goaway_last[1], session);
  EXPECT_EQ(client_[session].status(), "14");
  EXPECT_FALSE(rig_.protocol->done());
  client_.Send(unary, Framed(Question()), true);
  client_.Exchange();
  EXPECT_EQ(client_[unary].status(), "0");
  EXPECT_TRUE(rig_.protocol->done());
}

TEST_F(GrpcDrain, DrainingDoesNotWaitForEverForAPong) {
  client_.Exchange();
  rig_.protocol->Drain(rig_.link.At(client_.now));
  rig_.protocol->Tick(rig_.link.At(client_.now + std::chrono::milliseconds(500)));
  EXPECT_FALSE(rig_.protocol->done());
  rig_.protocol->Tick(rig_.link.At(client_.now + std::chrono::milliseconds(1500)));
  EXPECT_TRUE(rig_.protocol->done());
}

}  // namespace
}  // namespace weir::testing::grpc_drain_test
