#include "bench/load_socket.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <stdexcept>

namespace weir::bench {

LoadSocket::LoadSocket(int port) : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    close(fd_);
    throw std::runtime_error("cannot connect to port " + std::to_string(port));
  }
  const int on = 1;
  setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

LoadSocket::~LoadSocket() {
  if (fd_ >= 0) close(fd_);
}

void LoadSocket::Send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n <= 0) throw std::runtime_error("the server closed a connection");
    bytes.remove_prefix(static_cast<size_t>(n));
  }
}

void LoadSocket::Receive(std::string& in) { Receive(in, 0); }
bool LoadSocket::TryReceive(std::string& in) { return Receive(in, MSG_DONTWAIT); }

bool LoadSocket::Receive(std::string& in, int flags) {
  std::array<char, 65536> buffer;
  const ssize_t n = recv(fd_, buffer.data(), buffer.size(), flags);
  if (n < 0 && errno == EAGAIN) return false;
  if (n <= 0) throw std::runtime_error("the server closed a connection");
  in.append(buffer.data(), static_cast<size_t>(n));
  return true;
}

void LoadSocket::TrySend(std::string& out) {
  if (out.empty()) return;
  const ssize_t n = send(fd_, out.data(), out.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (n > 0) out.erase(0, static_cast<size_t>(n));
}

}  // namespace weir::bench
