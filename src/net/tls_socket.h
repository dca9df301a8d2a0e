// What OpenSSL reads and writes by: the socket of a connection, whose peer may not keep a thread busy
// with nothing.
//
// OpenSSL goes on reading until data of the application has come, whatever else does. Of most records
// without any it takes a few in a row; of new keys (RFC 8446, 4.6.3) as many as there are, each at the
// cost of several hashes, so that one peer could keep a thread for ever. Here reading fails after some.
#pragma once

#include <openssl/ssl.h>

namespace weir {

// `ssl` speaks over `fd` from now on. False if memory is short.
bool SpeakOver(int fd, SSL* ssl);

// It has read data of the application: the peer may have new keys again.
void GotData(SSL* ssl);

}  // namespace weir
