// TLS over a pair of sockets: a peer that keeps the server busy with nothing, and one that does not.
#include "net/tls_socket.h"

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <sys/socket.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include "net/stream.h"
#include "net/tls.h"

namespace weir::tls_socket_test {
namespace {

struct Free {
  void operator()(SSL* ssl) const { SSL_free(ssl); }
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(std::FILE* file) const { std::fclose(file); }
};
template <typename Type>
using Owned = std::unique_ptr<Type, Free>;

// A certificate that its own key has signed, in files that go away with this.
class Files {
 public:
  Files() {
    std::string name = (std::filesystem::temp_directory_path() / "weir-tls-XXXXXX").string();
    path_ = mkdtemp(name.data());
    const Owned<EVP_PKEY> key(EVP_EC_gen("P-256"));
    const Owned<X509> certificate(X509_new());
    X509_gmtime_adj(X509_getm_notBefore(certificate.get()), 0);
    X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 86400);
    X509_set_pubkey(certificate.get(), key.get());
    X509_sign(certificate.get(), key.get(), EVP_sha256());
    const Owned<std::FILE> cert_file(std::fopen(files().cert.c_str(), "w")),
        key_file(std::fopen(files().key.c_str(), "w"));
    PEM_write_X509(cert_file.get(), certificate.get());
    PEM_write_PrivateKey(key_file.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  }
  ~Files() { std::filesystem::remove_all(path_); }
  TlsFiles files() const { return {.cert = path_ + "/cert", .key = path_ + "/key", .ca = ""}; }

 private:
  std::string path_;
};

class TlsSockets : public ::testing::Test {
 protected:
  TlsSockets() : tls_(Tls::Open(files_.files(), "")) {
    std::array<int, 2> ends;
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()), 0);
    client_end_ = FileDescriptor(ends[0]);
    context_.reset(SSL_CTX_new(TLS_client_method()));
    client_.reset(SSL_new(context_.get()));
    SSL_set_fd(client_.get(), ends[0]);
    server_ = std::make_unique<Stream>(FileDescriptor(ends[1]), (*tls_)->Accept(ends[1]));
    for (int i = 0; i < 10; ++i) {
      SSL_connect(client_.get());
      Read();
    }
    EXPECT_EQ(SSL_is_init_finished(client_.get()), 1);
    EXPECT_TRUE(server_->established());
  }
  Stream::Moved Read() { return server_->Read(buffer_); }
  void NewKeys(int times, int kind) {
    for (int i = 0; i < times; ++i) {
      ASSERT_EQ(SSL_key_update(client_.get(), kind), 1);
      ASSERT_EQ(SSL_do_handshake(client_.get()), 1);
    }
  }
  void Say(const std::string& text) {
    EXPECT_EQ(SSL_write(client_.get(), text.data(), static_cast<int>(text.size())),
              static_cast<int>(text.size()));
  }

  const Files files_;
  const Result<std::unique_ptr<Tls>> tls_;
  FileDescriptor client_end_;
  Owned<SSL_CTX> context_;
  Owned<SSL> client_;
  std::unique_ptr<Stream> server_;
  std::array<char, 1000> buffer_{};
};

TEST_F(TlsSockets, NewKeysNowAndThenAreWelcome) {
  for (int i = 0; i < 20; ++i) {
    NewKeys(20, i % 2 == 0 ? SSL_KEY_UPDATE_REQUESTED : SSL_KEY_UPDATE_NOT_REQUESTED);
    Say("hello");
    const Stream::Moved moved = Read();
    ASSERT_EQ(moved.state, Stream::State::kDone) << i;
    EXPECT_EQ(std::string(buffer_.data(), moved.bytes), "hello");
    SSL_read(client_.get(), buffer_.data(), 1);  // takes the server's new keys
  }
}

TEST_F(TlsSockets, NothingButNewKeysEndsTheConnection) {
  for (int i = 0; i < 10; ++i) {
    NewKeys(10, SSL_KEY_UPDATE_NOT_REQUESTED);
    if (Read().state == Stream::State::kBroken) return;
  }
  FAIL() << "it takes a hundred of them";
}

TEST_F(TlsSockets, BytesReadAreThoseOfTheSocket) {
  const uint64_t before = server_->bytes_read();
  EXPECT_GT(before, 0u);
  Say(std::string(500, 'x'));
  EXPECT_EQ(Read().bytes, 500u);
  EXPECT_GT(server_->bytes_read(), before + 500);
  EXPECT_LT(server_->bytes_read(), before + 600);
}

}  // namespace
}  // namespace weir::tls_socket_test
