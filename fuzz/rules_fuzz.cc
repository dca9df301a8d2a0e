// The rules reader: any bytes are either rules or a list of mistakes. Rules are printed and read
// back as the same rules, and decide.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "rules/print/print.h"
#include "weir/limiter.h"

namespace {

constexpr weir::ParseOptions kEverything = {.cluster = true, .divide = true, .redis = true};
constexpr size_t kMostBytes = size_t{16} << 20;  // aliases may make the printed text longer

void CheckResult(const weir::ParseResult& result) {
  if (result.ok() != result.errors.empty()) std::abort();
  const std::string report = weir::CheckReport(result, true);
  if (!result.ok()) {
    for (const weir::Diagnostic& error : result.errors) {
      if (error.message.empty() || error.caret > error.excerpt.size()) std::abort();
    }
    return;
  }
  const std::string printed = weir::PrintRules(*result.rules);
  if (printed.size() > kMostBytes) return;
  const weir::ParseResult again = weir::ParseRulesText(printed, "printed", kEverything);
  if (!again.ok() || !again.changes.empty()) std::abort();
  if (weir::PrintRules(*again.rules) != printed) std::abort();
}

void CheckDecision(const std::shared_ptr<const weir::Rulebook>& rules) {
  weir::LimiterOptions options;
  options.memory_bytes = 1 << 20;
  options.secret = {1, 2};
  const weir::Instant now = weir::FromNanos(1'767'225'600'000'000'000);
  weir::Limiter limiter(rules, options, now);
  const weir::Decision decision = limiter.Decide({"shop", "search", "ann"}, now);
  if (decision.allowed && decision.granted == 0) std::abort();
  if (!decision.allowed && decision.granted != 0) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  CheckResult(weir::ParseRatelimitText(text, "ratelimit", kEverything));
  CheckResult(weir::ParseRulesText(text, "rules", kEverything));
  // Coordinations that need more than this process are for other tests.
  const weir::ParseResult local = weir::ParseRulesText(text, "rules");
  if (local.ok()) CheckDecision(local.rules);
  return 0;
}
