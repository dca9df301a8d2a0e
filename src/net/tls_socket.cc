#include "net/tls_socket.h"

#include <sys/socket.h>

#include <cerrno>
#include <memory>

namespace weir {
namespace {

constexpr int kMostNewKeys = 32;  // between data, as others allow

struct TlsSocket {
  int fd;
  int new_keys = 0;
};

TlsSocket& Of(BIO* bio) { return *static_cast<TlsSocket*>(BIO_get_data(bio)); }

int Moved(BIO* bio, ssize_t n, void (*retry)(BIO*)) {
  BIO_clear_retry_flags(bio);
  if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) retry(bio);
  return static_cast<int>(n);
}

int Read(BIO* bio, char* into, int size) {
  const TlsSocket& socket = Of(bio);
  if (socket.new_keys > kMostNewKeys) {
    BIO_clear_retry_flags(bio);
    return -1;
  }
  return Moved(bio, recv(socket.fd, into, static_cast<size_t>(size), 0),
               [](BIO* one) { BIO_set_retry_read(one); });
}

int Write(BIO* bio, const char* from, int size) {
  return Moved(bio, send(Of(bio).fd, from, static_cast<size_t>(size), MSG_NOSIGNAL),
               [](BIO* one) { BIO_set_retry_write(one); });
}

long Control(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }

int Destroy(BIO* bio) {
  delete &Of(bio);
  return 1;
}

const BIO_METHOD* Method() {
  static BIO_METHOD* const method = [] {
    BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket");
    if (made == nullptr) return made;
    BIO_meth_set_read(made, Read);
    BIO_meth_set_write(made, Write);
    BIO_meth_set_ctrl(made, Control);
    BIO_meth_set_destroy(made, Destroy);
    return made;
  }();
  return method;
}

void Look(int written, int, int type, const void* bytes, size_t size, SSL*, void* socket) {
  if (written != 0 || type != SSL3_RT_HANDSHAKE || size == 0) return;
  if (*static_cast<const unsigned char*>(bytes) != SSL3_MT_KEY_UPDATE) return;
  static_cast<TlsSocket*>(socket)->new_keys += 1;
}

}  // namespace

bool SpeakOver(int fd, SSL* ssl) {
  BIO* const bio = Method() == nullptr ? nullptr : BIO_new(Method());
  if (bio == nullptr) return false;
  auto* const socket = new TlsSocket{fd};
  BIO_set_data(bio, socket);
  BIO_set_init(bio, 1);
  SSL_set_bio(ssl, bio, bio);
  SSL_set_msg_callback(ssl, Look);
  SSL_set_msg_callback_arg(ssl, socket);
  return true;
}

void GotData(SSL* ssl) { Of(SSL_get_rbio(ssl)).new_keys = 0; }

}  // namespace weir
