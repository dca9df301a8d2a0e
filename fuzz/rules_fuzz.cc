// The rules reader: any bytes are either rules, which then decide, or a list of mistakes.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "weir/limiter.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string errors;
  const auto rules =
      weir::ParseRules(std::string_view(reinterpret_cast<const char*>(data), size), &errors);
  if ((rules == nullptr) != !errors.empty()) std::abort();
  if (rules == nullptr) return 0;
  weir::LimiterOptions options;
  options.memory_bytes = 1 << 20;
  options.secret = {1, 2};
  const weir::Instant now = weir::FromNanos(1'767'225'600'000'000'000);
  weir::Limiter limiter(rules, options, now);
  const weir::Decision decision = limiter.Decide({"shop", "search", "ann"}, now);
  if (decision.allowed && decision.granted == 0) std::abort();
  if (!decision.allowed && decision.granted != 0) std::abort();
  return 0;
}
