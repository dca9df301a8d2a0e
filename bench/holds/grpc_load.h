// Holds over a stream of weir.v1.Limiter/Session, with libnghttp2's client.
#pragma once

#include <memory>
#include <vector>

namespace weir::bench {

class GrpcLoad {
 public:
  GrpcLoad(int port, size_t connections);
  ~GrpcLoad();

  void ReserveAndRelease(size_t times, size_t in_flight);

 private:
  class Stream;
  std::vector<std::unique_ptr<Stream>> streams_;
  size_t subject_ = 0;
};

}  // namespace weir::bench
