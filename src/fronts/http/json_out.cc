#include "fronts/http/json_out.h"

#include "fronts/numbers.h"

namespace weir::http {
namespace {

constexpr char kHex[] = "0123456789abcdef";

void AppendEscaped(std::string& out, char c) {
  switch (c) {
    case '"': out.append("\\\""); return;
    case '\\': out.append("\\\\"); return;
    case '\n': out.append("\\n"); return;
    case '\r': out.append("\\r"); return;
    case '\t': out.append("\\t"); return;
    default: break;
  }
  const auto byte = static_cast<unsigned char>(c);
  if (byte >= 0x20) return out.push_back(c);
  out.append("\\u00");
  out.push_back(kHex[byte >> 4]);
  out.push_back(kHex[byte & 15]);
}

// `key` is written with its comma, quotes and colon.
void Number(std::string& out, std::string_view key, uint64_t value) {
  out.append(key);
  AppendNumber(out, value);
}
void NumberOrNull(std::string& out, std::string_view key, uint64_t value) {
  if (value != UINT64_MAX) return Number(out, key, value);
  out.append(key).append("null");
}
void Millis(std::string& out, std::string_view key, Duration time) {
  out.append(key);
  AppendNumber(out, WholeMillis(time));
}
void Bool(std::string& out, std::string_view key, bool value) {
  out.append(key).append(value ? "true" : "false");
}

void AppendLimit(std::string& out, const LimitStatus& limit) {
  out.append("{\"name\":");
  AppendJsonString(out, limit.name);
  NumberOrNull(out, ",\"limit\":", limit.limit);
  Millis(out, ",\"per_ms\":", limit.per);
  NumberOrNull(out, ",\"remaining\":", limit.remaining);
  Millis(out, ",\"reset_after_ms\":", limit.reset_after);
  if (limit.shadow) {
    out.append(",\"shadow\":true");
    Bool(out, ",\"would_refuse\":", limit.refused);
  }
  out.push_back('}');
}

void AppendTiers(std::string& out, const TierStatus& tiers) {
  Number(out, ",\"tier\":", tiers.tier);
  NumberOrNull(out, ",\"tier_limit\":", tiers.tier_limit);
  Number(out, ",\"tier_hits\":", tiers.tier_hits);
  Bool(out, ",\"burst\":", tiers.burst);
  NumberOrNull(out, ",\"hard_limit\":", tiers.hard_limit.value_or(UINT64_MAX));
  Bool(out, ",\"hard_limited\":", tiers.hard_limited);
  Number(out, ",\"hits_last_second\":", tiers.hits_last_second);
  NumberOrNull(out, ",\"global_limit\":", tiers.global_limit.value_or(UINT64_MAX));
  Bool(out, ",\"global_limited\":", tiers.global_limited);
  Number(out, ",\"global_hits_last_second\":", tiers.global_hits_last_second);
}

// From "allowed" to the last field, without braces.
void AppendFields(std::string& out, const Decision& decision) {
  Bool(out, "\"allowed\":", decision.allowed);
  Number(out, ",\"granted\":", decision.granted);
  NumberOrNull(out, ",\"remaining\":", decision.remaining);
  Millis(out, ",\"retry_after_ms\":", decision.retry_after);
  Millis(out, ",\"reset_after_ms\":", decision.reset_after);
  out.append(",\"limit\":");
  if (decision.limit.empty()) {
    out.append("null");
  } else {
    AppendJsonString(out, decision.limit);
  }
  if (decision.ticket) {
    out.append(",\"ticket\":\"").append(decision.ticket.ToString()).push_back('"');
  }
  out.append(",\"limits\":[");
  bool first = true;
  for (const LimitStatus& limit : decision.limits()) {
    if (!first) out.push_back(',');
    first = false;
    AppendLimit(out, limit);
  }
  out.push_back(']');
  if (decision.tiers) AppendTiers(out, *decision.tiers);
  if (decision.degraded) out.append(",\"degraded\":true");
}

constexpr std::string_view kProblem =
    "{\"type\":\"https://iana.org/assignments/http-problem-types#quota-exceeded\","
    "\"title\":\"Request cannot be satisfied as assigned quota has been exceeded\","
    "\"status\":429,\"violated-policies\":[";

// Strings with commas between them.
class StringList {
 public:
  explicit StringList(std::string& out) : out_(out) {}
  void Add(std::string_view text) {
    if (!first_) out_.push_back(',');
    first_ = false;
    AppendJsonString(out_, text);
  }

