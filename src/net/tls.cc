#include "net/tls.h"

#include <openssl/err.h>

#include "net/tls_socket.h"

namespace weir {
namespace {

Error Failed(const std::string& what, const std::string& file) {
  char reason[256] = "unknown reason";
  if (const unsigned long code = ERR_get_error(); code != 0) {
    ERR_error_string_n(code, reason, sizeof reason);
  }
  ERR_clear_error();
  return {Code::kBadRequest, what + " " + file + ": " + reason, ""};
}

}  // namespace

Result<std::unique_ptr<Tls>> Tls::Open(TlsFiles files, std::string alpn) {
  if (files.cert.empty() || files.key.empty()) {
    return Error{Code::kBadRequest, "TLS needs both --tls-cert and --tls-key", ""};
  }
  std::unique_ptr<Tls> tls(new Tls(std::move(files), std::move(alpn)));
  Result<bool> loaded = tls->Reload();
  if (!loaded) return loaded.error();
  return tls;
}

Result<bool> Tls::Reload() {
  std::shared_ptr<SSL_CTX> context(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
  SSL_CTX* ctx = context.get();
  if (ctx == nullptr) return Failed("cannot start TLS with", files_.cert);
  SSL_CTX_set_min_proto_version(ctx, TLS1_3_VERSION);
  SSL_CTX_set_mode(ctx, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                            SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_read_ahead(ctx, 1);
  // Sessions are resumed by tickets that the client keeps: nothing is kept here. Without a context
  // of their own, those of clients with a certificate would be refused.
  SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
  constexpr unsigned char kSessions[] = "weir";
  SSL_CTX_set_session_id_context(ctx, kSessions, sizeof kSessions - 1);
  if (SSL_CTX_use_certificate_chain_file(ctx, files_.cert.c_str()) != 1) {
    return Failed("cannot read the certificate", files_.cert);
  }
  if (SSL_CTX_use_PrivateKey_file(ctx, files_.key.c_str(), SSL_FILETYPE_PEM) != 1) {
    return Failed("cannot read the key", files_.key);
  }
  if (SSL_CTX_check_private_key(ctx) != 1) {
    return Failed("the certificate does not belong to the key", files_.key);
  }
  if (!files_.ca.empty()) {
    if (SSL_CTX_load_verify_locations(ctx, files_.ca.c_str(), nullptr) != 1) {
      return Failed("cannot read the authorities", files_.ca);
    }
    SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  }
  if (!alpn_.empty()) SSL_CTX_set_alpn_select_cb(ctx, ChooseAlpn, this);
  const std::lock_guard lock(mutex_);
  context_ = std::move(context);
  return true;
}

int Tls::ChooseAlpn(SSL*, const unsigned char** out, unsigned char* out_length,
                    const unsigned char* in, unsigned int in_length, void* self) {
  const std::string& wanted = static_cast<Tls*>(self)->alpn_;
  for (unsigned int i = 0; i < in_length; i += 1u + in[i]) {
    const std::string_view offered(reinterpret_cast<const char*>(in + i + 1), in[i]);
    if (offered != wanted) continue;
    *out = in + i + 1;
    *out_length = in[i];
    return SSL_TLSEXT_ERR_OK;
  }
  return SSL_TLSEXT_ERR_ALERT_FATAL;
}

SSL* Tls::Accept(int fd) const {
  std::shared_ptr<SSL_CTX> context;
  {
    const std::lock_guard lock(mutex_);
    context = context_;
  }
  SSL* ssl = SSL_new(context.get());  // holds the context
  if (ssl == nullptr) return nullptr;
  if (!SpeakOver(fd, ssl)) {
    SSL_free(ssl);
    return nullptr;
  }
  SSL_set_accept_state(ssl);
  return ssl;
}

}  // namespace weir
