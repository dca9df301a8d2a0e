// A node of a cluster: any bytes may come as a datagram, from strangers and from peers that have the
// key, and as what a stream begins with. Strangers are never answered.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "cluster/node.h"
#include "replication/debt_replica.h"

namespace {

using weir::cluster::Node;

constexpr weir::Instant kNow = weir::FromNanos(1'700'000'000'000'000'000);

struct Counting : weir::cluster::Transport {
  void Send(const std::string&, std::string_view datagram) override {
    sent += 1;
    if (datagram.size() > weir::kMostDatagramBytes) std::abort();
  }
  void Fetch(const std::string&, std::string) override { sent += 1; }
  size_t sent = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto key = *weir::cluster::ClusterKey::FromText(std::string(32, 'k'));
  const weir::Origin self{weir::cluster::NodeNumber("a"), 1};
  const weir::Origin peer{weir::cluster::NodeNumber("b"), 1};
  weir::DebtReplica replica(self, {}, kNow);
  Counting transport;
  weir::cluster::NodeOptions options;
  options.id = "a";
  options.answer = [](std::string_view question, weir::Instant) { return std::string(question); };
  Node node(options, key, replica, transport, kNow);
  node.SetMembers({{"b", "there"}}, kNow);
  weir::cluster::Sealer sealer(key, peer, 1);
  switch (data[0] % 4) {
    case 0:
      node.Receive(bytes, "there", kNow);
      if (transport.sent > 0) std::abort();
      break;
    case 1: node.Receive(sealer.SealFor(self, bytes.substr(0, 1170)), "there", kNow); break;
    case 2: node.Receive(sealer.SealForAnybody(bytes.substr(0, 1170)), "there", kNow); break;
    case 3:
      node.AnswerStream(bytes, kNow);
      node.TakePiece(bytes, kNow);
      break;
  }
  node.Tick(kNow);
  return 0;
}
