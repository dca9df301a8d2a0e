// The bounds of a gRPC connection.
#pragma once

#include <cstddef>
#include <cstdint>

#include "fronts/access.h"
#include "fronts/protocol.h"

namespace weir {

struct GrpcOptions {
  uint32_t max_streams = 256;                  // open at a time
  uint32_t max_streams_at_first = 100;         // until a call was answered
  size_t max_header_bytes = size_t{16} << 10;  // of one call, as HTTP/2 counts them
  size_t max_message_bytes = kMostUnread - (size_t{16} << 10) - 5;
  // For a unary call or a message of another to come, and for an answer to be read.
  Duration call_deadline = std::chrono::seconds(30);
  // What a connection may hold: headers, messages not yet whole, answers not yet sent, and what
  // libnghttp2 needs for them. At first, beside what an empty session takes, kMostOfAStranger.
  size_t max_connection_bytes = size_t{4} << 20;
  // Who may call what: "authorization: Bearer TOKEN". Null: everybody may call everything.
  const AccessPolicy* policy = nullptr;
};

}  // namespace weir
