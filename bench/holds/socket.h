// A connection of a load: it waits, for the other side has a core of its own.
#pragma once

#include <string>
#include <string_view>

namespace weir::bench {

class LoadSocket {
 public:
  explicit LoadSocket(int port);  // throws if nobody listens
  ~LoadSocket();
  LoadSocket(const LoadSocket&) = delete;
  LoadSocket& operator=(const LoadSocket&) = delete;

  void Send(std::string_view bytes);
  // Adds to `in` what has come, and waits for it; throws when the other side has closed.
  void Receive(std::string& in);

 private:
  const int fd_;
};

}  // namespace weir::bench
