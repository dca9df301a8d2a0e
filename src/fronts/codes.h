// An error code in the words of each wire: the one table for all fronts.
#pragma once

#include <string_view>

#include "weir/error.h"

namespace weir {

struct CodeOnTheWire {
  int http;               // status of the answer
  int grpc;               // google.rpc.Code
  std::string_view resp;  // what follows the "-"
};

constexpr CodeOnTheWire OnTheWire(Code code) {
  switch (code) {
    case Code::kOk: return {200, 0, "OK"};
    case Code::kBadRequest: return {400, 3, "BAD_REQUEST"};
    case Code::kUnknownNamespace: return {404, 5, "UNKNOWN_NAMESPACE"};
    case Code::kUnknownResource: return {404, 5, "UNKNOWN_RESOURCE"};
    case Code::kWrongKind: return {409, 9, "WRONG_KIND"};
    case Code::kNotHeld: return {404, 5, "NOT_HELD"};
    case Code::kUnknownTransfer: return {404, 5, "UNKNOWN_TRANSFER"};
    case Code::kUnknownTicket: return {404, 5, "UNKNOWN_TICKET"};
    case Code::kUnauthenticated: return {401, 16, "UNAUTHENTICATED"};
    case Code::kForbidden: return {403, 7, "NOPERM"};  // as Redis has it
    case Code::kOverloaded: return {503, 8, "OVERLOADED"};
    case Code::kUnavailable: return {503, 14, "UNAVAILABLE"};
    case Code::kNotFound: return {404, 5, "NOT_FOUND"};
    case Code::kReadOnly: return {409, 9, "READ_ONLY"};
    case Code::kConflict: return {412, 10, "CONFLICT"};
  }
  return {500, 13, "ERR"};
}

constexpr int HttpStatus(Code code) { return OnTheWire(code).http; }
constexpr int GrpcCodeOf(Code code) { return OnTheWire(code).grpc; }
constexpr std::string_view RespCode(Code code) { return OnTheWire(code).resp; }

}  // namespace weir
