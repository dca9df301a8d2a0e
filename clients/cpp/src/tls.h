// TLS 1.3 without I/O: what came from the network goes in, what is to be sent comes out.
#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <string>
#include <string_view>

#include "weir/client/options.h"

namespace weir::client {

struct TlsDeleter {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  void operator()(SSL* ssl) const { SSL_free(ssl); }
};

// Certificates, read once. Throws an Error of kBadRequest if they cannot be.
class TlsContext {
 public:
  explicit TlsContext(const TlsOptions& options);
  SSL_CTX* get() const { return context_.get(); }
  const std::string& server_name() const { return server_name_; }

 private:
  std::unique_ptr<SSL_CTX, TlsDeleter> context_;
  std::string server_name_;
};

// One connection. All throw Failure when the peer is not who it should be, or makes no sense.
class Tls {
 public:
  Tls(const TlsContext& context, const std::string& host);

  bool Shake();  // true once hands are shaken
  std::string Seal(std::string_view plain);
  std::string Open(std::string_view sealed);  // what came before, too
  std::string TakeUnsent();

  void Feed(std::string_view sealed);

 private:
  [[noreturn]] void Fail(const char* what) const;

  std::unique_ptr<SSL, TlsDeleter> ssl_;
  BIO* in_;  // the connection's
  BIO* out_;
};

}  // namespace weir::client
