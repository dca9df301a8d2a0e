#include "fronts/envoy/rate_limit_json.h"

#include <google/protobuf/util/json_util.h>

namespace weir {

using envoy::service::ratelimit::v3::RateLimitRequest;
using envoy::service::ratelimit::v3::RateLimitResponse;

std::pair<int, std::string> AnswerJson(Limiter& limiter, std::string_view body, Instant now,
                                       const Reach& reach, const EnvoyOptions& options) {
  namespace json = google::protobuf::util;
  RateLimitRequest request;
  RateLimitResponse response;
  const auto read = json::JsonStringToMessage({body.data(), body.size()}, &request);
  if (!read.ok()) return {400, read.message().ToString()};

  std::string_view message;
  const Code code = ShouldRateLimit(limiter, options, request, reach, now, response, message);
  if (code == Code::kBadRequest) return {400, std::string(message)};
  if (code == Code::kForbidden) return {403, std::string(message)};
  if (code != Code::kOk) return {500, std::string(CodeName(code)) + ": " + std::string(message)};

  std::string text;
  if (!json::MessageToJsonString(response, &text).ok()) return {500, "the answer is not JSON"};
  return {response.overall_code() == RateLimitResponse::OVER_LIMIT ? 429 : 200, std::move(text)};
}

}  // namespace weir
