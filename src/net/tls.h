// TLS 1.3 for every front, and mutual TLS: a certificate of the client's that `ca` has signed.
//
// The files are read again by Reload (SIGHUP): connections that exist go on with what they have,
// new ones get the new certificate. Files that do not fit together leave the old ones in force.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include <openssl/ssl.h>

#include "weir/error.h"

namespace weir {

struct TlsFiles {
  std::string cert, key;
  std::string ca;  // empty: clients need no certificate
  bool any() const { return !cert.empty() || !key.empty() || !ca.empty(); }
};

class Tls {
 public:
  // `alpn`: the one protocol to agree on; empty: none is offered.
  static Result<std::unique_ptr<Tls>> Open(TlsFiles files, std::string alpn);

  Result<bool> Reload();
  // For one connection on `fd`; null if memory is short.
  SSL* Accept(int fd) const;

 private:
  Tls(TlsFiles files, std::string alpn) : files_(std::move(files)), alpn_(std::move(alpn)) {}
  static int ChooseAlpn(SSL*, const unsigned char** out, unsigned char* out_length,
                        const unsigned char* in, unsigned int in_length, void* self);

  const TlsFiles files_;
  const std::string alpn_;

  mutable std::mutex mutex_;
  std::shared_ptr<SSL_CTX> context_;  // guarded by mutex_
};

}  // namespace weir
