// The bodies of the native API: JSON objects, read strictly. What is not asked for, said twice,
// of the wrong type, negative, fractional or too large is an error that names its field.
#pragma once

#include <optional>
#include <string_view>

#include "weir/decision.h"
#include "weir/error.h"

namespace weir::http {

// {namespace, resource, subject, cost = 1, min_cost = cost, settle = false}
// Strings are views that stay valid until the calling thread reads another body.
std::optional<Error> ReadRequest(std::string_view body, Request& request);

struct SettleRequest {
  Ticket ticket;
  uint64_t cost = 0;
};
// {ticket, cost}
std::optional<Error> ReadSettle(std::string_view body, SettleRequest& request);

}  // namespace weir::http
