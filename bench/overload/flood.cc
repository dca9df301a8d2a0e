#include "bench/overload/flood.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <stdexcept>

namespace weir::bench {
namespace {

constexpr double kLightEvery = 0.01;

double Seconds() {
  using Clock = std::chrono::steady_clock;
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

class Client {
 public:
  Client(const Wire& wire, int port) : wire_(wire), fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<uint16_t>(port));
    if (connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      throw std::runtime_error("cannot connect");
    }
    const int on = 1;
    setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    fcntl(fd_, F_SETFL, O_NONBLOCK);
    out_ = wire_.Greeting();
  }
  ~Client() { close(fd_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  uint64_t in_flight() const { return asked_ - answered_; }
  void Ask() { wire_.AppendRequest(asked_++, out_); }
  void Write() {
    if (out_.empty()) return;
    const ssize_t n = send(fd_, out_.data(), out_.size(), MSG_NOSIGNAL);
    if (n > 0) out_.erase(0, static_cast<size_t>(n));
  }
  Wire::Answers Read() {
    std::array<char, 65536> buffer;
    const ssize_t n = recv(fd_, buffer.data(), buffer.size(), 0);
    if (n == 0) throw std::runtime_error("the server closed a connection");
    if (n < 0) return {};
    in_.append(buffer.data(), static_cast<size_t>(n));
    const Wire::Answers answers = wire_.Take(in_);
    answered_ += answers.all();
    return answers;
  }

 private:
  const Wire& wire_;
  const int fd_;
  std::string in_, out_;
  uint64_t asked_ = 0, answered_ = 0;
};

}  // namespace

FloodResult Flood(const Wire& wire, int port, int connections, int in_flight, double per_second,
                  double seconds) {
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < connections; ++i) clients.push_back(std::make_unique<Client>(wire, port));
  Client light(wire, port);
  FloodResult result;
  Wire::Answers sum;
  const double start = Seconds(), warm = start + seconds / 4, end = warm + seconds;
  double asked = 0, light_due = start, light_asked = 0;
  for (double now = start; now < end; now = Seconds()) {
    for (const auto& client : clients) {
      for (const double due = (now - start) * per_second;
           client->in_flight() < static_cast<uint64_t>(in_flight) &&
           (per_second == 0 || asked < due);
           ++asked) {
        client->Ask();
        if (per_second != 0 && client->in_flight() % 16 == 0) break;  // spread over all
      }
      client->Write();
      const Wire::Answers answers = client->Read();
      if (now < warm) continue;
      sum.decided += answers.decided;
      sum.overloaded += answers.overloaded;
    }
    asked = std::max(asked, (now - start) * per_second - 1000);  // held back, and given up
    if (light.in_flight() == 0 && now >= light_due) {
      light.Ask();
      light_asked = light_due;
      light_due = std::max(light_due + kLightEvery, now);
    }
    light.Write();
    if (light.in_flight() > 0 && light.Read().all() > 0 && now >= warm) {
      result.light_ms.push_back((Seconds() - light_asked) * 1000);
    }
  }
  result.per_second = static_cast<double>(sum.all()) / seconds;
  result.decided_per_second = static_cast<double>(sum.decided) / seconds;
  std::sort(result.light_ms.begin(), result.light_ms.end());
  return result;
}

}  // namespace weir::bench
