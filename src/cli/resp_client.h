// A connection to a server's Redis front that waits: one command, one answer.
#pragma once

#include <string>
#include <vector>

#include "net/client_stream.h"
#include "weir/error.h"

namespace weir {

// An answer of the Redis protocol (RESP2). A map is an array of names and values.
struct RespValue {
  enum class Kind { kNothing, kText, kNumber, kArray, kError };
  Kind kind = Kind::kNothing;
  std::string text;
  int64_t number = 0;
  std::vector<RespValue> items;

  // The value behind a name in an array of names and values; null if there is none.
  const RespValue* Find(std::string_view name) const;
  int64_t NumberOr(std::string_view name, int64_t otherwise) const;
  std::string TextOr(std::string_view name, std::string_view otherwise) const;
};

class RespClient {
 public:
  RespClient(ServerUrl url, ClientTls tls) : stream_(std::move(url), std::move(tls)) {}

  Result<bool> Connect(Duration deadline);
  // kUnavailable if no answer comes in time; an answer that is an error is kBadRequest.
  Result<RespValue> Call(const std::vector<std::string>& words, Duration deadline);
  ClientStream& stream() { return stream_; }

 private:
  bool ReadValue(ClientStream::Time until, int depth, RespValue& value);
  bool ReadLine(ClientStream::Time until, std::string& line);
  bool ReadBytes(ClientStream::Time until, size_t count, std::string& bytes);
  bool More(ClientStream::Time until);
  bool Fail(std::string trouble);

  ClientStream stream_;
  std::string in_;
  std::string trouble_;
};

}  // namespace weir
