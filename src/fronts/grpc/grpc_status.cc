#include "fronts/grpc/grpc_status.h"

#include <array>

namespace weir {

GrpcCode ToGrpcCode(Code code) {
  switch (code) {
    case Code::kOk: return GrpcCode::kOk;
    case Code::kBadRequest: return GrpcCode::kInvalidArgument;
    case Code::kUnknownNamespace:
    case Code::kUnknownResource:
    case Code::kNotFound:
    case Code::kNotHeld:
    case Code::kUnknownTransfer:
    case Code::kUnknownTicket: return GrpcCode::kNotFound;
    case Code::kReadOnly:
    case Code::kWrongKind: return GrpcCode::kFailedPrecondition;
    case Code::kConflict: return GrpcCode::kAborted;
    case Code::kUnauthenticated: return GrpcCode::kUnauthenticated;
    case Code::kForbidden: return GrpcCode::kPermissionDenied;
    case Code::kOverloaded: return GrpcCode::kResourceExhausted;
    case Code::kUnavailable: return GrpcCode::kUnavailable;
  }
  return GrpcCode::kInternal;
}

GrpcStatus ToGrpcStatus(Code code, std::string_view message) {
  GrpcStatus status{ToGrpcCode(code)};
  if (status.ok()) return status;
  status.message = CodeName(code);
  if (!message.empty()) status.message.append(": ").append(message);
  return status;
}

std::string_view GrpcCodeText(GrpcCode code) {
  static constexpr std::array<std::string_view, 17> kTexts = {
      "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15", "16"};
  return kTexts[static_cast<size_t>(code)];
}

std::string PercentEncoded(std::string_view text) {
  static constexpr char kDigits[] = "0123456789ABCDEF";
  std::string encoded;
  encoded.reserve(text.size());
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte <= 0x7e && byte != '%') {
      encoded += c;
    } else {
      encoded += '%';
      encoded += kDigits[byte >> 4];
      encoded += kDigits[byte & 15];
    }
  }
  return encoded;
}

}  // namespace weir
