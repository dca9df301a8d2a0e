#include "fronts/envoy/rate_limit_json.h"

#include <google/protobuf/util/json_util.h>

#include "fronts/codes.h"
#include "fronts/http/json_out.h"
#include "fronts/http/late_call.h"
#include "fronts/http/native_routes.h"

namespace weir {
namespace {

namespace json = google::protobuf::util;
using envoy::service::ratelimit::v3::RateLimitRequest;
using envoy::service::ratelimit::v3::RateLimitResponse;

void SendText(http::Responder& responder, int status, std::string_view text) {
  responder.Send(
      {.status = status, .content_type = "text/plain; charset=utf-8", .body = text, .headers = {}});
}

class Asked final : public http::LateCall<DescriptorCall, Asked> {
 public:
  void Send(http::Responder& responder) const {
    if (decision.error == Code::kBadRequest || decision.error == Code::kForbidden) {
      return SendText(responder, HttpStatus(decision.error), decision.message);
    }
    if (decision.error != Code::kOk) {
      return SendText(responder, 500,
                      std::string(CodeName(decision.error)).append(": ").append(decision.message));
    }
    RateLimitResponse response;
    FillResponse(decision, *options, response);
    std::string text;
    if (!json::MessageToJsonString(response, &text).ok()) {
      return SendText(responder, 500, "the answer is not JSON");
    }
    responder.Send({.status = decision.over ? 429 : 200,
                    .content_type = http::kJson,
                    .body = text,
                    .headers = decision.degraded ? "Weir-Degraded: true\r\n" : ""});
  }
  const EnvoyOptions* options = nullptr;
};

}  // namespace

http::Handler RateLimitJson(Limiter& limiter, EnvoyOptions options) {
  const auto kept = std::make_shared<const EnvoyOptions>(std::move(options));
  return [&limiter, kept](const http::HttpRequest& http, http::Responder responder) {
    if (http::RefuseIfLate(http, responder)) return;
    RateLimitRequest message;
    const std::string_view body = http.body;
    const auto read = json::JsonStringToMessage({body.data(), body.size()}, &message);
    if (!read.ok()) return SendText(responder, 400, read.message().ToString());
    std::unique_ptr<Asked> call = Asked::Pool().Take();
    weir::Ask(message, *call);
    call->options = kept.get();
    Asked::Ask(std::move(call), limiter, http, std::move(responder));
  };
}

}  // namespace weir
