#include "bench/gossip/gossip.h"

#include <fmt/core.h>
#include <time.h>

#include <algorithm>
#include <memory>

#include "cluster/replicated_limits.h"

namespace weir::bench {
namespace {

using namespace std::chrono_literals;

constexpr ReplicatedBucket kLimit{10, 10, 1h};
constexpr double kMostMs = 5;

double CpuMs() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) * 1e-6;
}

Key KeyOf(uint64_t i) { return {(i + 1) * 0x9e3779b97f4a7c15, (i + 1) * 0xd1342543de82ef95}; }

std::unique_ptr<Replica> NewReplica(EnvelopeKind kind, uint32_t node, Instant now) {
  const cluster::ReplicationOptions options;
  const Origin self{node, 1};
  switch (kind) {
    case EnvelopeKind::kCounter: return std::make_unique<CounterReplica>(self, CounterOf(options));
    case EnvelopeKind::kQueue: return std::make_unique<QueueReplica>(self, QueueOf(options));
    case EnvelopeKind::kDebt: break;
  }
  return std::make_unique<DebtReplica>(self, options.debt, now);
}

// The calls of one kind, in the order in which they are made; of each the best of all rounds.
class Calls {
 public:
  explicit Calls(const char* what) : what_(what) {}
  void BeginRound() { next_ = 0; }
  template <typename Act>
  void Time(const Act& act) {
    const double begun = CpuMs();
    act();
    const double took = CpuMs() - begun;
    if (next_ == ms_.size()) ms_.push_back(took);
    ms_[next_] = std::min(ms_[next_], took);
    next_ += 1;
  }
  GossipRow Row(const std::string& whose) const {
    GossipRow row{.what = whose + ": " + what_, .calls = ms_.size()};
    double sum = 0;
    for (const double ms : ms_) {
      row.longest_ms = std::max(row.longest_ms, ms);
      sum += ms;
    }
    row.mean_us = sum * 1e3 / static_cast<double>(std::max<size_t>(1, ms_.size()));
    return row;
  }

 private:
  const char* what_;
  std::vector<double> ms_;
  size_t next_ = 0;  // of this round
};

struct AllCalls {
  Calls take{"Take"}, tick{"Tick"}, receive{"Receive"}, set_peers{"SetPeers"},
      count{"a part of counting its memory"};

  std::vector<Calls*> all() { return {&take, &tick, &receive, &set_peers, &count}; }
};

// Two nodes of a cluster; a third is never heard.
class Pair {
 public:
  Pair(EnvelopeKind kind, AllCalls& calls) : calls_(calls) {
    for (Calls* one : calls.all()) one->BeginRound();
    for (const uint32_t node : {0u, 1u}) nodes_.push_back(NewReplica(kind, node, now_));
    nodes_[0]->SetPeers({1, 2});
    nodes_[1]->SetPeers({0, 2});
  }

  void SetPeers(const std::vector<uint32_t>& peers) {
    calls_.set_peers.Time([&] { nodes_[0]->SetPeers(peers); });
  }
  void TakeOfAll(uint64_t keys) {
    for (uint64_t i = 0; i < keys; ++i) {
      calls_.take.Time([&] { nodes_[0]->Take(KeyOf(i), kLimit, 1, now_); });
    }
  }
  void Talk(Duration time) {
    for (const Instant end = now_ + time; now_ < end; now_ += 50ms) {
      for (const std::unique_ptr<Replica>& node : nodes_) {
        while (node->NextTick() <= now_) {
          std::vector<Envelope> out;
          calls_.tick.Time([&] { out = node->Tick(now_); });
          Deliver(out);
        }
      }
    }
  }
  void Wait(Duration time) { now_ += time; }
  void CountMemory() {
    for (MemoryCount count; !count.done;) {
      calls_.count.Time([&] {
        Steps steps;
        nodes_[0]->CountBytes(count, steps);
      });
    }
  }

 private:
  void Deliver(const std::vector<Envelope>& envelopes) {
    for (const Envelope& envelope : envelopes) {
      if (envelope.to >= nodes_.size()) continue;
      Replica& to = *nodes_[envelope.to];
      bool good = false;
      std::vector<Envelope> out;
      calls_.receive.Time([&] {
        out = to.Receive(envelope.bytes, now_, good);
        to.TakeChanges();
      });
      Deliver(out);
    }
  }

  AllCalls& calls_;
  Instant now_ = FromNanos(1'800'000'000'000'000'000);
  std::vector<std::unique_ptr<Replica>> nodes_;
};

void Run(EnvelopeKind kind, uint64_t keys, AllCalls& calls) {
  Pair pair(kind, calls);
  pair.TakeOfAll(keys);
  pair.Talk(6s);
  pair.CountMemory();
  pair.SetPeers({1, 2, 3});
  pair.Talk(3s);
  pair.SetPeers({1, 3});
  pair.Talk(3s);
  pair.Wait(3h);
  pair.Talk(6s);
}

}  // namespace

GossipResult MeasureGossip(const GossipOptions& options,
                           const std::function<void(const std::string&)>& progress) {
  GossipResult result;
  const std::pair<EnvelopeKind, const char*> kinds[] = {{EnvelopeKind::kCounter, "counter"},
                                                        {EnvelopeKind::kQueue, "queue"},
                                                        {EnvelopeKind::kDebt, "debt"}};
  for (const auto& [kind, name] : kinds) {
    AllCalls calls;
    for (int round = 0; round < options.rounds; ++round) {
      progress(fmt::format("{}, round {} of {}", name, round + 1, options.rounds));
      Run(kind, options.keys, calls);
    }
    double longest = 0;
    for (const Calls* one : calls.all()) {
      result.rows.push_back(one->Row(name));
      longest = std::max(longest, result.rows.back().longest_ms);
    }
    result.goals.push_back(
        {fmt::format("{}: the longest call that who decides waits for, ms", name), longest, kMostMs,
         true});
  }
  return result;
}

void PrintGossip(const GossipResult& result) {
  fmt::print("{:<40} {:>12} {:>14} {:>12}\n", "under the lock of who decides", "calls",
             "longest, ms", "mean, µs");
  for (const GossipRow& row : result.rows) {
    fmt::print("{:<40} {:>12} {:>14.2f} {:>12.2f}\n", row.what, row.calls, row.longest_ms,
               row.mean_us);
  }
  PrintGoals("goal", result.goals);
}

}  // namespace weir::bench
