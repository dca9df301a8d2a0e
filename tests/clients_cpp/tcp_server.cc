#include "tests/clients_cpp/tcp_server.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

namespace weir::client {

std::string Peer::Read() const {
  std::array<char, 4096> buffer;
  const ssize_t n = recv(descriptor_, buffer.data(), buffer.size(), 0);
  return n <= 0 ? "" : std::string(buffer.data(), static_cast<size_t>(n));
}

bool Peer::Send(const std::string& bytes) const {
  return send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
         static_cast<ssize_t>(bytes.size());
}

void Peer::HangUp() const { shutdown(descriptor_, SHUT_RDWR); }

TcpServer::TcpServer(std::function<void(const Peer&)> serve)
    : serve_(std::move(serve)), listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const any = reinterpret_cast<sockaddr*>(&where);
  socklen_t length = sizeof where;
  bind(listener_, any, length);
  listen(listener_, 16);
  getsockname(listener_, any, &length);
  address_ = "127.0.0.1:" + std::to_string(ntohs(where.sin_port));
  acceptor_ = std::thread([this] { Accept(); });
}

TcpServer::~TcpServer() {
  shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  close(listener_);
  for (const int descriptor : descriptors_) shutdown(descriptor, SHUT_RDWR);
  for (std::thread& thread : threads_) thread.join();
  for (const int descriptor : descriptors_) close(descriptor);
}

void TcpServer::Accept() {
  for (int descriptor; (descriptor = accept(listener_, nullptr, nullptr)) >= 0;) {
    const std::lock_guard lock(mutex_);
    descriptors_.push_back(descriptor);
    threads_.emplace_back([this, descriptor] {
      serve_(Peer(descriptor));
      shutdown(descriptor, SHUT_RDWR);
    });
  }
}

}  // namespace weir::client
