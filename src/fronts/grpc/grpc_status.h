// How a call ended, in gRPC's words.
#pragma once

#include <string>
#include <string_view>

#include "weir/error.h"

namespace weir {

enum class GrpcCode {
  kOk = 0,
  kCancelled = 1,
  kUnknown = 2,
  kInvalidArgument = 3,
  kDeadlineExceeded = 4,
  kNotFound = 5,
  kAlreadyExists = 6,
  kPermissionDenied = 7,
  kResourceExhausted = 8,
  kFailedPrecondition = 9,
  kAborted = 10,
  kOutOfRange = 11,
  kUnimplemented = 12,
  kInternal = 13,
  kUnavailable = 14,
  kDataLoss = 15,
  kUnauthenticated = 16,
};

struct GrpcStatus {
  GrpcCode code = GrpcCode::kOk;
  std::string message = {};
  bool ok() const { return code == GrpcCode::kOk; }
};

GrpcCode ToGrpcCode(Code code);
// "code: message", so that the caller can tell an unknown namespace from an unknown resource.
GrpcStatus ToGrpcStatus(Code code, std::string_view message);
inline GrpcStatus ToGrpcStatus(const Error& error) {
  return ToGrpcStatus(error.code, error.message);
}

// The value of grpc-status.
std::string_view GrpcCodeText(GrpcCode code);
// The value of grpc-message: what is not printable ASCII, and %, as %XX.
std::string PercentEncoded(std::string_view text);

}  // namespace weir
