#pragma once

namespace weir::lab {

// A port on which nothing listens, for streams or datagrams, on no address of this machine; another one
// each time. It stays free while its server is away: the kernel gives higher ones to whoever asks for any.
int FreePort();

}  // namespace weir::lab
