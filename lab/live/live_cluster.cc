#include "lab/live/live_cluster.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <stdexcept>
#include <thread>

#include "base/random.h"
#include "lab/live/free_port.h"

namespace weir::lab {
namespace {

std::string Rules(const LiveOptions& options) {
  std::string text = "namespaces:\n  live:\n    resources:\n";
  for (const std::string& variant : options.variants) {
    text += fmt::format(
        "      {}: {{limits: [{{limit: {}, per: {}ns, burst: {}, coordination: {}}}]}}\n", variant,
        options.limit.limit, options.limit.per.count(), options.limit.capacity,
        variant == "central" ? "local" : "{replicated: " + variant + "}");
  }
  return text;
}

std::string SecretKey() {
  std::string key;
  for (int i = 0; i < 4; ++i) key += fmt::format("{:016x}", UnguessableWord());
  return key;
}

int Connect(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    throw std::runtime_error("no connection to port " + std::to_string(port));
  }
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  const timeval patience{.tv_sec = 5, .tv_usec = 0};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  return fd;
}

// The length of a whole reply of the Redis protocol; 0 if there is more to come.
size_t LengthOfReply(std::string_view bytes) {
  const size_t line = bytes.find("\r\n");
  if (line == std::string_view::npos) return 0;
  long count = 0;
  std::from_chars(bytes.data() + 1, bytes.data() + line, count);
  size_t length = line + 2;
  if (bytes[0] == '$') length += count < 0 ? 0 : static_cast<size_t>(count) + 2;
  for (long i = 0; bytes[0] == '*' && i < count; ++i) {
    if (length > bytes.size()) return 0;
    const size_t element = LengthOfReply(bytes.substr(length));
    if (element == 0) return 0;
    length += element;
  }
  return length <= bytes.size() ? length : 0;
}

std::string Exchange(int fd, const std::string& command) {
  std::string reply;
  if (send(fd, command.data(), command.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(command.size())) {
    return reply;
  }
  std::array<char, 4096> buffer;
  while (LengthOfReply(reply) == 0) {
    const ssize_t n = recv(fd, buffer.data(), buffer.size(), 0);
    if (n <= 0) return "";
    reply.append(buffer.data(), static_cast<size_t>(n));
  }
  return reply;
}

std::string HttpGet(int port, const std::string& path) {
  const int fd = Connect(port);
  const std::string request =
      "GET " + path + " HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
  std::string reply;
  std::array<char, 4096> buffer;
  ssize_t n = send(fd, request.data(), request.size(), MSG_NOSIGNAL);
  while (n > 0) {
    n = recv(fd, buffer.data(), buffer.size(), 0);
    if (n > 0) reply.append(buffer.data(), static_cast<size_t>(n));
  }
  close(fd);
  return reply;
}

// How many others the node has heard.
size_t Heard(int port) {
  constexpr std::string_view kAlive = "\"alive\":true";
  const std::string status = HttpGet(port, "/v1/cluster");
  size_t count = 0;
  for (size_t at = status.find(kAlive); at != std::string::npos; at = status.find(kAlive, at + 1)) {
    ++count;
  }
  return count;
}

void AwaitOthers(int port, size_t others) {
  for (int tries = 0; Heard(port) < others; ++tries) {
    if (tries == 500) throw std::runtime_error("the nodes do not hear one another");
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

}  // namespace

LiveCluster::LiveCluster(const LiveOptions& options) : options_(options) {
  const std::string rules = files_.Write("rules.yaml", Rules(options));
  const std::string key = files_.Write("key", SecretKey());
  chmod(key.c_str(), S_IRUSR | S_IWUSR);
  std::string peers;
  std::vector<int> ports;
  for (uint32_t i = 0; i < options.nodes; ++i) {
    ports.push_back(FreePort());
    peers += fmt::format("{}n{}=127.0.0.1:{}", i == 0 ? "" : ",", i, ports.back());
  }
  for (uint32_t i = 0; i < options.nodes; ++i) {
    Node& node = nodes_.emplace_back();
    node.resp = FreePort();
    node.http = FreePort();
    node.server =
        std::make_unique<Program>(std::vector<std::string>{options.weir,
                                                           "serve",
                                                           "--config",
                                                           rules,
                                                           "--grpc",
                                                           "off",
                                                           "--http",
                                                           fmt::format("127.0.0.1:{}", node.http),
                                                           "--resp",
                                                           fmt::format("127.0.0.1:{}", node.resp),
                                                           "--node",
                                                           fmt::format("n{}", i),
                                                           "--cluster",
                                                           fmt::format("127.0.0.1:{}", ports[i]),
                                                           "--cluster-key-file",
                                                           key,
                                                           "--peers",
                                                           peers,
                                                           "--threads",
                                                           "1"},
                                  Program::kAnyCore);
  }
  for (const Node& node : nodes_) AwaitPort(node.resp);
  for (const Node& node : nodes_) AwaitOthers(node.http, nodes_.size() - 1);
}

LiveConnection::LiveConnection(int port) : port_(port), fd_(Connect(port)) {}

LiveConnection::~LiveConnection() { close(fd_); }

bool LiveConnection::Ask(const std::string& variant, const std::string& subject, uint64_t cost) {
  const std::string reply =
      Exchange(fd_, fmt::format("WEIR.REQUEST live {} {} COST {}\r\n", variant, subject, cost));
  // An array of names and values: allowed first.
  constexpr std::string_view kAllowed = "$7\r\nallowed\r\n:";
  const size_t at = reply.find(kAllowed);
  if (at == std::string::npos) {
    throw std::runtime_error(
        fmt::format("port {}: {}", port_, reply.empty() ? "no answer" : reply));
  }
  return reply[at + kAllowed.size()] == '1';
}

std::string LiveCluster::Status() const {
  return RunOn(Program::kAnyCore, {options_.weir, "cluster", "status", "--http",
                                   fmt::format("127.0.0.1:{}", nodes_.front().http)});
}

}  // namespace weir::lab
