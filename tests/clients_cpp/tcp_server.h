// Listens on loopback and does to each connection, on a thread of its own, as it is told.
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace weir::client {

// The server's end of a connection.
class Peer {
 public:
  explicit Peer(int descriptor) : descriptor_(descriptor) {}
  std::string Read() const;  // some bytes; none: the client has hung up
  bool Send(const std::string& bytes) const;
  void HangUp() const;

 private:
  const int descriptor_;
};

class TcpServer {
 public:
  explicit TcpServer(std::function<void(const Peer&)> serve);
  ~TcpServer();  // ends all connections first
  TcpServer(const TcpServer&) = delete;
  TcpServer& operator=(const TcpServer&) = delete;

  std::string address() const { return address_; }

 private:
  void Accept();

  const std::function<void(const Peer&)> serve_;
  const int listener_;
  std::string address_;
  std::mutex mutex_;  // guards:
  std::vector<int> descriptors_;
  std::vector<std::thread> threads_;

  std::thread acceptor_;
};

}  // namespace weir::client
