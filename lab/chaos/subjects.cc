#include "lab/chaos/subjects.h"

#include "replication/counter_replica.h"
#include "replication/debt_replica.h"
#include "replication/queue_replica.h"

namespace weir::chaos {
namespace {

uint64_t SeedOf(const Scenario& s, Origin self) {
  return s.seed * 1000 + self.incarnation * 100 + self.node;
}

}  // namespace

Subject RealSubject(EnvelopeKind kind) {
  switch (kind) {
    case EnvelopeKind::kCounter:
      return {[](const Scenario& s, Origin self, Instant) {
        return std::make_unique<CounterReplica>(
            self, CounterOptions{.interval = s.timing.interval,
                                 .fan_out = s.timing.fan_out,
                                 .seed = SeedOf(s, self),
                                 .whole_buckets = s.timing.whole_buckets});
      }};
    case EnvelopeKind::kQueue:
      return {[](const Scenario& s, Origin self, Instant) {
        return std::make_unique<QueueReplica>(self, QueueOptions{.interval = s.timing.interval,
                                                                 .fan_out = s.timing.fan_out,
                                                                 .linf = s.timing.linf,
                                                                 .frequency = s.timing.frequency,
                                                                 .margin = s.timing.memory,
                                                                 .seed = SeedOf(s, self)});
      }};
    case EnvelopeKind::kDebt: break;
  }
  return {[](const Scenario& s, Origin self, Instant now) {
    return std::make_unique<DebtReplica>(self,
                                         DebtOptions{.patience = s.timing.patience,
                                                     .grace = s.timing.memory,
                                                     .heartbeat = s.timing.heartbeat},
                                         now);
  }};
}

}  // namespace weir::chaos
