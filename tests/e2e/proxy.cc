#include "tests/e2e/proxy.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <fstream>
#include <sstream>

#include "tests/e2e/server_process.h"

namespace weir::e2e {
namespace {

// A listening socket on a port that the system chooses.
int Listen(int& port) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  if (bind(listener, any, size) != 0 || listen(listener, 64) != 0) std::abort();
  getsockname(listener, any, &size);
  port = ntohs(address.sin_port);
  return listener;
}

}  // namespace

std::string Example(const std::string& name, const std::map<std::string, std::string>& changes) {
  std::ifstream file(std::string(WEIR_SOURCE_DIR) + "/examples/" + name);
  std::stringstream all;
  all << file.rdbuf();
  std::string text = all.str();
  for (const auto& [from, to] : changes) {
    size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << name << " has no " << from;
    for (; at != std::string::npos; at = text.find(from, at + to.size())) {
      text.replace(at, from.size(), to);
    }
  }
  return text;
}

Upstream::Upstream()
    : listener_(Listen(port_)), wake_(eventfd(0, EFD_CLOEXEC)), server_([this] { Serve(); }) {}

Upstream::~Upstream() {
  eventfd_write(wake_, 1);
  server_.join();
  close(wake_);
  close(listener_);
}

void Upstream::Serve() {
  while (true) {
    std::array<pollfd, 2> waiting{pollfd{listener_, POLLIN, 0}, pollfd{wake_, POLLIN, 0}};
    poll(waiting.data(), waiting.size(), -1);
    if (waiting[1].revents != 0) return;
    const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) continue;
    std::string in;
    std::array<char, 4096> buffer;
    while (in.find("\r\n\r\n") == std::string::npos) {
      pollfd readable{client, POLLIN, 0};
      if (poll(&readable, 1, 5000) <= 0) break;
      const ssize_t n = recv(client, buffer.data(), buffer.size(), 0);
      if (n <= 0) break;
      in.append(buffer.data(), static_cast<size_t>(n));
    }
    constexpr std::string_view kAnswer =
        "HTTP/1.1 200 OK\r\nContent-Length: 9\r\nConnection: close\r\n\r\nupstream\n";
    if (!in.empty()) {
      ++requests_;
      send(client, kAnswer.data(), kAnswer.size(), MSG_NOSIGNAL);
    }
    close(client);
  }
}

Proxy::Proxy(const std::vector<std::string>& command, int port)
    : log_file_(memfd_create("log", MFD_CLOEXEC)) {
  pid_ = Spawn(command, -1, log_file_, log_file_);
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (std::chrono::steady_clock::now() < until) {
    if (Socket(port).connected()) {
      running_ = true;
      return;
    }
    if (waitpid(pid_, nullptr, WNOHANG) != 0) return;
    poll(nullptr, 0, 10);
  }
  kill(-pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

Proxy::~Proxy() {
  if (running_) {
    kill(-pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  close(log_file_);
}

std::string Proxy::log() const {
  std::string text(static_cast<size_t>(lseek(log_file_, 0, SEEK_END)), '\0');
  const ssize_t n = pread(log_file_, text.data(), text.size(), 0);
  text.resize(n < 0 ? 0 : static_cast<size_t>(n));
  return text;
}

}  // namespace weir::e2e
