#include "bench/fronts/pace.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <string>

#include "bench/load_socket.h"

namespace weir::bench {
namespace {

constexpr size_t kConnections = 16;
constexpr int kLinesOfAnAnswer = 6;  // of CL.THROTTLE: *5 and five integers

double Seconds() {
  using Clock = std::chrono::steady_clock;
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

struct Connection {
  explicit Connection(int port) : socket(port) {}

  LoadSocket socket;
  std::string in, out;
  std::deque<double> due;  // of the commands that are not answered yet
  int lines = 0;           // of the answer that is coming

  void Read(std::vector<double>& waits) {
    if (!socket.TryReceive(in)) return;
    for (const char c : in) {
      if (c != '\n' || ++lines < kLinesOfAnAnswer) continue;
      lines = 0;
      waits.push_back((Seconds() - due.front()) * 1e6);
      due.pop_front();
    }
    in.clear();
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
      connection.out = command;
      connection.socket.TrySend(connection.out);
    }
    for (Connection& connection : connections) {
      if (!connection.due.empty()) connection.Read(waits);
    }
  }
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
