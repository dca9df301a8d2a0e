// The sockets of a node: for datagrams, and for streams on the same address.
#pragma once

#include <string>

#include "base/file_descriptor.h"
#include "cluster/net/socket_address.h"

namespace weir::cluster {

struct ClusterSockets {
  FileDescriptor datagrams, listener;
  SocketAddress address;

  // `text`: HOST:PORT, or :PORT for every address; port 0 is any that is free.
  static Result<ClusterSockets> Open(std::string_view text);
  // A connection that is on its way; none if there is no way.
  static FileDescriptor Connect(const SocketAddress& to);
};

}  // namespace weir::cluster
