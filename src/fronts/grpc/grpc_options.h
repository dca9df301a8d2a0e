// The bounds of a gRPC connection.
#pragma once

#include <cstddef>
#include <cstdint>

#include "fronts/protocol.h"

namespace weir {

struct GrpcOptions {
  uint32_t max_streams = 256;                  // open at a time
  size_t max_header_bytes = size_t{16} << 10;  // of one call, as HTTP/2 counts them
  size_t max_message_bytes = kMostUnread - (size_t{16} << 10) - 5;
  // For a unary call to come, and for an answer to be read.
  Duration call_deadline = std::chrono::seconds(30);
  // What all calls of a connection may hold of messages not yet whole, and of answers not yet sent.
  size_t max_connection_bytes = size_t{4} << 20;
};

}  // namespace weir
