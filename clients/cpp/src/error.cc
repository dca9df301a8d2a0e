#include "weir/client/error.h"

#include <utility>

namespace weir::client {

std::string_view CodeName(Code code) {
  switch (code) {
    case Code::kBadRequest: return "bad_request";
    case Code::kUnknownNamespace: return "unknown_namespace";
    case Code::kUnknownResource: return "unknown_resource";
    case Code::kWrongKind: return "wrong_kind";
    case Code::kNotHeld: return "not_held";
    case Code::kUnknownTransfer: return "unknown_transfer";
    case Code::kUnknownTicket: return "unknown_ticket";
    case Code::kUnauthenticated: return "unauthenticated";
    case Code::kForbidden: return "forbidden";
    case Code::kOverloaded: return "overloaded";
    case Code::kUnavailable: return "unavailable";
    case Code::kDeadlineExceeded: return "deadline_exceeded";
    case Code::kInternal: return "internal";
    case Code::kRefused: return "refused";
  }
  return "internal";
}

Error::Error(Code code, std::string message)
    : std::runtime_error(std::string(CodeName(code)) + ": " + message),
      code_(code),
      message_(std::move(message)) {}

HoldLost::HoldLost() : Error(Code::kNotHeld, "the connection that held it has ended") {}

Refused::Refused(std::string message) : Error(Code::kRefused, std::move(message)) {}

}  // namespace weir::client