 private:
  std::string& out_;
  bool first_ = true;
};

// From "allowed" to the last field, without braces.
void AppendFields(std::string& out, const Reservation& reservation) {
  Bool(out, "\"allowed\":", reservation.allowed);
  out.append(",\"outcome\":\"").append(OutcomeName(reservation.outcome)).push_back('"');
  Number(out, ",\"granted\":", reservation.granted);
  out.append(",\"hold\":");
  if (reservation.hold) {
    AppendJsonString(out, reservation.hold.ToString());
  } else {
    out.append("null");
  }
  Number(out, ",\"held\":", reservation.held);
  NumberOrNull(out, ",\"per_subject\":", reservation.per_subject);
  Number(out, ",\"held_total\":", reservation.held_total);
  NumberOrNull(out, ",\"total\":", reservation.total);
  out.append(",\"groups\":[");
  bool first = true;
  for (const GroupStatus& group : reservation.groups) {
    out.append(first ? "{\"name\":" : ",{\"name\":");
    first = false;
    AppendJsonString(out, group.name);
    NumberOrNull(out, ",\"limit\":", group.limit);
    Number(out, ",\"held\":", group.held);
    out.push_back('}');
  }
  out.push_back(']');
}

}  // namespace

void AppendJsonString(std::string& out, std::string_view text) {
  out.push_back('"');
  for (const char c : text) AppendEscaped(out, c);
  out.push_back('"');
}

void AppendError(std::string& out, std::string_view code, std::string_view message,
                 std::string_view field) {
  out.append("{\"error\":{\"code\":");
  AppendJsonString(out, code);
  out.append(",\"message\":");
  AppendJsonString(out, message);
  out.append(",\"field\":");
  if (field.empty()) {
    out.append("null");
  } else {
    AppendJsonString(out, field);
  }
  out.append("}}");
}

void AppendError(std::string& out, const Error& error) {
  AppendError(out, CodeName(error.code), error.message, error.field);
}

void AppendDecision(std::string& out, const Decision& decision) {
  out.push_back('{');
  AppendFields(out, decision);
  out.push_back('}');
}

void AppendQuotaExceeded(std::string& out, const Decision& decision) {
  out.append(kProblem);
  StringList names(out);
  for (const LimitStatus& limit : decision.limits()) {
    if (limit.refused && !limit.shadow) names.Add(limit.name);
  }
  out.append("],");
  AppendFields(out, decision);
  out.push_back('}');
}

void AppendSettled(std::string& out, const Settled& settled) {
  out.push_back('{');
  Number(out, "\"charged\":", settled.charged);
  NumberOrNull(out, ",\"remaining\":", settled.remaining);
  out.push_back('}');
}

void AppendReservation(std::string& out, const Reservation& reservation) {
  out.push_back('{');
  AppendFields(out, reservation);
  out.push_back('}');
}

void AppendReservationRefused(std::string& out, const Reservation& reservation, uint64_t least) {
  const auto full = [&](uint64_t limit, uint64_t held) {
    return limit != UINT64_MAX && (held >= limit || limit - held < least);
  };
  // One whose patience has ended is told nothing of the pools.
  const bool told = reservation.outcome != Outcome::kTimeout;
  out.append(kProblem);
  StringList names(out);
  if (told && full(reservation.per_subject, reservation.held)) names.Add("per_subject");
  if (told && full(reservation.total, reservation.held_total)) names.Add("total");
  for (const GroupStatus& group : reservation.groups) {
    if (full(group.limit, group.held)) names.Add("group:" + group.name);
  }
  out.append("],");
  AppendFields(out, reservation);
  out.push_back('}');
}

void AppendSeized(std::string& out, const Seized& seized) {
  out.append("{\"hold\":\"").append(seized.hold.ToString()).append("\",\"namespace\":");
  AppendJsonString(out, seized.namespace_name);
  out.append(",\"resource\":");
  AppendJsonString(out, seized.resource);
  out.append(",\"subject\":");
  AppendJsonString(out, seized.subject);
  Number(out, ",\"copies\":", seized.copies);
  out.append(",\"groups\":[");
  StringList groups(out);
  for (const std::string& group : seized.groups) groups.Add(group);
  out.append("]}");
}

}  // namespace weir::http
