#include <fmt/core.h>

#include <map>

#include "lab/chaos/checks/checks.h"

namespace weir::chaos {
namespace {

class EnvelopeCheck final : public Observer {
 public:
  const char* name() const override { return "envelopes"; }

  void See(const Happening& h, const Cluster& cluster) override {
    if (h.what == What::kReceive && !h.good && Has(cluster.members(), h.other)) {
      Fail(h, fmt::format("node {} refuses an envelope of node {}", h.node, h.other));
    }
    for (const Envelope& envelope : h.sent) {
      if (envelope.bytes.size() > kMostEnvelopeBytes) {
        Fail(h,
             fmt::format("node {} sends {} bytes in one envelope", h.node, envelope.bytes.size()));
      }
      const EnvelopeHead head = EnvelopeReader(envelope.bytes).head();
      if (head.sender != cluster.origin(h.node) || head.kind != cluster.scenario().kind) {
        Fail(h, fmt::format("node {} sends under another's name", h.node));
      }
      // A debt's is the place in a list up to which it tells, not a number of its own.
      if (head.sequence == 0 || head.kind == EnvelopeKind::kDebt) continue;
      uint64_t& last = last_[{head.sender, envelope.to}];
      if (head.sequence <= last) {
        Fail(h, fmt::format("node {} sends number {} to node {} after number {}", h.node,
                            head.sequence, envelope.to, last));
      }
      last = head.sequence;
    }
  }

 private:
  std::map<std::pair<Origin, uint32_t>, uint64_t> last_;  // number, by sender and receiver
};

class TickCheck final : public Observer {
 public:
  const char* name() const override { return "ticks"; }

  void See(const Happening& h, const Cluster& cluster) override {
    OfNode& of = nodes_[h.node];
    if (h.what == What::kStart) of = {.since = h.at};
    if (h.what != What::kTick) return;
    const bool idle = h.sent.empty() && h.changes.empty();
    of.at_once = idle && h.at == of.last ? of.at_once + 1 : 0;
    of.idle += idle;
    of.last = h.at;
    const Duration often =
        std::min(cluster.scenario().timing.interval, cluster.scenario().timing.heartbeat);
    const auto most = 100 + 4 * static_cast<uint64_t>((h.at - of.since) / often);
    if (of.at_once > 2 || of.idle > most) {
      Fail(h, fmt::format("node {} asks to be ticked for nothing: {} times at once, {} in all",
                          h.node, of.at_once, of.idle));
    }
  }

 private:
  struct OfNode {
    Instant since = kStart;
    Instant last{};
    uint64_t at_once = 0, idle = 0;
  };
  std::map<uint32_t, OfNode> nodes_;
};

class MemoryCheck final : public Observer {
 public:
  const char* name() const override { return "memory"; }

  void See(const Happening& h, const Cluster& cluster) override {
    if (++seen_ % kEvery != 0 || !Has(cluster.members(), h.node) || !cluster.Up(h.node)) return;
    size_t rows = 0;
    for (uint32_t key = 0; key < cluster.scenario().keys(); ++key) {
      rows += cluster.rows(h.node, key).size() + 1;
    }
    const size_t peers = cluster.scenario().nodes();
    const size_t most = kAlways * peers + rows * (kOfRow + kOwed * peers);
    const size_t bytes = cluster.replica(h.node).bytes();
    if (bytes > most) {
      Fail(h, fmt::format("node {} takes {} bytes for {} rows", h.node, bytes, rows));
    }
  }

 private:
  static constexpr uint64_t kEvery = 64;
  static constexpr size_t kAlways = 16'384, kOfRow = 512, kOwed = 256;
  uint64_t seen_ = 0;
};

}  // namespace

std::unique_ptr<Observer> MakeEnvelopeCheck() { return std::make_unique<EnvelopeCheck>(); }
std::unique_ptr<Observer> MakeTickCheck() { return std::make_unique<TickCheck>(); }
std::unique_ptr<Observer> MakeMemoryCheck() { return std::make_unique<MemoryCheck>(); }

}  // namespace weir::chaos
