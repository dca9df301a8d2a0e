#include "clients/cpp/src/stream.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "weir/client/wire.h"

namespace weir::client {
namespace {

// A server that is cut off without a word is noticed after 10 + 2 * 5 seconds.
void Prepare(int descriptor) {
  const auto set = [&](int level, int option, int value) {
    setsockopt(descriptor, level, option, &value, sizeof value);
  };
  set(IPPROTO_TCP, TCP_NODELAY, 1);
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 10);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 5);
  set(IPPROTO_TCP, TCP_KEEPCNT, 2);
}

[[noreturn]] void FailWith(int error) { throw Failure(Code::kUnavailable, std::strerror(error)); }

bool IsPassing(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

}  // namespace

Stream::Stream(const Address& address, const TlsContext* tls, Duration deadline) {
  int error = EADDRNOTAVAIL;
  try {
    bool connected = false;
    for (const SocketAddress& one : Resolve(address, deadline)) {
      connected = Connect(one, deadline);
      if (connected) break;
      error = errno;
    }
    if (!connected) FailWith(error);
    if (tls == nullptr) return;
    tls_.emplace(*tls, address.host);
    while (!tls_->Shake()) {
      unsent_ += tls_->TakeUnsent();
      Flush(deadline);
      tls_->Feed(Receive(deadline));
    }
    unsent_ += tls_->TakeUnsent();
  } catch (...) {
    if (descriptor_ >= 0) close(descriptor_);
    throw;
  }
}

Stream::~Stream() { close(descriptor_); }

bool Stream::Connect(const SocketAddress& address, Duration deadline) {
  if (descriptor_ >= 0) close(descriptor_);
  const auto* const where = reinterpret_cast<const sockaddr*>(&address.storage);
  descriptor_ = socket(where->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor_ < 0) return false;
  Prepare(descriptor_);
  if (connect(descriptor_, where, address.length) == 0) return true;
  if (errno != EINPROGRESS) return false;
  Await(POLLOUT, deadline);
  socklen_t length = sizeof errno;
  int error = 0;
  getsockopt(descriptor_, SOL_SOCKET, SO_ERROR, &error, &length);
  errno = error;
  return error == 0;
}

void Stream::Await(short events, Duration deadline) const {
  pollfd waiting{descriptor_, events, 0};
  for (;;) {
    const Duration left = std::max(Duration::zero(), deadline - Clock::System()->Now());
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
    const timespec timeout{seconds.count(), (left - seconds).count()};
    const int ready = ppoll(&waiting, 1, &timeout, nullptr);
    if (ready > 0) return;
    if (ready == 0) throw Failure(Code::kDeadlineExceeded, "no answer in time");
    if (errno != EINTR) FailWith(errno);
  }
}

void Stream::Queue(std::string_view bytes) {
  if (tls_) {
    unsent_ += tls_->Seal(bytes);
  } else {
    unsent_ += bytes;
  }
}

void Stream::Flush(Duration deadline) {
  while (!unsent_.empty()) {
    const ssize_t sent = send(descriptor_, unsent_.data(), unsent_.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      unsent_.erase(0, static_cast<size_t>(sent));
    } else if (IsPassing(errno)) {
      Await(POLLOUT, deadline);
    } else {
      FailWith(errno);
    }
  }
}

std::string Stream::Read(Duration deadline) {
  if (!tls_) return Receive(deadline);
  std::string plain = tls_->Open({});
  while (plain.empty()) plain = tls_->Open(Receive(deadline));
  return plain;
}

std::string Stream::Receive(Duration deadline) {
  std::array<char, 16384> buffer;
  for (;;) {
    const ssize_t received = recv(descriptor_, buffer.data(), buffer.size(), 0);
    if (received > 0) return {buffer.data(), static_cast<size_t>(received)};
    if (received == 0) throw Failure(Code::kUnavailable, "the server has hung up");
    if (!IsPassing(errno)) FailWith(errno);
    Await(POLLIN, deadline);
  }
}

void Stream::Shut() { shutdown(descriptor_, SHUT_RDWR); }

bool Stream::HungUp() const {
  pollfd looked_at{descriptor_, POLLRDHUP, 0};
  return poll(&looked_at, 1, 0) > 0;
}

}  // namespace weir::client
