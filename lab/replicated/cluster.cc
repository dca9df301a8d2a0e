#include "lab/replicated/cluster.h"

#include <algorithm>
#include <numeric>

#include "replication/ticks.h"

namespace weir::lab {
namespace {

constexpr uint64_t kDatagramHead = 28;  // IPv4 and UDP

}  // namespace

Cluster::Cluster(const MakeReplica& make, uint32_t nodes, const NetworkOptions& network,
                 uint64_t seed, Instant start)
    : network_(network), random_(seed), due_(nodes, kEndOfTime) {
  std::vector<uint32_t> all(nodes);
  std::iota(all.begin(), all.end(), 0);
  for (const uint32_t i : all) {
    nodes_.push_back(make({i, 1}, start));
    nodes_.back()->SetPeers(all);
    Schedule(i, start);
  }
}

void Cluster::RunUntil(Instant until) {
  while (!events_.empty() && events_.top().at <= until) {
    const Event event = events_.top();
    events_.pop();
    Handle(event);
  }
}

void Cluster::Handle(const Event& event) {
  if (event.letter == kTick) {
    if (due_[event.node] != event.at) return;  // it was put earlier meanwhile
    due_[event.node] = kEndOfTime;
    Send(nodes_[event.node]->Tick(event.at), event.at);
  } else {
    const std::string bytes = std::move(letters_[event.letter]);
    free_letters_.push_back(event.letter);
    bool good = false;
    Send(nodes_[event.node]->Receive(bytes, event.at, good), event.at);
  }
  Schedule(event.node, event.at);
}

bool Cluster::Admit(uint32_t node, const Key& key, const ReplicatedBucket& limit, uint64_t cost,
                    Instant now) {
  const bool admitted = nodes_[node]->Admit(key, limit, cost, now);
  Schedule(node, now);
  return admitted;
}

bool Cluster::Agree(const Key& key, const ReplicatedBucket& limit, Instant now) {
  const int128 token = Ticks(limit).per_token;
  int128 least = nodes_.front()->Level(key, limit, now), most = least;
  for (const auto& node : nodes_) {
    const int128 level = node->Level(key, limit, now);
    least = std::min(least, level);
    most = std::max(most, level);
    if (most - least >= token) return false;
  }
  return true;
}

void Cluster::Schedule(uint32_t node, Instant now) {
  const Instant at = std::max(now, nodes_[node]->NextTick());
  if (at >= due_[node]) return;
  due_[node] = at;
  events_.push({at, order_++, node, kTick});
}

void Cluster::Send(std::vector<Envelope> envelopes, Instant now) {
  for (Envelope& envelope : envelopes) {
    bytes_sent_ += kDatagramHead + envelope.bytes.size();
    envelopes_ += 1;
    int copies = random_.Unit() < network_.duplication ? 2 : 1;
    for (; copies > 0; --copies) {
      if (network_.loss > 0 && random_.Unit() < network_.loss) continue;
      Duration delay = network_.latency;
      if (network_.jitter > Duration::zero()) {
        delay += Duration(random_.Below(static_cast<uint64_t>(network_.jitter.count())));
      }
      const uint32_t letter = Keep(copies > 1 ? envelope.bytes : std::move(envelope.bytes));
      events_.push({now + delay, order_++, envelope.to, letter});
    }
  }
}

uint32_t Cluster::Keep(std::string bytes) {
  if (free_letters_.empty()) {
    letters_.push_back(std::move(bytes));
    return static_cast<uint32_t>(letters_.size() - 1);
  }
  const uint32_t letter = free_letters_.back();
  free_letters_.pop_back();
  letters_[letter] = std::move(bytes);
  return letter;
}

}  // namespace weir::lab
