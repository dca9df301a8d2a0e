// A connection to a server, with or without TLS, that waits, but never beyond a deadline. For the
// command line, and for a thread that has nothing else to do.
//
// With TLS the certificate is verified, and that it is for the host that was asked for, or for
// `name`. What went wrong is told in words that say what to do.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <openssl/ssl.h>

#include "base/file_descriptor.h"
#include "net/server_url.h"
#include "weir/instant.h"

namespace weir {

struct ClientTls {
  std::string ca;         // whom to trust; empty: whom the machine trusts
  std::string cert, key;  // our own, if the server wants one
  std::string name;       // that the certificate is for; empty: the host
  bool any() const { return !ca.empty() || !cert.empty() || !key.empty() || !name.empty(); }
};

class ClientStream {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // `flags` is what the flags for TLS begin with, for what is told: "--tls-".
  ClientStream(ServerUrl url, ClientTls tls, std::string flags = "--tls-")
      : url_(std::move(url)), tls_(std::move(tls)), flags_(std::move(flags)) {}

  // All return false if it did not come to that; trouble() then says why.
  bool Connect(Time until);
  bool Send(std::string_view bytes, Time until);
  // At least a byte, of which there are `got`; 0: the peer has closed.
  bool Receive(std::span<char> into, Time until, size_t& got);

  // Reads and forgets what has come. False: the peer has closed. Never waits.
  bool Drain();
  // The peer has closed it, or has said something unasked: not to be used for another request.
  bool Spent() const;
  void Close();
  bool open() const { return static_cast<bool>(fd_); }
  int fd() const { return fd_.get(); }
  // How many bytes of the last Send may have left this machine.
  size_t sent() const { return sent_; }
  const std::string& trouble() const { return trouble_; }
  const ServerUrl& url() const { return url_; }

  // From any thread: whatever it waits for, it soon gives up, and for ever.
  void Interrupt() { interrupted_.store(true); }

 private:
  bool ConnectTo(const void* address, size_t length, int family, Time until);
  bool Handshake(Time until);
  bool MakeContext();
  bool ExpectName();
  bool Wait(short events, Time until);
  // After a call of OpenSSL that returned `result`: true if it is to be called again.
  bool Again(int result, Time until);
  bool Fail(std::string trouble);
  std::string TlsTrouble();
  std::string VerifyTrouble(long result) const;

  const ServerUrl url_;
  const ClientTls tls_;
  const std::string flags_;
  std::atomic<bool> interrupted_{false};
  std::string trouble_;
  size_t sent_ = 0;

  struct Free {
    void operator()(SSL* ssl) const { SSL_free(ssl); }
    void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  };
  std::unique_ptr<SSL_CTX, Free> context_;  // made when first needed
  FileDescriptor fd_;
  std::unique_ptr<SSL, Free> ssl_;
};

}  // namespace weir
