#pragma once

namespace weir::lab {

// A port of loopback on which nothing listens, for streams or datagrams; another one each time. It
// stays free while its server is away: the kernel gives higher ones to whoever asks for any.
int FreePort();

}  // namespace weir::lab
