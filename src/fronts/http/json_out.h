// JSON, appended to a string by hand: the answers of the native API.
#pragma once

#include <string>
#include <string_view>

#include "weir/decision.h"
#include "weir/error.h"
#include "weir/hold.h"

namespace weir::http {

inline constexpr std::string_view kJson = "application/json";
inline constexpr std::string_view kProblemJson = "application/problem+json";

// With its quotes. `text` is UTF-8.
void AppendJsonString(std::string& out, std::string_view text);

// {"error":{"code":…,"message":…,"field":…}}; an empty field is null.
void AppendError(std::string& out, std::string_view code, std::string_view message,
                 std::string_view field);
void AppendError(std::string& out, const Error& error);

// {"allowed":…,…}
void AppendDecision(std::string& out, const Decision& decision);
// The same fields in a problem of the type "quota-exceeded", with the names of all limits that
// refused (draft-ietf-httpapi-ratelimit-headers).
void AppendQuotaExceeded(std::string& out, const Decision& decision);
void AppendSettled(std::string& out, const Settled& settled);

void AppendReservation(std::string& out, const Reservation& reservation);
// The same fields in a problem, with the names of the limits that had no room for `least` copies.
void AppendReservationRefused(std::string& out, const Reservation& reservation, uint64_t least);
void AppendSeized(std::string& out, const Seized& seized);

}  // namespace weir::http
