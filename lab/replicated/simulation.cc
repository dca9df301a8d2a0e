#include "lab/replicated/simulation.h"

#include <algorithm>
#include <queue>

#include <absl/container/flat_hash_map.h>

#include "base/random.h"

namespace weir::lab {
namespace {

constexpr uint64_t kDatagramHead = 28;  // IPv4 and UDP
constexpr Duration kSampleEvery = std::chrono::seconds(1);

Key KeyOf(uint32_t user) {
  static const KeyedHash hash({1, 2});
  return hash(std::to_string(user));
}

// An exact bucket, kept as a debt; what one limiter that sees every request would do.
class CentralBucket {
 public:
  uint64_t Debt(const SharedBucket& limit, Instant now) {
    BringTo(limit, now);
    return static_cast<uint64_t>((units_ + limit.per.count() - 1) / limit.per.count());
  }
  bool Fits(const SharedBucket& limit, uint64_t cost, Instant now) {
    BringTo(limit, now);
    return units_ + Units(cost, limit) <= Units(limit.capacity, limit);
  }
  void Charge(const SharedBucket& limit, uint64_t cost, Instant now) {
    BringTo(limit, now);
    units_ += Units(cost, limit);
  }

 private:
  static __int128 Units(uint64_t tokens, const SharedBucket& limit) {
    return static_cast<__int128>(tokens) * limit.per.count();
  }
  void BringTo(const SharedBucket& limit, Instant now) {
    units_ -= static_cast<__int128>((now - at_).count()) * limit.limit;
    units_ = std::max<__int128>(units_, 0);
    at_ = now;
  }
  __int128 units_ = 0;
  Instant at_{};
};

class Cluster {
 public:
  Cluster(const MakeReplica& make, const SimulationOptions& options, Instant start)
      : options_(options), random_(options.seed) {
    std::vector<uint32_t> all;
    for (uint32_t i = 0; i < options.nodes; ++i) all.push_back(i);
    for (const uint32_t i : all) {
      nodes_.push_back(make({i, 1}, start));
      nodes_.back()->SetPeers(all);
      due_.push_back(kEndOfTime);
      Schedule(i, start);
    }
    sample_at_ = start;
  }

  void RunUntil(Instant until) {
    while (!events_.empty() && events_.top().at <= until) {
      Event event = events_.top();
      events_.pop();
      Sample(event.at);
      if (event.bytes == nullptr) {
        if (due_[event.node] != event.at) continue;  // it was put earlier meanwhile
        due_[event.node] = kEndOfTime;
        Send(nodes_[event.node]->Tick(event.at), event.at);
      } else {
        bool good = false;
        Send(nodes_[event.node]->Receive(*event.bytes, event.at, good), event.at);
      }
      Schedule(event.node, event.at);
    }
    Sample(until);
  }

  bool Admit(uint32_t node, const Key& key, uint64_t cost, Instant now) {
    const bool admitted = nodes_[node]->Admit(key, options_.limit, cost, now);
    Schedule(node, now);
    return admitted;
  }
  void AddTo(Measured& measured) const {
    measured.bytes_sent = bytes_;
    measured.envelopes = envelopes_;
    measured.memory_peak_bytes = peak_;
    measured.memory_mean_bytes = samples_ == 0 ? 0 : sum_ / static_cast<double>(samples_);
  }

 private:
  struct Event {
    Instant at;
    uint64_t order = 0;
    uint32_t node = 0;
    std::shared_ptr<const std::string> bytes;  // null: the node's tick
    bool operator<(const Event& other) const {
      return std::tie(at, order) > std::tie(other.at, other.order);
    }
  };

  void Schedule(uint32_t node, Instant now) {
    const Instant at = std::max(now, nodes_[node]->NextTick());
    if (at >= due_[node]) return;
    due_[node] = at;
    events_.push({at, order_++, node, nullptr});
  }

  void Send(std::vector<Envelope> envelopes, Instant now) {
    const NetworkOptions& network = options_.network;
    for (Envelope& envelope : envelopes) {
      bytes_ += kDatagramHead + envelope.bytes.size();
      envelopes_ += 1;
      const auto bytes = std::make_shared<const std::string>(std::move(envelope.bytes));
      const int copies = random_.Unit() < network.duplication ? 2 : 1;
      for (int i = 0; i < copies; ++i) {
        if (network.loss > 0 && random_.Unit() < network.loss) continue;
        Duration delay = network.latency;
        if (network.jitter > Duration::zero()) {
          delay += Duration(
              static_cast<int64_t>(random_.Below(static_cast<uint64_t>(network.jitter.count()))));
        }
        events_.push({now + delay, order_++, envelope.to, bytes});
      }
    }
  }

  void Sample(Instant now) {
    for (; sample_at_ <= now; sample_at_ += kSampleEvery) {
      for (const auto& node : nodes_) {
        const size_t bytes = node->bytes();
        peak_ = std::max<uint64_t>(peak_, bytes);
        sum_ += static_cast<double>(bytes);
        samples_ += 1;
      }
    }
  }

  const SimulationOptions& options_;
  Random random_;
  std::vector<std::unique_ptr<Replica>> nodes_;
  std::vector<Instant> due_;  // the tick that counts
  std::priority_queue<Event> events_;
  uint64_t order_ = 0, bytes_ = 0, envelopes_ = 0, peak_ = 0, samples_ = 0;
  double sum_ = 0;
  Instant sample_at_{};
};

}  // namespace

Measured Simulate(const std::vector<SimulatedRequest>& requests, const MakeReplica& make,
                  const SimulationOptions& options) {
  Measured measured;
  if (requests.empty()) return measured;
  Cluster cluster(make, options, requests.front().at - std::chrono::seconds(1));
  absl::flat_hash_map<uint32_t, CentralBucket> central, truth;
  const KeyedHash spread({options.seed, 3});
  for (const SimulatedRequest& request : requests) {
    cluster.RunUntil(request.at);
    const auto place =
        spread(std::to_string(ToNanos(request.at)) + "/" + std::to_string(request.user));
    const auto node = static_cast<uint32_t>(place.low % options.nodes);
    measured.requests += 1;
    CentralBucket& one = central[request.user];
    if (one.Fits(options.limit, request.cost, request.at)) {
      one.Charge(options.limit, request.cost, request.at);
    } else {
      measured.refused_centrally += 1;
    }
    CentralBucket& true_debt = truth[request.user];
    if (cluster.Admit(node, KeyOf(request.user), request.cost, request.at)) {
      true_debt.Charge(options.limit, request.cost, request.at);
      const uint64_t debt = true_debt.Debt(options.limit, request.at);
      if (debt > options.limit.capacity) {
        measured.over_admission_max =
            std::max(measured.over_admission_max, debt - options.limit.capacity);
      }
    } else {
      measured.refused += 1;
      if (true_debt.Fits(options.limit, request.cost, request.at)) measured.wrongful_refusals += 1;
    }
  }
  cluster.RunUntil(requests.back().at + options.quiet);
  cluster.AddTo(measured);
  return measured;
}

}  // namespace weir::lab
