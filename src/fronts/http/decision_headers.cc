#include "fronts/http/decision_headers.h"

#include <algorithm>

#include "fronts/numbers.h"

namespace weir::http {
namespace {

constexpr uint64_t kMostInteger = 999'999'999'999'999;  // of a structured field (RFC 9651)

// A string of a structured field: visible ASCII, with quotes and backslashes escaped.
void AppendFieldString(std::string& out, std::string_view text) {
  out.push_back('"');
  for (const char c : text) {
    if (c == '"' || c == '\\') out.push_back('\\');
    out.push_back(c >= ' ' && c <= '~' ? c : '?');
  }
  out.push_back('"');
}

void AppendInteger(std::string& out, std::string_view key, uint64_t value) {
  out.append(key);
  AppendNumber(out, std::min(value, kMostInteger));
}

// Nothing where the time never comes.
void AppendSeconds(std::string& out, std::string_view key, Duration time) {
  if (time != kNever) AppendInteger(out, key, static_cast<uint64_t>(WholeSeconds(time)));
}

bool Limits(const LimitStatus& limit) { return !limit.shadow && limit.limit != UINT64_MAX; }

const LimitStatus* Deciding(const Decision& decision) {
  for (const LimitStatus& limit : decision.limits()) {
    if (Limits(limit) && limit.name == decision.limit && limit.remaining == decision.remaining) {
      return &limit;
    }
  }
  return nullptr;
}

void AppendPolicy(std::string& out, const LimitStatus& limit) {
  AppendFieldString(out, limit.name);
  AppendInteger(out, ";q=", limit.limit);
  if (limit.per != Duration::zero()) AppendSeconds(out, ";w=", limit.per);
}

}  // namespace

void AppendDecisionHeaders(std::string& out, const Decision& decision, bool refusal) {
  if (const LimitStatus* const deciding = Deciding(decision)) {
    out.append("RateLimit-Policy: ");
    AppendPolicy(out, *deciding);
    for (const LimitStatus& limit : decision.limits()) {
      if (&limit == deciding || !Limits(limit)) continue;
      out.push_back(',');
      AppendPolicy(out, limit);
    }
    out.append("\r\nRateLimit: ");
    AppendFieldString(out, deciding->name);
    AppendInteger(out, ";r=", deciding->remaining);
    const Duration reset = decision.allowed ? deciding->reset_after
                                            : std::min(deciding->reset_after, decision.retry_after);
    AppendSeconds(out, ";t=", reset);
    AppendInteger(out, "\r\nX-RateLimit-Limit: ", deciding->capacity);
    AppendInteger(out, "\r\nX-RateLimit-Remaining: ", deciding->remaining);
    AppendSeconds(out, "\r\nX-RateLimit-Reset: ", reset);
    out.append("\r\n");
  }
  if (decision.degraded) out.append("Weir-Degraded: true\r\n");
  if (refusal && decision.retry_after != kNever) {
    AppendSeconds(out, "Retry-After: ", decision.retry_after);
    out.append("\r\n");
  }
}

}  // namespace weir::http
