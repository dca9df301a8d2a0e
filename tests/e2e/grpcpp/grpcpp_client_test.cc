// Envoy's rate-limit service as a client of grpc++ sees it, which is what Envoy is like.
#include <envoy/service/ratelimit/v3/rls.grpc.pb.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <memory>
#include <vector>

#include "tests/e2e/server_process.h"

namespace weir::e2e::grpcpp_client_test {
namespace {

using envoy::service::ratelimit::v3::RateLimitRequest;
using envoy::service::ratelimit::v3::RateLimitResponse;
using envoy::service::ratelimit::v3::RateLimitService;

std::chrono::system_clock::time_point In(std::chrono::milliseconds time) {
  return std::chrono::system_clock::now() + time;
}

RateLimitRequest Question(const std::string& user, unsigned hits = 1) {
  RateLimitRequest request;
  request.set_domain("e2e");
  request.set_hits_addend(hits);
  auto* const entry = request.add_descriptors()->add_entries();
  entry->set_key("user");
  entry->set_value(user);
  return request;
}

class E2eGrpcpp : public ::testing::Test {
 protected:
  grpc::Status Ask(const RateLimitRequest& request, RateLimitResponse& response,
                   std::chrono::milliseconds patience = std::chrono::seconds(10)) {
    grpc::ClientContext context;
    context.set_deadline(In(patience));
    return stub_->ShouldRateLimit(&context, request, &response);
  }

  ServerProcess server_{{"--config", std::string(WEIR_SOURCE_DIR) + "/tests/e2e/grpc_rules.yaml"}};
  std::shared_ptr<grpc::Channel> channel_ = grpc::CreateChannel(
      "127.0.0.1:" + std::to_string(server_.port("grpc")), grpc::InsecureChannelCredentials());
  std::unique_ptr<RateLimitService::Stub> stub_ = RateLimitService::NewStub(channel_);
};

TEST_F(E2eGrpcpp, OverTheLimitIsAnAnswerAndNoError) {
  for (const auto expected : {RateLimitResponse::OK, RateLimitResponse::OK, RateLimitResponse::OK,
                              RateLimitResponse::OVER_LIMIT}) {
    RateLimitResponse response;
    const grpc::Status status = Ask(Question("ann"), response);
    ASSERT_TRUE(status.ok()) << status.error_message();
    EXPECT_EQ(response.overall_code(), expected);
    ASSERT_EQ(response.statuses_size(), 1);
    EXPECT_EQ(response.statuses(0).code(), expected);
    EXPECT_EQ(response.statuses(0).current_limit().requests_per_unit(), 3u);
  }
}

TEST_F(E2eGrpcpp, ABadQuestionIsAnErrorSoThatTheProxysFailureModeApplies) {
  RateLimitResponse response;
  EXPECT_EQ(Ask(RateLimitRequest(), response).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(E2eGrpcpp, CallsAtOnceGetExactlyTheLimit) {
  constexpr int kCalls = 64;
  struct Call {
    grpc::ClientContext context;
    RateLimitResponse response;
    grpc::Status status;
    std::unique_ptr<grpc::ClientAsyncResponseReader<RateLimitResponse>> reader;
  };
  grpc::CompletionQueue queue;
  std::vector<std::unique_ptr<Call>> calls;
  for (int i = 0; i < kCalls; ++i) {
    calls.push_back(std::make_unique<Call>());
    Call& call = *calls.back();
    call.context.set_deadline(In(std::chrono::seconds(20)));
    call.reader = stub_->AsyncShouldRateLimit(&call.context, Question("crowd"), &queue);
    call.reader->Finish(&call.response, &call.status, &call);
  }
  int admitted = 0;
  for (int i = 0; i < kCalls; ++i) {
    void* tag = nullptr;
    bool ok = false;
    ASSERT_TRUE(queue.Next(&tag, &ok) && ok);
    const Call& call = *static_cast<Call*>(tag);
    ASSERT_TRUE(call.status.ok()) << call.status.error_message();
    admitted += call.response.overall_code() == RateLimitResponse::OK ? 1 : 0;
  }
  EXPECT_EQ(admitted, 3);
}

// A server that is stopped in its tracks answers nobody.
TEST_F(E2eGrpcpp, ADeadlinePassesAndTheConnectionGoesOn) {
  RateLimitResponse response;
  ASSERT_TRUE(Ask(Question("bob"), response).ok());
  server_.Signal(SIGSTOP);
  EXPECT_EQ(Ask(Question("bob"), response, std::chrono::milliseconds(50)).error_code(),
            grpc::StatusCode::DEADLINE_EXCEEDED);
  server_.Signal(SIGCONT);
  const grpc::Status status = Ask(Question("eve"), response);
  EXPECT_TRUE(status.ok()) << status.error_message();
}

TEST_F(E2eGrpcpp, AServerThatDrainsTellsItsClients) {
  RateLimitResponse response;
  ASSERT_TRUE(Ask(Question("bob"), response).ok());
  server_.Signal(SIGTERM);
  EXPECT_EQ(server_.WaitForEnd(), 0) << server_.log();
  EXPECT_EQ(Ask(Question("bob"), response, std::chrono::seconds(2)).error_code(),
            grpc::StatusCode::UNAVAILABLE);
}

}  // namespace
}  // namespace weir::e2e::grpcpp_client_test
