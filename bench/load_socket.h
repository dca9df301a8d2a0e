// A connection of a load. It waits where it does not try: the other side has a core of its own.
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace weir::bench {

class LoadSocket {
 public:
  explicit LoadSocket(int port);  // throws if nobody listens
  ~LoadSocket();
  LoadSocket(LoadSocket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  LoadSocket& operator=(LoadSocket&&) = delete;

  void Send(std::string_view bytes);
  // Adds to `in` what has come, and waits for it; throws when the other side has closed.
  void Receive(std::string& in);

  // Without waiting. Takes what was sent off `out`, and adds what came to `in`.
  void TrySend(std::string& out);
  bool TryReceive(std::string& in);

 private:
  bool Receive(std::string& in, int flags);

  int fd_;
};

}  // namespace weir::bench
