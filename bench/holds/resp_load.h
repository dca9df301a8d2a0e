// Holds over the Redis protocol.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/load_socket.h"

namespace weir::bench {

class RespLoad {
 public:
  RespLoad(int port, size_t connections);

  // Each in batches of `in_flight` on every connection; `times` over all.
  void Throttle(size_t times, size_t in_flight);
  void ReserveAndRelease(size_t times, size_t in_flight);
  // Reserves, and releases nothing.
  void Hold(size_t times, size_t in_flight);

 private:
  // Sends a command `in_flight` times on every connection, then reads all answers, each of which
  // ends with `end`. What came on connection i is in answers_[i].
  template <typename Command>
  void Round(size_t in_flight, std::string_view end, Command command);

  std::vector<std::unique_ptr<LoadSocket>> sockets_;
  std::vector<std::string> answers_;
  size_t subject_ = 0;
};

}  // namespace weir::bench
