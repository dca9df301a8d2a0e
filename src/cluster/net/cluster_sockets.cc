#include "cluster/net/cluster_sockets.h"

#include <cerrno>
#include <cstring>

namespace weir::cluster {
namespace {

constexpr int kBufferBytes = 4 << 20, kBacklog = 128, kTries = 20;

FileDescriptor Bind(int type, const SocketAddress& address) {
  FileDescriptor fd(socket(address.family(), type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd) return fd;
  const int on = 1;
  if (type == SOCK_STREAM) setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(fd.get(), address.get(), address.length) != 0) fd.Close();
  return fd;
}

}  // namespace

Result<ClusterSockets> ClusterSockets::Open(std::string_view text) {
  const Result<HostPort> place = SplitHostPort(text);
  if (!place) return place.error();
  const std::vector<std::string> found =
      place->host.empty() ? std::vector{"0.0.0.0:" + place->port} : LookUp(*place, AF_UNSPEC);
  SocketAddress wanted;
  const bool known = !found.empty() && (SocketAddress::Parse(found.front(), AF_INET, wanted) ||
                                        SocketAddress::Parse(found.front(), AF_INET6, wanted));
  if (!known) {
    return Error{Code::kBadRequest, "\"" + std::string(text) + "\" names a host not found", ""};
  }
  // Both on one port: if any will do, one may be free for the one and not for the other.
  for (int i = 0; i < (place->port == "0" ? kTries : 1); ++i) {
    ClusterSockets sockets;
    sockets.datagrams = Bind(SOCK_DGRAM, wanted);
    if (!sockets.datagrams) continue;
    sockets.address = SocketAddress::OfSocket(sockets.datagrams.get());
    sockets.listener = Bind(SOCK_STREAM, sockets.address);
    if (!sockets.listener || listen(sockets.listener.get(), kBacklog) != 0) continue;
    setsockopt(sockets.datagrams.get(), SOL_SOCKET, SO_RCVBUF, &kBufferBytes, sizeof kBufferBytes);
    return sockets;
  }
  return Error{Code::kUnavailable,
               "cannot listen on " + std::string(text) + ": " + std::strerror(errno), ""};
}

FileDescriptor ClusterSockets::Connect(const SocketAddress& to) {
  FileDescriptor fd(socket(to.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (fd && connect(fd.get(), to.get(), to.length) != 0 && errno != EINPROGRESS) fd.Close();
  return fd;
}

}  // namespace weir::cluster
