#include "fronts/grpc/should_rate_limit.h"

#include "fronts/grpc/parse_message.h"
#include "limiter/call_pool.h"

namespace weir {
namespace {

using envoy::service::ratelimit::v3::RateLimitRequest;
using envoy::service::ratelimit::v3::RateLimitResponse;

// What one thread needs for one request.
struct EnvoyScratch {
  RateLimitRequest request;
  RateLimitResponse response;
  std::string text;
};
EnvoyScratch& ThisThread() {
  thread_local EnvoyScratch scratch;
  return scratch;
}

// Belongs to itself while it waits.
class EnvoyCall final : public DescriptorCall, public Waiter {
 public:
  static CallPool<EnvoyCall>& Pool() {
    thread_local CallPool<EnvoyCall> pool;
    return pool;
  }

  void Answered(const Turn& /*now*/) override {
    std::string& text = ThisThread().text;
    text.clear();
    const GrpcStatus status = Write(text);
    stream->Answer(status, text);
    Pool().GiveBack(std::unique_ptr<EnvoyCall>(this));
  }
  void Abandoned(const Turn& now) override {
    limiter->Abandon(*this, now);
    Pool().GiveBack(std::unique_ptr<EnvoyCall>(this));
  }
  GrpcStatus Write(std::string& reply) const {
    if (decision.error != Code::kOk) return ToGrpcStatus(decision.error, decision.message);
    RateLimitResponse& response = ThisThread().response;
    FillResponse(decision, *options, response);
    response.AppendToString(&reply);
    return {};
  }

  Limiter* limiter = nullptr;
  const EnvoyOptions* options = nullptr;
  CallStream* stream = nullptr;
};

}  // namespace

void AddEnvoyService(MethodTable& methods, Limiter& limiter, const EnvoyOptions& options) {
  methods.AddUnary("/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit",
                   [&limiter, &options](std::string_view bytes, const CallContext& context,
                                        std::string& reply) -> UnaryAnswer {
                     EnvoyScratch& scratch = ThisThread();
                     if (!ParseMessage(bytes, scratch.request)) {
                       return GrpcStatus{GrpcCode::kInvalidArgument,
                                         "bad_request: the message is no RateLimitRequest"};
                     }
                     std::unique_ptr<EnvoyCall> call = EnvoyCall::Pool().Take();
                     Ask(scratch.request, *call);
                     call->home = &context.link.executor();
                     call->patience = context.patience;
                     call->reach = context.reach;
                     call->limiter = &limiter;
                     call->options = &options;
                     call->stream = &context.stream;
                     if (limiter.Decide(*call, context.now) == When::kLater) return *call.release();
                     GrpcStatus status = call->Write(reply);
                     KeepSmall(bytes, scratch.request, scratch.response);
                     EnvoyCall::Pool().GiveBack(std::move(call));
                     return status;
                   });
}

}  // namespace weir
