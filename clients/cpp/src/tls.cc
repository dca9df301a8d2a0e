#include "clients/cpp/src/tls.h"

#include <openssl/err.h>
#include <openssl/x509v3.h>

#include <array>

#include "weir/client/wire.h"

namespace weir::client {
namespace {

std::string Reason() {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  std::array<char, 256> text{};
  ERR_error_string_n(code, text.data(), text.size());
  return code == 0 ? "the peer has ended it" : text.data();
}

void Need(bool good, const std::string& file) {
  if (!good) throw Error(Code::kBadRequest, "TLS: " + file + ": " + Reason());
}

}  // namespace

TlsContext::TlsContext(const TlsOptions& options)
    : context_(SSL_CTX_new(TLS_client_method())), server_name_(options.server_name) {
  SSL_CTX* const context = context_.get();
  SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  if (options.ca_file.empty()) {
    SSL_CTX_set_default_verify_paths(context);
  } else {
    Need(SSL_CTX_load_verify_file(context, options.ca_file.c_str()) == 1, options.ca_file);
  }
  if (options.certificate_file.empty()) return;
  Need(SSL_CTX_use_certificate_chain_file(context, options.certificate_file.c_str()) == 1,
       options.certificate_file);
  Need(SSL_CTX_use_PrivateKey_file(context, options.key_file.c_str(), SSL_FILETYPE_PEM) == 1,
       options.key_file);
}

Tls::Tls(const TlsContext& context, const std::string& host)
    : ssl_(SSL_new(context.get())), in_(BIO_new(BIO_s_mem())), out_(BIO_new(BIO_s_mem())) {
  SSL_set_bio(ssl_.get(), in_, out_);
  SSL_set_connect_state(ssl_.get());
  const std::string& name = context.server_name().empty() ? host : context.server_name();
  if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl_.get()), name.c_str()) == 1) return;
  ERR_clear_error();
  SSL_set1_host(ssl_.get(), name.c_str());
  SSL_set_tlsext_host_name(ssl_.get(), name.c_str());
}

bool Tls::Shake() {
  const int done = SSL_do_handshake(ssl_.get());
  if (done == 1) return true;
  if (SSL_get_error(ssl_.get(), done) != SSL_ERROR_WANT_READ) Fail("hands were not shaken");
  return false;
}

std::string Tls::Seal(std::string_view plain) {
  if (!plain.empty()) {
    size_t written = 0;
    if (SSL_write_ex(ssl_.get(), plain.data(), plain.size(), &written) != 1) Fail("writing");
  }
  return TakeUnsent();
}

std::string Tls::Open(std::string_view sealed) {
  Feed(sealed);
  std::string plain;
  std::array<char, 16384> buffer;
  size_t read = 0;
  int done = 0;
  while ((done = SSL_read_ex(ssl_.get(), buffer.data(), buffer.size(), &read)) == 1) {
    plain.append(buffer.data(), read);
  }
  if (plain.empty() && SSL_get_error(ssl_.get(), done) != SSL_ERROR_WANT_READ) Fail("reading");
  return plain;
}

void Tls::Feed(std::string_view sealed) {
  if (!sealed.empty()) BIO_write(in_, sealed.data(), static_cast<int>(sealed.size()));
}

std::string Tls::TakeUnsent() {
  std::string unsent(BIO_ctrl_pending(out_), '\0');
  if (!unsent.empty()) BIO_read(out_, unsent.data(), static_cast<int>(unsent.size()));
  return unsent;
}

void Tls::Fail(const char* what) const {
  throw Failure(Code::kUnavailable, std::string("TLS: ") + what + ": " + Reason());
}

}  // namespace weir::client
