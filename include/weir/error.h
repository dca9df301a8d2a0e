// What can go wrong with a request, in the words that every front uses.
//
// A refusal is not an error: it is a Decision with allowed = false.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace weir {

enum class Code {
  kOk,
  kBadRequest,
  kUnknownNamespace,
  kUnknownResource,
  kWrongKind,  // a rate-limited resource was reserved, or a copy-limited one requested
  kNotHeld,
  kUnknownTransfer,
  kUnknownTicket,
  kUnauthenticated,
  kForbidden,  // who asks is known, and may not do this, or not here
  kOverloaded,
  kUnavailable,
  kNotFound,  // of the configuration: there is nothing at this path
  kReadOnly,  // the rules come from files
  kConflict,  // what was to be changed is not what it was
};

// "bad_request", "unknown_resource", …; "ok" for kOk.
std::string_view CodeName(Code code);
// The field of a request that such an error is about ("namespace", "resource"); empty where the code alone does
// not tell.
std::string_view FieldOf(Code code);

struct Error {
  Code code = Code::kBadRequest;
  std::string message;
  std::string field = {};  // the field of the request that is at fault, where there is one
};

// A value or the error that stood in its way.
template <typename T>
class Result {
 public:
  Result(T value) : value_(std::move(value)) {}      // NOLINT: converts like a return value
  Result(Error error) : value_(std::move(error)) {}  // NOLINT
  bool ok() const { return value_.index() == 0; }
  explicit operator bool() const { return ok(); }
  const T& operator*() const { return std::get<0>(value_); }
  T& operator*() { return std::get<0>(value_); }
  const T* operator->() const { return &std::get<0>(value_); }
  T* operator->() { return &std::get<0>(value_); }
  const Error& error() const { return std::get<1>(value_); }

 private:
  std::variant<T, Error> value_;
};

}  // namespace weir
