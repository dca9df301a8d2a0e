#include "weir/error.h"

namespace weir {

std::string_view CodeName(Code code) {
  switch (code) {
    case Code::kOk: return "ok";
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
    case Code::kNotFound: return "not_found";
    case Code::kReadOnly: return "read_only";
    case Code::kConflict: return "conflict";
  }
  return "unknown";
}

std::string_view FieldOf(Code code) {
  switch (code) {
    case Code::kUnknownNamespace: return "namespace";
    case Code::kUnknownResource:
    case Code::kWrongKind: return "resource";
    default: return "";
  }
}

}  // namespace weir
