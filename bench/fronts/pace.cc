#include "bench/fronts/pace.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <deque>
#include <stdexcept>

namespace weir::bench {
namespace {

constexpr size_t kConnections = 16;
constexpr int kLinesOfAnAnswer = 6;  // of CL.THROTTLE: *5 and five integers

double Seconds() {
  using Clock = std::chrono::steady_clock;
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

struct Connection {
  int fd = -1;
  std::deque<double> due;  // of the commands that are not answered yet
  int lines = 0;           // of the answer that is coming

  explicit Connection(int port) : fd(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<uint16_t>(port));
    if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      throw std::runtime_error("cannot connect");
    }
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    fcntl(fd, F_SETFL, O_NONBLOCK);
  }

  void Read(std::vector<double>& waits) {
    std::array<char, 4096> buffer;
    const ssize_t n = recv(fd, buffer.data(), buffer.size(), 0);
    for (ssize_t i = 0; i < n; ++i) {
      if (buffer[static_cast<size_t>(i)] != '\n' || ++lines < kLinesOfAnAnswer) continue;
      lines = 0;
      waits.push_back((Seconds() - due.front()) * 1e6);
      due.pop_front();
    }
  }
};

}  // namespace

std::vector<double> PaceResp(int port, const std::string& command, double per_second,
                             double seconds) {
  std::vector<Connection> connections;
  for (size_t i = 0; i < kConnections; ++i) connections.emplace_back(port);
  std::vector<double> waits;
  const auto total = static_cast<size_t>(per_second * seconds);
  waits.reserve(total);
  const double start = Seconds();
  size_t sent = 0;
  while (waits.size() < total && Seconds() < start + seconds + 5) {
    for (; sent < total && Seconds() >= start + static_cast<double>(sent) / per_second; ++sent) {
      Connection& connection = connections[sent % kConnections];
      connection.due.push_back(start + static_cast<double>(sent) / per_second);
      if (send(connection.fd, command.data(), command.size(), 0) < 0) break;
    }
    for (Connection& connection : connections) {
      if (!connection.due.empty()) connection.Read(waits);
    }
  }
  for (const Connection& connection : connections) close(connection.fd);
  std::sort(waits.begin(), waits.end());
  return waits;
}

std::vector<double> PaceNothing(double per_second, double seconds) {
  std::vector<double> waits;
  const auto total = static_cast<size_t>(per_second * seconds);
  waits.reserve(total);
  const double start = Seconds();
  while (waits.size() < total) {
    const double due = start + static_cast<double>(waits.size()) / per_second;
    const double now = Seconds();
    if (now >= due) waits.push_back((now - due) * 1e6);
  }
  std::sort(waits.begin(), waits.end());
  return waits;
}

double Quantile(const std::vector<double>& sorted, double q) {
  if (sorted.empty()) return 0;
  const auto i = static_cast<size_t>(q * static_cast<double>(sorted.size()));
  return sorted[std::min(i, sorted.size() - 1)];
}

}  // namespace weir::bench
