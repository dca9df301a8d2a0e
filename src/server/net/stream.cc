#include "server/net/stream.h"

#include <openssl/err.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <climits>

namespace weir {
namespace {

Stream::Moved OfCall(ssize_t n) {
  if (n > 0) return {Stream::State::kDone, static_cast<size_t>(n)};
  if (n == 0) return {Stream::State::kClosed};
  const bool wait = errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
  return {wait ? Stream::State::kWait : Stream::State::kBroken};
}

int Size(size_t n) { return static_cast<int>(std::min<size_t>(n, INT_MAX)); }

}  // namespace

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
  if (ssl_ == nullptr) return OfCall(recv(fd_.get(), into.data(), into.size(), 0));
  ERR_clear_error();
  return Of(SSL_read(ssl_.get(), into.data(), Size(into.size())));
}

Stream::Moved Stream::Write(std::string_view from) {
  if (ssl_ == nullptr) return OfCall(send(fd_.get(), from.data(), from.size(), MSG_NOSIGNAL));
  ERR_clear_error();
  return Of(SSL_write(ssl_.get(), from.data(), Size(from.size())));
}

void Stream::Shutdown() {
  if (ssl_ != nullptr && SSL_is_init_finished(ssl_.get())) {
    ERR_clear_error();
    SSL_shutdown(ssl_.get());
  }
}

}  // namespace weir
