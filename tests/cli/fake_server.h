// A server that says the same to whoever asks, whatever he asks. It may be anything: nobody who uses
// the command line knows whom he talks to.
#pragma once

#include <string>
#include <thread>

namespace weir::cli {

class FakeServer {
 public:
  // `answer` is sent as it is as soon as anything has come, and the connection is closed.
  explicit FakeServer(std::string answer);
  ~FakeServer();
  FakeServer(const FakeServer&) = delete;
  FakeServer& operator=(const FakeServer&) = delete;

  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

 private:
  void Run();

  const std::string answer_;
  int listener_ = -1;
  int port_ = 0;
  std::thread thread_;
};

// An answer of HTTP with this body.
std::string HttpAnswerOf(const std::string& body, const std::string& status = "200 OK");

}  // namespace weir::cli
