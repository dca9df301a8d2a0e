// HTTP: any bytes are answered, and alike however they are cut, but for "100 Continue".
#include <cstddef>
#include <cstdint>

#include "fronts/envoy/rate_limit_json.h"
#include "fronts/http/http_front.h"
#include "fuzz/split_answers.h"

namespace {

std::string WithoutContinue(std::string text) {
  constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
  for (size_t at; (at = text.find(kContinue)) != std::string::npos;) {
    text.erase(at, kContinue.size());
  }
  return text;
}

weir::HttpOptions Options(weir::Limiter& limiter) {
  weir::HttpOptions options;
  options.trusted_hops = {*weir::http::ParseNetwork("192.0.2.0/24")};
  options.json_rate_limit = weir::RateLimitJson(limiter);
  return options;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto one = weir::fuzz::NewLimiter(), other = weir::fuzz::NewLimiter();
  const weir::fuzz::Split split({reinterpret_cast<const char*>(data), size});
  weir::HttpFront one_front(*one, Options(*one)), other_front(*other, Options(*other));
  weir::fuzz::FuzzLink whole(one_front), parts(other_front);
  whole.Send(split.all);
  parts.Send(split.first);
  parts.Send(split.second);
  const bool by_chance = weir::fuzz::NamesByChance(whole.written());
  if (!by_chance && WithoutContinue(whole.written()) != WithoutContinue(parts.written())) {
    std::abort();
  }
  if (whole.done() != parts.done()) std::abort();
  return 0;
}
