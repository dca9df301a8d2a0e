// What goes wrong. A refusal does not: it is an answer, unless ThrowIfRefused() is called.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace weir::client {

enum class Code {
  // About the question itself: every server would say the same.
  kBadRequest,
  kUnknownNamespace,
  kUnknownResource,
  kWrongKind,  // a rate-limited resource was reserved, or a copy-limited one requested
  kNotHeld,
  kUnknownTransfer,
  kUnknownTicket,
  kUnauthenticated,
  kForbidden,  // the token is for other namespaces
  // About the servers.
  kOverloaded,
  kUnavailable,
  kDeadlineExceeded,
  kInternal,  // an answer that nobody understands
  // Of ThrowIfRefused().
  kRefused,
};

std::string_view CodeName(Code code);  // "bad_request", "unknown_resource", …

class Error : public std::runtime_error {
 public:
  Error(Code code, std::string message);
  Code code() const { return code_; }
  const std::string& message() const { return message_; }  // what() without the code

 private:
  Code code_;
  std::string message_;
};

// No server could be reached or answer, and the client does not fail open.
class Unavailable : public Error {
 public:
  using Error::Error;
};

// The connection that held the copies has ended, and the server has taken them back.
class HoldLost : public Error {
 public:
  HoldLost();
};

class Refused : public Error {
 public:
  explicit Refused(std::string message);
};

}  // namespace weir::client
