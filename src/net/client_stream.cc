#include "net/client_stream.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>

namespace weir {
namespace {

constexpr int kInterruptMillis = 100;

bool IsAddress(const std::string& host) {
  unsigned char bytes[16];
  return inet_pton(AF_INET, host.c_str(), bytes) == 1 ||
         inet_pton(AF_INET6, host.c_str(), bytes) == 1;
}

std::string Reason() {
  char text[256] = "";
  const unsigned long code = ERR_peek_last_error();
  if (code == 0) return "";
  if (const char* reason = ERR_reason_error_string(code)) return reason;
  ERR_error_string_n(code, text, sizeof text);
  return text;
}

}  // namespace

bool ClientStream::Fail(std::string trouble) {
  trouble_ = std::move(trouble);
  Close();
  return false;
}

void ClientStream::Close() {
  ssl_.reset();
  fd_.Close();
}

bool ClientStream::Wait(short events, Time until) {
  pollfd waiting{fd_.get(), events, 0};
  while (!interrupted_.load() && std::chrono::steady_clock::now() < until) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    const int ready =
        poll(&waiting, 1, static_cast<int>(std::clamp<int64_t>(left.count(), 0, kInterruptMillis)));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return Fail(std::strerror(errno));
  }
  return Fail("it took too long");
}

bool ClientStream::Connect(Time until) {
  Close();
  sent_ = 0;
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const char* const host = url_.host.empty() ? nullptr : url_.host.c_str();
  if (const int error = getaddrinfo(host, url_.port.c_str(), &hints, &found); error != 0) {
    return Fail("the host cannot be found: " + std::string(gai_strerror(error)));
  }
  bool connected = false;
  for (const addrinfo* one = found; one != nullptr && !connected; one = one->ai_next) {
    connected = ConnectTo(one->ai_addr, one->ai_addrlen, one->ai_family, until);
  }
  freeaddrinfo(found);
  return connected && (!url_.tls || Handshake(until));
}

bool ClientStream::ConnectTo(const void* address, size_t length, int family, Time until) {
  fd_ = FileDescriptor(socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd_) return Fail(std::strerror(errno));
  const auto* const to = static_cast<const sockaddr*>(address);
  if (connect(fd_.get(), to, static_cast<socklen_t>(length)) == 0) return true;
  if (errno != EINPROGRESS) return Fail(std::strerror(errno));
  if (!Wait(POLLOUT, until)) return false;
  int error = 0;
  socklen_t size = sizeof error;
  getsockopt(fd_.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  return error == 0 || Fail(std::strerror(error));
}

bool ClientStream::MakeContext() {
  if (context_ != nullptr) return true;
  ERR_clear_error();
  context_.reset(SSL_CTX_new(TLS_client_method()));
  SSL_CTX* const context = context_.get();
  const auto wrong = [&](std::string_view what, const std::string& file) {
    context_.reset();
    return Fail(flags_ + std::string(what) + " " + file + ": " + Reason());
  };
  if (context == nullptr) return Fail("TLS cannot be started: " + Reason());
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  if (tls_.ca.empty()) {
    SSL_CTX_set_default_verify_paths(context);
  } else if (SSL_CTX_load_verify_file(context, tls_.ca.c_str()) != 1) {
    return wrong("ca", tls_.ca);
  }
  if (tls_.cert.empty() != tls_.key.empty()) {
    context_.reset();
    return Fail(flags_ + "cert and " + flags_ + "key go together");
  }
  if (tls_.cert.empty()) return true;
  if (SSL_CTX_use_certificate_chain_file(context, tls_.cert.c_str()) != 1) {
    return wrong("cert", tls_.cert);
  }
  if (SSL_CTX_use_PrivateKey_file(context, tls_.key.c_str(), SSL_FILETYPE_PEM) != 1 ||
      SSL_CTX_check_private_key(context) != 1) {
    return wrong("key", tls_.key);
  }
  return true;
}

bool ClientStream::ExpectName() {
  const std::string& name = !tls_.name.empty()  ? tls_.name
                            : url_.host.empty() ? std::string("localhost")
                                                : url_.host;
  if (IsAddress(name)) {
    return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl_.get()), name.c_str()) == 1;
  }
  SSL_set_hostflags(ssl_.get(), X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  return SSL_set1_host(ssl_.get(), name.c_str()) == 1 &&
         SSL_set_tlsext_host_name(ssl_.get(), name.c_str()) == 1;
}

bool ClientStream::Handshake(Time until) {
  if (!MakeContext()) return false;
  ssl_.reset(SSL_new(context_.get()));
  if (ssl_ == nullptr || !ExpectName()) return Fail("TLS cannot be started: " + Reason());
  SSL_set_fd(ssl_.get(), fd_.get());
  while (true) {
    ERR_clear_error();
    errno = 0;
    const int result = SSL_connect(ssl_.get());
    if (result == 1) return true;
    if (!Again(result, until)) return false;
  }
}

