// Replicas that talk over a network which may lose, duplicate, delay and so reorder envelopes; and
// the one bucket that they stand for. Time is virtual, chance is seeded.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

#include "base/random.h"
#include "replication/ticks.h"

namespace weir {

using namespace std::chrono_literals;

inline constexpr Instant kStart = FromNanos(1'700'000'000'000'000'000);
inline constexpr Key kSomeKey{1, 2};

// A token bucket with all that is known: a level, in ticks.
class CentralBucket {
 public:
  CentralBucket(const ReplicatedBucket& shape, Instant now)
      : shape_(shape), ticks_(shape), level_(ticks_.Of(shape.capacity)), at_(now) {}
  bool Admit(uint64_t cost, Instant now) {
    Refill(now);
    if (ticks_.Of(cost) > level_) return false;
    level_ -= ticks_.Of(cost);
    return true;
  }
  void Refund(uint64_t cost, Instant now) {
    Refill(now);
    level_ = std::min(level_ + ticks_.Of(cost), ticks_.Of(shape_.capacity));
  }

 private:
  void Refill(Instant now) {
    level_ = std::min(level_ + ticks_.In(now - at_), ticks_.Of(shape_.capacity));
    at_ = now;
  }

  ReplicatedBucket shape_;
  Ticks ticks_;
  int128 level_;
  Instant at_;
};

struct Faults {
  double lose = 0;
  double duplicate = 0;
  Duration delay{0};  // at most
};

template <typename SomeReplica>
class Cluster {
 public:
  using Make = std::function<std::unique_ptr<SomeReplica>(Origin)>;

  Cluster(uint32_t nodes, Make make, uint64_t seed = 1) : make_(std::move(make)), random_(seed) {
    for (uint32_t node = 0; node < nodes; ++node) replicas_.push_back(make_(Origin{node, 1}));
    for (uint32_t node = 0; node < nodes; ++node) Introduce(node);
  }

  Instant now = kStart;
  Faults faults;
  size_t told = 0;  // envelopes that tell something
  size_t most_bytes = 0;
  bool all_good = true;  // nobody refused an envelope

  SomeReplica& operator[](size_t node) { return *replicas_[node]; }
  size_t size() const { return replicas_.size(); }

  // Comes back without memory.
  void Restart(uint32_t node, uint32_t incarnation) {
    replicas_[node] = make_(Origin{node, incarnation});
    Introduce(node);
  }

  void RunFor(Duration d) {
    const Instant end = now + d;
    while (true) {
      Instant next = end;
      for (const auto& replica : replicas_) next = std::min(next, replica->NextTick());
      for (const Flying& flying : flying_) next = std::min(next, flying.at);
      now = std::max(now, next);
      if (now >= end) return;
      Deliver();
      for (auto& replica : replicas_) {
        if (replica->NextTick() <= now) Send(replica->Tick(now));
      }
    }
  }

  // For replicas without interval: talks until nobody owes anything; time stands still.
  bool Settle() {
    for (int round = 0; round < 10'000; ++round) {
      size_t owed = 0;
      for (auto& replica : replicas_) {
        Send(replica->Tick(now));
        Deliver();
        owed += replica->owed();
      }
      if (owed == 0) return true;
    }
    return false;
  }

  void Send(std::vector<Envelope> envelopes) {
    for (Envelope& envelope : envelopes) {
      most_bytes = std::max(most_bytes, envelope.bytes.size());
      told += EnvelopeReader(envelope.bytes).head().sequence > 0;
      if (random_.Unit() < faults.lose) continue;
      const bool twice = random_.Unit() < faults.duplicate;
      if (twice) flying_.push_back({Later(), envelope});
      flying_.push_back({Later(), std::move(envelope)});
    }
  }

 private:
  struct Flying {
    Instant at;
    Envelope envelope;
  };

  void Introduce(uint32_t node) {
    std::vector<uint32_t> peers;
    for (uint32_t other = 0; other < replicas_.size(); ++other) {
      if (other != node) peers.push_back(other);
    }
    replicas_[node]->SetPeers(peers);
  }
  Instant Later() {
    return now + Duration(random_.Below(static_cast<uint64_t>(faults.delay.count()) + 1));
  }
  void Deliver() {
    while (true) {
      const auto due = std::partition(flying_.begin(), flying_.end(),
                                      [&](const Flying& flying) { return flying.at > now; });
      if (due == flying_.end()) return;
      std::shuffle(due, flying_.end(), random_);
      const std::vector<Flying> arrived(due, flying_.end());
      flying_.erase(due, flying_.end());
      for (const Flying& flying : arrived) {
        bool good = false;
        Send(replicas_[flying.envelope.to]->Receive(flying.envelope.bytes, now, good));
        all_good = all_good && good;
      }
    }
  }

  Make make_;
  Random random_;
  std::vector<std::unique_ptr<SomeReplica>> replicas_;
  std::vector<Flying> flying_;
};

}  // namespace weir
