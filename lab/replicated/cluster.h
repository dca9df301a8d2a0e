// Nodes that replicate limits, and the network between them, in simulated time.
//
// Events lie in a heap by time, and by the order in which they were made: the ticks of nodes and the
// arrivals of envelopes. A node is ticked when it asks to be, and after whatever it did it is asked
// again. Envelopes may be lost, doubled, delayed and so reordered, by chance from one seed.
#pragma once

#include <functional>
#include <memory>
#include <queue>
#include <string>
#include <vector>

#include "base/random.h"
#include "replication/replica.h"

namespace weir::lab {

struct NetworkOptions {
  Duration latency = std::chrono::milliseconds(1);
  Duration jitter{};  // added, uniformly: so envelopes overtake one another
  double loss = 0;
  double duplication = 0;
};

using MakeReplica = std::function<std::unique_ptr<Replica>(Origin self, Instant start)>;

class Cluster {
 public:
  Cluster(const MakeReplica& make, uint32_t nodes, const NetworkOptions& network, uint64_t seed,
          Instant start);

  // All that happens until then.
  void RunUntil(Instant until);
  bool Admit(uint32_t node, const Key& key, const ReplicatedBucket& limit, uint64_t cost,
             Instant now);
  // Whether all nodes see the same level, to less than a token.
  bool Agree(const Key& key, const ReplicatedBucket& limit, Instant now);

  const std::vector<std::unique_ptr<Replica>>& nodes() const { return nodes_; }
  uint64_t bytes_sent() const { return bytes_sent_; }  // with the heads of IP and UDP
  uint64_t envelopes() const { return envelopes_; }

 private:
  static constexpr uint32_t kTick = UINT32_MAX;
  struct Event {
    Instant at;
    uint64_t order = 0;
    uint32_t node = 0;
    uint32_t letter = kTick;  // in letters_
    bool operator<(const Event& other) const {
      return at != other.at ? at > other.at : order > other.order;
    }
  };

  void Handle(const Event& event);
  void Schedule(uint32_t node, Instant now);
  void Send(std::vector<Envelope> envelopes, Instant now);
  uint32_t Keep(std::string bytes);

  const NetworkOptions network_;
  Random random_;
  std::vector<std::unique_ptr<Replica>> nodes_;
  std::vector<Instant> due_;  // the tick that counts
  std::priority_queue<Event> events_;
  std::vector<std::string> letters_;  // under way
  std::vector<uint32_t> free_letters_;
  uint64_t order_ = 0, bytes_sent_ = 0, envelopes_ = 0;
};

}  // namespace weir::lab
