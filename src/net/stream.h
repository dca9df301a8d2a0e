// The bytes of a connection, with or without TLS. Never blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include <openssl/ssl.h>

#include "base/file_descriptor.h"

namespace weir {

class Stream {
 public:
  enum class State {
    kDone,    // `bytes` were moved
    kWait,    // nothing can be moved now
    kClosed,  // the peer has said that nothing more comes
    kBroken,
  };
  struct Moved {
    State state;
    size_t bytes = 0;
  };

  Stream(FileDescriptor fd, SSL* ssl) : fd_(std::move(fd)), ssl_(ssl) {}

  int fd() const { return fd_.get(); }
  Moved Read(std::span<char> into);
  Moved Write(std::string_view from);
  // That were taken from the socket, ever.
  uint64_t bytes_read() const;
  // Memory that TLS takes for it.
  size_t bytes() const;
  // The peer and we have agreed on TLS, if there is to be any.
  bool established() const { return ssl_ == nullptr || SSL_is_init_finished(ssl_.get()); }
  // A read of less than was asked for was all that there is.
  bool tells_the_end() const { return ssl_ == nullptr; }
  // TLS waits for the other direction: reading needs the socket to be writable.
  bool wants_write() const { return wants_write_; }
  // Says goodbye, if TLS has a word for it.
  void Shutdown();

 private:
  Moved Of(int result);

  struct Free {
    void operator()(SSL* ssl) const { SSL_free(ssl); }
  };
  FileDescriptor fd_;
  std::unique_ptr<SSL, Free> ssl_;
  uint64_t bytes_read_ = 0;  // without TLS
  bool wants_write_ = false;
};

}  // namespace weir
