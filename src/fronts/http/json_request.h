// The bodies of the native API: JSON objects, read strictly. What is not asked for, said twice,
// of the wrong type, negative, fractional or too large is an error that names its field.
#pragma once

#include <optional>
#include <string_view>

#include "weir/decision.h"
#include "weir/error.h"
#include "weir/hold.h"

namespace weir::http {

// {namespace, resource, subject, cost = 1, min_cost = cost, settle = false}
// Strings are views that stay valid until the calling thread reads another body.
std::optional<Error> ReadRequest(std::string_view body, Request& request);

// {ticket, cost}
std::optional<Error> ReadSettle(std::string_view body, SettleRequest& request);

// {session, namespace, resource, subject, copies = 1, min_copies = copies, wait_ms = 0, max_queue,
// share = false}; strings are views, as above.
std::optional<Error> ReadReserve(std::string_view body, SessionId& session,
                                 ReserveRequest& request);

struct HoldRequest {
  SessionId session;
  Ticket hold;          // to be released or transferred,
  Ticket transfer;      // or to be seized
  uint64_t copies = 0;  // all
  Duration ttl{};       // of a transfer
};
// {session, hold, copies = all}
std::optional<Error> ReadRelease(std::string_view body, HoldRequest& request);
// {session, hold, copies = all, ttl_ms}
std::optional<Error> ReadTransfer(std::string_view body, HoldRequest& request);
// {session, transfer}
std::optional<Error> ReadSeize(std::string_view body, HoldRequest& request);

inline constexpr Duration kUsualSession = std::chrono::seconds(15);
inline constexpr Duration kShortestSession = std::chrono::seconds(1);
inline constexpr Duration kLongestSession = std::chrono::hours(1);
// {ttl_ms = 15000}, or nothing at all
std::optional<Error> ReadSession(std::string_view body, Duration& ttl);

}  // namespace weir::http
