#include "lab/replicated/variants.h"

#include "replication/counter_replica.h"
#include "replication/debt_replica.h"
#include "replication/queue_replica.h"

namespace weir::lab {
namespace {

MakeReplica Queue(const SpotifyExperiment& experiment, uint64_t seed, bool linf, bool frequency) {
  return [=, interval = experiment.interval](Origin self, Instant) {
    return std::make_unique<QueueReplica>(self, QueueOptions{.interval = interval,
                                                             .linf = linf,
                                                             .frequency = frequency,
                                                             .seed = seed * 1000 + self.node});
  };
}

}  // namespace

std::vector<Variant> VariantsFor(const SpotifyExperiment& experiment, uint64_t seed) {
  const auto counter = [seed, interval = experiment.interval](bool whole_buckets) {
    return [=](Origin self, Instant) {
      return std::make_unique<CounterReplica>(self, CounterOptions{.interval = interval,
                                                                   .seed = seed * 1000 + self.node,
                                                                   .whole_buckets = whole_buckets});
    };
  };
  const auto debt = [](Origin self, Instant start) {
    return std::make_unique<DebtReplica>(self, DebtOptions{}, start);
  };
  return {{"counter", counter(true)},
          {"counter+rows", counter(false)},
          {"queue", Queue(experiment, seed, false, false)},
          {"queue+linf", Queue(experiment, seed, true, false)},
          {"queue+frequency", Queue(experiment, seed, false, true)},
          {"queue+both", Queue(experiment, seed, true, true)},
          {"debt", debt}};
}

}  // namespace weir::lab
