#include "tests/e2e/cluster_nodes.h"

#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <string_view>

namespace weir::e2e {
namespace {

constexpr char kRules[] =
    "namespaces: {shop: {resources: {search: {limits: "
    "[{name: burst, limit: 3, per: 1h, coordination: replicated}]}}}}\n";

}  // namespace

ClusterNodes::ClusterNodes() {
  rules_ = files_.Write("rules.yaml", kRules);
  key_ = WriteKey("key", "0123456789abcdef0123456789abcdef");
}

std::string ClusterNodes::WriteKey(const std::string& name, const std::string& text, mode_t mode) {
  const std::string path = files_.Write(name, text);
  chmod(path.c_str(), mode);
  return path;
}

void ClusterNodes::Launch(const std::string& id, const std::string& address,
                          const std::string& peers, const std::string& key_file,
                          const std::vector<std::string>& environment) {
  nodes_.erase(id);
  nodes_[id] = std::make_unique<ServerProcess>(
      std::vector<std::string>{"--config", rules_, "--data", files_.path() + "/" + id, "--node", id,
                               "--cluster", address, "--cluster-key-file", key_file, "--peers",
                               peers},
      environment);
  ASSERT_TRUE(address.ends_with(":" + std::to_string(nodes_[id]->port("cluster"))))
      << nodes_[id]->log();
}

void ClusterNodes::Kill(const std::string& id) {
  nodes_[id]->Signal(SIGKILL);
  nodes_[id]->WaitForEnd();
}

ClusterNodes::Json ClusterNodes::Status(const std::string& id) {
  const std::string answer = HttpGet(nodes_[id]->port("http"), "/v1/cluster");
  const size_t body = answer.find("\r\n\r\n");
  return body == std::string::npos ? Json() : Json::parse(answer.substr(body + 4));
}

ClusterNodes::Json ClusterNodes::Peer(const std::string& id, const std::string& peer) {
  const Json status = Status(id);
  for (const Json& one : status["peers"]) {
    if (one["node"] == peer) return one;
  }
  return {};
}

int ClusterNodes::Alive(const std::string& id) {
  int alive = 0;
  const Json status = Status(id);
  for (const Json& one : status["peers"]) alive += one["alive"].get<bool>() ? 1 : 0;
  return alive;
}

bool ClusterNodes::AreWhole(Names ids, int others) {
  return std::all_of(ids.begin(), ids.end(), [&](const std::string& id) {
    return Alive(id) == others && Status(id)["ready"].get<bool>();
  });
}

uint64_t ClusterNodes::Rejected(const std::string& id, const std::string& reason) {
  return Status(id)["rejected"][reason].get<uint64_t>();
}

std::string ClusterNodes::Command(const std::string& id, const std::string& command) {
  Socket socket(nodes_[id]->port("resp"));
  socket.Send(command + " shop search ann\r\n");
  return socket.ReadUntil("reset_after");
}

bool ClusterNodes::Ask(const std::string& id) {
  return Command(id, "WEIR.REQUEST").find("allowed\r\n:1") != std::string::npos;
}

int ClusterNodes::Remaining(const std::string& id) {
  constexpr std::string_view kName = "remaining\r\n:";
  const std::string answer = Command(id, "WEIR.PEEK");
  const size_t at = answer.find(kName);
  return at == std::string::npos ? -1 : std::stoi(answer.substr(at + kName.size()));
}

bool ClusterNodes::Eventually(const std::function<bool()>& holds, std::chrono::seconds patience) {
  const auto until = std::chrono::steady_clock::now() + patience;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > until) return false;
  }
  return true;
}

}  // namespace weir::e2e
