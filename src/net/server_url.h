// Where a server is: HOST:PORT, or with the word for how to talk to it.
//
//   http://HOST[:PORT]   https://HOST[:PORT]      the HTTP front, without and with TLS
//   redis://HOST[:PORT]  rediss://HOST[:PORT]     the Redis front
#pragma once

#include <string>
#include <string_view>

#include "weir/error.h"

namespace weir {

enum class UrlKind { kHttp, kRedis };

struct ServerUrl {
  bool tls = false;
  std::string host;  // without brackets; empty: this machine
  std::string port;
  std::string authority;  // HOST:PORT as it was written, for people and for the Host header

  // Not looked up: the host may be away. HOST:PORT alone is without TLS unless `tls`.
  static Result<ServerUrl> Parse(std::string_view text, UrlKind kind, bool tls = false);
};

}  // namespace weir
