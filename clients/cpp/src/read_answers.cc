#include <algorithm>
#include <array>
#include <cstdint>

#include "clients/cpp/src/commands.h"

namespace weir::client {
namespace {

using Kind = Value::Kind;

uint64_t Number(const Value& map, std::string_view name, uint64_t otherwise = 0) {
  const Value* const field = map.Field(name);
  if (field == nullptr || field->kind != Kind::kInteger) return otherwise;
  return static_cast<uint64_t>(std::max<int64_t>(0, field->integer));
}

// Null stands for no limit.
uint64_t Limit(const Value& map, std::string_view name) { return Number(map, name, kUnlimited); }

bool Flag(const Value& map, std::string_view name) { return Number(map, name) != 0; }

std::string Text(const Value& map, std::string_view name) {
  const Value* const field = map.Field(name);
  return field != nullptr && field->kind == Kind::kText ? field->text : std::string();
}

// Negative stands for never.
std::optional<Duration> Time(const Value& map, std::string_view name) {
  constexpr int64_t kMost = INT64_MAX / 1'000'000;
  const Value* const field = map.Field(name);
  if (field == nullptr || field->kind != Kind::kInteger) return Duration::zero();
  if (field->integer < 0) return std::nullopt;
  return std::chrono::milliseconds(std::min(field->integer, kMost));
}

const std::vector<Value>& Items(const Value& map, std::string_view name) {
  static const std::vector<Value> none;
  const Value* const field = map.Field(name);
  return field != nullptr && field->kind == Kind::kList ? field->list : none;
}

LimitStatus ReadLimit(const Value& value) {
  return {Text(value, "name"),
          Limit(value, "limit"),
          Time(value, "per_ms").value_or(Duration::max()),
          Limit(value, "remaining"),
          Time(value, "reset_after_ms"),
          Flag(value, "shadow"),
          Flag(value, "would_refuse")};
}

TierStatus ReadTiers(const Value& value) {
  return {.tier = Number(value, "tier"),
          .tier_limit = Limit(value, "tier_limit"),
          .tier_hits = Number(value, "tier_hits"),
          .burst = Flag(value, "burst"),
          .hard_limit = Limit(value, "hard_limit"),
          .hard_limited = Flag(value, "hard_limited"),
          .hits_last_second = Number(value, "hits_last_second"),
          .global_limit = Limit(value, "global_limit"),
          .global_limited = Flag(value, "global_limited"),
          .global_hits_last_second = Number(value, "global_hits_last_second")};
}

Outcome ReadOutcome(const std::string& name) {
  for (const Outcome outcome :
       {Outcome::kGranted, Outcome::kQueueFull, Outcome::kTimeout, Outcome::kDone}) {
    if (name == OutcomeName(outcome)) return outcome;
  }
  return Outcome::kRefused;
}

}  // namespace

Decision ReadDecision(const Value& value) {
  Decision decision;
  decision.allowed = Flag(value, "allowed");
  decision.granted = Number(value, "granted");
  decision.remaining = Limit(value, "remaining");
  decision.retry_after = Time(value, "retry_after_ms");
  decision.reset_after = Time(value, "reset_after_ms");
  decision.limit = Text(value, "limit");
  decision.ticket = Text(value, "ticket");
  for (const Value& limit : Items(value, "limits")) decision.limits.push_back(ReadLimit(limit));
  if (value.Field("tier") != nullptr) decision.tiers = ReadTiers(value);
  return decision;
}

Settled ReadSettled(const Value& value) {
  return {Number(value, "charged"), Limit(value, "remaining")};
}

Reservation ReadReservation(const Value& value) {
  Reservation reservation{.allowed = Flag(value, "allowed"),
                          .outcome = ReadOutcome(Text(value, "outcome")),
                          .granted = Number(value, "granted"),
                          .hold = Text(value, "hold"),
                          .held = Number(value, "held"),
                          .per_subject = Limit(value, "per_subject"),
                          .held_total = Number(value, "held_total"),
                          .total = Limit(value, "total")};
  for (const Value& group : Items(value, "groups")) {
    reservation.groups.push_back(
        {Text(group, "name"), Limit(group, "limit"), Number(group, "held")});
  }
  return reservation;
}

Seized ReadSeized(const Value& value) {
  Seized seized{
      {Text(value, "namespace"), Text(value, "resource"), Text(value, "subject")},
      {.allowed = true, .outcome = Outcome::kGranted, .granted = Number(value, "copies")}};
  seized.reservation.hold = Text(value, "hold");
  for (const Value& group : Items(value, "groups")) {
    seized.reservation.groups.push_back({.name = group.text, .limit = kUnlimited});
  }
  return seized;
}

std::string ReadTransfer(const Value& value) { return Text(value, "transfer"); }

Complaint ReadComplaint(const std::string& text) {
  struct Row {
    std::string_view word;
    Code code;
    bool of_client;
  };
  static constexpr std::array<Row, 13> kRows = {{
      {"BAD_REQUEST", Code::kBadRequest, true},
      {"UNKNOWN_NAMESPACE", Code::kUnknownNamespace, true},
      {"UNKNOWN_RESOURCE", Code::kUnknownResource, true},
      {"WRONG_KIND", Code::kWrongKind, true},
      {"NOT_HELD", Code::kNotHeld, true},
      {"UNKNOWN_TRANSFER", Code::kUnknownTransfer, true},
      {"UNKNOWN_TICKET", Code::kUnknownTicket, true},
      {"UNAUTHENTICATED", Code::kUnauthenticated, true},
      {"NOAUTH", Code::kUnauthenticated, true},
      {"WRONGPASS", Code::kUnauthenticated, true},
      {"NOPERM", Code::kForbidden, true},
      {"OVERLOADED", Code::kOverloaded, false},
      {"UNAVAILABLE", Code::kUnavailable, false},
  }};
  const size_t space = std::min(text.find(' '), text.size());
  const std::string_view word = std::string_view(text).substr(0, space);
  for (const Row& row : kRows) {
    if (row.word != word) continue;
    return {row.code, text.substr(std::min(space + 1, text.size())), row.of_client, true};
  }
  return {Code::kInternal, text};
}

}  // namespace weir::client
