// The usual way to write a rate-limit service: a callback server of grpc++, which answers every
// request with OK. What weir-bench measures Weir's gRPC front beside.
//
//   grpc-peer HOST:PORT
#include <envoy/service/ratelimit/v3/rls.grpc.pb.h>
#include <grpcpp/grpcpp.h>

#include <cstdio>
#include <memory>

namespace {

using envoy::service::ratelimit::v3::RateLimitRequest;
using envoy::service::ratelimit::v3::RateLimitResponse;
using envoy::service::ratelimit::v3::RateLimitService;

class AlwaysOk final : public RateLimitService::CallbackService {
 public:
  grpc::ServerUnaryReactor* ShouldRateLimit(grpc::CallbackServerContext* context,
                                            const RateLimitRequest* request,
                                            RateLimitResponse* response) override {
    response->set_overall_code(RateLimitResponse::OK);
    for (int i = 0; i < request->descriptors_size(); ++i) {
      response->add_statuses()->set_code(RateLimitResponse::OK);
    }
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }
};

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::fprintf(stderr, "usage: grpc-peer HOST:PORT\n");
    return 2;
  }
  AlwaysOk service;
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort(arguments[1], grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(&service);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr || port == 0) {
    std::fprintf(stderr, "grpc-peer: cannot listen on %s\n", arguments[1]);
    return 1;
  }
  std::printf("listening on port %d\n", port);
  std::fflush(stdout);
  server->Wait();
  return 0;
}
