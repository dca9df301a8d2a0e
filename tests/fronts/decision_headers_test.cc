// What the headers promise, whatever the limits and whatever came before.
#include "fronts/http/decision_headers.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "tests/limiter/testing.h"

namespace weir::decision_headers_test {
namespace {

using rc::gen::element;
using rc::gen::inRange;
using weir::testing::kStart;

// The number behind `key`; nothing if it is not there.
std::optional<uint64_t> NumberBehind(const std::string& headers, const std::string& key) {
  const size_t at = headers.find(key);
  if (at == std::string::npos) return std::nullopt;
  return std::stoull(headers.substr(at + key.size()));
}

std::string AnyLimit(int number) {
  const int limit = *inRange(0, 20);
  const std::string per = *element<std::string>("700ms", "1s", "90s", "1h");
  std::string text =
      "{name: l" + std::to_string(number) + ", limit: " + std::to_string(limit) + ", per: " + per;
  const std::string algorithm =
      *element<std::string>("token_bucket", "fixed_window", "sliding_log", "sliding_window");
  text += ", algorithm: " + algorithm;
  if (algorithm == "token_bucket" && limit > 0) {
    text += ", burst: " + std::to_string(*inRange(1, 60));
  }
  if (*inRange(0, 5) == 0) text += ", shadow: true";
  return text + "}";
}

std::string AnyRules() {
  std::string limits;
  for (int i = *inRange(1, 4); i > 0; --i) limits += (limits.empty() ? "" : ", ") + AnyLimit(i);
  return "namespaces: {n: {resources: {r: {limits: [" + limits + "]}}}}\n";
}

uint64_t SecondsUp(Duration time) {
  return static_cast<uint64_t>((time.count() + 999'999'999) / 1'000'000'000);
}

void ExpectTrueHeaders(const Decision& decision, const std::string& headers) {
  const auto limit = NumberBehind(headers, "X-RateLimit-Limit: ");
  if (!limit) return;
  const auto remaining = NumberBehind(headers, "X-RateLimit-Remaining: ");
  const auto t = NumberBehind(headers, ";t=");
  const auto reset = NumberBehind(headers, "X-RateLimit-Reset: ");
  const auto retry = NumberBehind(headers, "Retry-After: ");
  RC_ASSERT(remaining == NumberBehind(headers, ";r="));
  RC_ASSERT(*limit >= *remaining);
  RC_ASSERT(t == reset);
  if (decision.allowed) {
    RC_ASSERT(!retry);
    RC_ASSERT(t == SecondsUp(decision.reset_after));
  } else if (decision.retry_after == kNever) {
    RC_ASSERT(!retry);
  } else {
    RC_ASSERT(retry == SecondsUp(decision.retry_after));
    RC_ASSERT(t.has_value() && *t <= *retry);
    RC_ASSERT(*t == std::min(SecondsUp(decision.reset_after), *retry));
  }
}

TEST(DecisionHeaders, AreTrueWhateverTheLimits) {
  EXPECT_TRUE(rc::check([] {
    const auto limiter = weir::testing::Open(AnyRules());
    Instant now = kStart;
    for (int i = 0; i < 30; ++i) {
      now += std::chrono::milliseconds(*element(0, 1, 300, 1000, 40'000));
      const Request request{"n", "r", "ann", static_cast<uint64_t>(*inRange(1, 25))};
      const Decision decision = limiter->Decide(request, now);
      std::string headers;
      http::AppendDecisionHeaders(headers, decision, !decision.allowed);
      ExpectTrueHeaders(decision, headers);
    }
  }));
}

TEST(DecisionHeaders, TellTheBurstAndTheWaitOfARefusal) {
  const auto limiter = weir::testing::Open(
      "namespaces: {n: {resources: {r: {limits: [{name: l, limit: 5, per: 1m, burst: 20}]}}}}\n");
  std::string headers;
  http::AppendDecisionHeaders(headers, limiter->Decide({"n", "r", "ann"}, kStart), false);
  EXPECT_EQ(headers,
            "RateLimit-Policy: \"l\";q=5;w=60\r\nRateLimit: \"l\";r=19;t=12\r\n"
            "X-RateLimit-Limit: 20\r\nX-RateLimit-Remaining: 19\r\nX-RateLimit-Reset: 12\r\n");
  limiter->Decide({"n", "r", "ann", 19}, kStart);
  const Decision refused = limiter->Decide({"n", "r", "ann"}, kStart);
  EXPECT_EQ(refused.reset_after, std::chrono::seconds(240));  // in the body, until it is full
  headers.clear();
  http::AppendDecisionHeaders(headers, refused, true);
  EXPECT_EQ(headers,
            "RateLimit-Policy: \"l\";q=5;w=60\r\nRateLimit: \"l\";r=0;t=12\r\n"
            "X-RateLimit-Limit: 20\r\nX-RateLimit-Remaining: 0\r\nX-RateLimit-Reset: 12\r\n"
            "Retry-After: 12\r\n");
}

}  // namespace
}  // namespace weir::decision_headers_test
