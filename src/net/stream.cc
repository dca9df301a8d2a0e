#include "net/stream.h"

#include <openssl/err.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <climits>

#include "net/tls_socket.h"

namespace weir {
namespace {

Stream::Moved OfCall(ssize_t n) {
  if (n > 0) return {Stream::State::kDone, static_cast<size_t>(n)};
  if (n == 0) return {Stream::State::kClosed};
  const bool wait = errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
  return {wait ? Stream::State::kWait : Stream::State::kBroken};
}

// What OpenSSL 3.0 takes for a connection, by the resident memory of a server with a thousand more of
// them: keys and settings stay, buffers come with a handshake or a record and go with it.
constexpr size_t kUnbegun = size_t{9} << 10;
constexpr size_t kHandshake = size_t{46} << 10;
constexpr size_t kEstablished = size_t{14} << 10;
constexpr size_t kCertificate = size_t{5} << 10;  // of the peer
constexpr size_t kRecord = size_t{16} << 10;      // that has come, or gone, in part

int Size(size_t n) { return static_cast<int>(std::min<size_t>(n, INT_MAX)); }

}  // namespace

size_t Stream::bytes() const {
  if (ssl_ == nullptr) return 0;
  if (!SSL_is_init_finished(ssl_.get())) return SSL_in_before(ssl_.get()) ? kUnbegun : kHandshake;
  const bool within = wants_write_ || SSL_has_pending(ssl_.get()) != 0;
  return kEstablished + (within ? kRecord : 0) +
         (SSL_get0_peer_certificate(ssl_.get()) != nullptr ? kCertificate : 0);
}

Stream::Moved Stream::Of(int result) {
  wants_write_ = false;
  if (result > 0) return {State::kDone, static_cast<size_t>(result)};
  switch (SSL_get_error(ssl_.get(), result)) {
    case SSL_ERROR_WANT_READ: return {State::kWait};
    case SSL_ERROR_WANT_WRITE: wants_write_ = true; return {State::kWait};
    case SSL_ERROR_ZERO_RETURN: return {State::kClosed};
    default: return {State::kBroken};
  }
}

Stream::Moved Stream::Read(std::span<char> into) {
  if (ssl_ == nullptr) {
    const Moved moved = OfCall(recv(fd_.get(), into.data(), into.size(), 0));
    bytes_read_ += moved.bytes;
    return moved;
  }
  ERR_clear_error();
  const Moved moved = Of(SSL_read(ssl_.get(), into.data(), Size(into.size())));
  if (moved.state == State::kDone) GotData(ssl_.get());
  return moved;
}

Stream::Moved Stream::Write(std::string_view from) {
  if (ssl_ == nullptr) return OfCall(send(fd_.get(), from.data(), from.size(), MSG_NOSIGNAL));
  ERR_clear_error();
  return Of(SSL_write(ssl_.get(), from.data(), Size(from.size())));
}

uint64_t Stream::bytes_read() const {
  return ssl_ == nullptr ? bytes_read_ : BIO_number_read(SSL_get_rbio(ssl_.get()));
}

void Stream::Shutdown() {
  if (ssl_ != nullptr && SSL_is_init_finished(ssl_.get())) {
    ERR_clear_error();
    SSL_shutdown(ssl_.get());
  }
}

}  // namespace weir