bool ClientStream::Again(int result, Time until) {
  switch (SSL_get_error(ssl_.get(), result)) {
    case SSL_ERROR_WANT_READ: return Wait(POLLIN, until);
    case SSL_ERROR_WANT_WRITE: return Wait(POLLOUT, until);
    default: return Fail(TlsTrouble());
  }
}

std::string ClientStream::TlsTrouble() {
  const long verified = SSL_get_verify_result(ssl_.get());
  if (verified != X509_V_OK) return VerifyTrouble(verified);
  const unsigned long code = ERR_peek_last_error();
  const bool of_tls = ERR_GET_LIB(code) == ERR_LIB_SSL;
  switch (of_tls ? ERR_GET_REASON(code) : 0) {
    case SSL_R_WRONG_VERSION_NUMBER:
    case SSL_R_PACKET_LENGTH_TOO_LONG:
    case SSL_R_HTTP_REQUEST:
    case SSL_R_RECORD_LENGTH_MISMATCH:
      return "it does not speak TLS there: without https:// (or rediss://) it is asked without";
    case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
    case SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE:
      return "it wants a certificate: " + flags_ + "cert FILE and " + flags_ + "key FILE";
    case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
    case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
      return "it does not accept the certificate of " + flags_ + "cert (" + Reason() + ")";
    default: break;
  }
  if (code != 0) return "TLS failed: " + Reason();
  std::string trouble = errno != 0 ? std::strerror(errno) : "the connection was closed";
  if (tls_.cert.empty()) trouble += " (if it wants a certificate: " + flags_ + "cert FILE)";
  return trouble;
}

std::string ClientStream::VerifyTrouble(long result) const {
  const std::string& wanted = tls_.name.empty() ? url_.host : tls_.name;
  switch (result) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return "its certificate has expired: it has to be renewed there (or is this clock wrong?)";
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return "its certificate is not valid yet: is the clock of this machine right?";
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
      return "its certificate is signed by nobody that is trusted here: " + flags_ +
             "ca FILE names whom to trust";
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return "its certificate is not for " + wanted + ": " + flags_ +
             "name NAME says for whom it is";
    default:
      return std::string("its certificate is not accepted: ") +
             X509_verify_cert_error_string(result);
  }
}

bool ClientStream::Send(std::string_view bytes, Time until) {
  sent_ = 0;
  while (!bytes.empty()) {
    int64_t n = 0;
    if (ssl_ != nullptr) {
      ERR_clear_error();
      errno = 0;
      const size_t size = std::min<size_t>(bytes.size(), INT_MAX);
      n = SSL_write(ssl_.get(), bytes.data(), static_cast<int>(size));
      sent_ = std::max<size_t>(sent_, 1);  // who knows what it has written of it
      if (n <= 0 && !Again(static_cast<int>(n), until)) return false;
    } else {
      n = send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n < 0 && errno != EAGAIN && errno != EINTR) return Fail(std::strerror(errno));
      if (n < 0 && !Wait(POLLOUT, until)) return false;
    }
    if (n <= 0) continue;
    sent_ += static_cast<size_t>(n);
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

bool ClientStream::Receive(std::span<char> into, Time until, size_t& got) {
  got = 0;
  while (true) {
    // Also of one who always has something to say.
    if (interrupted_.load() || std::chrono::steady_clock::now() >= until) {
      return Fail("it took too long");
    }
    if (ssl_ != nullptr) {
      ERR_clear_error();
      errno = 0;
      const size_t size = std::min<size_t>(into.size(), INT_MAX);
      const int n = SSL_read(ssl_.get(), into.data(), static_cast<int>(size));
      if (n > 0) return got = static_cast<size_t>(n), true;
      const int error = SSL_get_error(ssl_.get(), n);
      if (error == SSL_ERROR_ZERO_RETURN) return true;
      if (error == SSL_ERROR_SYSCALL && errno == 0) return true;
      if (!Again(n, until)) return false;
      continue;
    }
    const ssize_t n = recv(fd_.get(), into.data(), into.size(), 0);
    if (n >= 0) return got = static_cast<size_t>(n), true;
    if (errno != EAGAIN && errno != EINTR) return Fail(std::strerror(errno));
    if (!Wait(POLLIN, until)) return false;
  }
}

bool ClientStream::Drain() {
  char rest[4096];
  while (true) {
    if (ssl_ != nullptr) {
      ERR_clear_error();
      const int n = SSL_read(ssl_.get(), rest, sizeof rest);
      if (n <= 0) return SSL_get_error(ssl_.get(), n) == SSL_ERROR_WANT_READ;
    } else {
      const ssize_t n = recv(fd_.get(), rest, sizeof rest, MSG_DONTWAIT);
      if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) return false;
      if (n < 0) return true;
    }
  }
}

bool ClientStream::Spent() const {
  char byte = 0;
  const ssize_t n = recv(fd_.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return n >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
}

}  // namespace weir
