#include "server/metrics/metrics.h"

#include <map>

#include "server/metrics/cluster_metrics.h"
#include "server/metrics/metric_families.h"
#include "server/version.h"

namespace weir {
namespace {

void AddDecisions(const LimiterCounts& counts, MetricFamilies& all) {
  const std::string name = "weir_decisions_total",
                    help = "Decisions, by the limit that refused (or would have, in shadow)";
  for (const ResourceCounts& resource : counts.resources) {
    const auto add = [&](const std::string& limit, const char* outcome, uint64_t n) {
      all.Counter(name, help, Number(n),
                  {{"namespace", resource.namespace_name},
                   {"resource", resource.resource},
                   {"limit", limit},
                   {"outcome", outcome}});
    };
    add("", "admitted", resource.total.admitted);
    for (const LimitCounts& limit : resource.limits) {
      add(limit.limit, "refused", limit.refused);
      if (limit.would_refuse > 0) add(limit.limit, "would_refuse", limit.would_refuse);
    }
  }
  for (const ResourceCounts& resource : counts.resources) {
    all.Counter("weir_admitted_cost_total", "Cost of what was admitted",
                Number(resource.total.cost),
                {{"namespace", resource.namespace_name}, {"resource", resource.resource}});
  }
  for (const DescriptorCounts& rule : counts.descriptors) {
    const auto add = [&](const char* outcome, uint64_t n) {
      all.Counter("weir_descriptor_decisions_total", "Decisions on descriptors, by rule", Number(n),
                  {{"namespace", rule.namespace_name}, {"rule", rule.rule}, {"outcome", outcome}});
    };
    add("ok", rule.ok);
    add("over_limit", rule.over);
    if (rule.would_refuse > 0) add("would_refuse", rule.would_refuse);
  }
  for (const bool admitted : {true, false}) {
    all.Counter("weir_adhoc_decisions_total", "Decisions on limits that requests carried",
                Number(admitted ? counts.adhoc.admitted : counts.adhoc.refused),
                {{"outcome", admitted ? "admitted" : "refused"}});
  }
}

// The counters of one front, of all workers together.
struct FrontSum {
  uint64_t accepted = 0, closed = 0, turned_away = 0, made_room = 0, timed_out = 0;
  uint64_t greedy = 0, refused = 0;
  uint64_t bytes_in = 0, bytes_out = 0, nanos = 0;
  int64_t held = 0;  // bytes of memory, of all workers
  std::array<uint64_t, LatencyHistogram::kBuckets> buckets{};

  void Add(const Worker::Served& served) {
    const PortCounters& port = *served.counters;
    held = served.memory->used();
    accepted += port.accepted.Get();
    closed += port.closed.Get();
    turned_away += port.turned_away.Get();
    made_room += port.made_room.Get();
    timed_out += port.timed_out.Get();
    greedy += port.greedy.Get();
    refused += port.refused.Get();
    bytes_in += port.bytes_in.Get();
    bytes_out += port.bytes_out.Get();
    nanos += port.batch.nanos.Get();
    for (size_t i = 0; i < buckets.size(); ++i) buckets[i] += port.batch.buckets[i].Get();
  }
};

void AddFronts(const std::map<std::string, FrontSum>& fronts, const SharedBytes& connections,
               MetricFamilies& all) {
  const auto counter = [&](const std::string& name, const std::string& help, auto field) {
    for (const auto& [front, sum] : fronts) {
      all.Counter(name, help, Number(sum.*field), {{"front", front}});
    }
  };
  for (const auto& [front, sum] : fronts) {
    all.Gauge("weir_connections", "Open connections",
              Number(sum.accepted > sum.closed ? sum.accepted - sum.closed : 0),
              {{"front", front}});
  }
  counter("weir_connections_total", "Connections accepted", &FrontSum::accepted);
  counter("weir_connections_turned_away_total", "Connections closed at once: no room for another",
          &FrontSum::turned_away);
  counter("weir_connections_made_room_total", "Idle connections closed to make room for others",
          &FrontSum::made_room);
  counter("weir_connections_timed_out_total", "Connections closed: a request did not end in time",
          &FrontSum::timed_out);
  counter("weir_connections_greedy_total",
          "Connections closed: they held the most when --connection-memory was used up",
          &FrontSum::greedy);
  for (const auto& [front, sum] : fronts) {
    all.Gauge("weir_connection_bytes",
              "Memory of open connections: unread requests, unsent answers, calls, TLS",
              static_cast<double>(sum.held), {{"front", front}});
  }
  all.Gauge("weir_connection_bytes_most",
            "What those of all fronts may take (--connection-memory); of one front, half of it",
            static_cast<double>(connections.most()));
  counter("weir_overloaded_total",
          "Requests that were not decided: they had waited longer than their deadline",
          &FrontSum::refused);
  counter("weir_received_bytes_total", "Bytes received", &FrontSum::bytes_in);
  counter("weir_sent_bytes_total", "Bytes sent", &FrontSum::bytes_out);
  for (const auto& [front, sum] : fronts) {
    auto& histogram =
        all.Histogram("weir_batch_seconds", "From reading some requests to having answered them",
                      {{"front", front}});
    uint64_t count = 0;
    double bound = 1e-6;
    for (size_t i = 0; i + 1 < sum.buckets.size(); ++i, bound *= 2) {
      count += sum.buckets[i];
      histogram.bucket.push_back({count, bound});
    }
    histogram.sample_count = count + sum.buckets.back();
    histogram.sample_sum = Number(sum.nanos) * 1e-9;
  }
}

// Of every kind, so that an alert sees 0 before it sees 1.
void AddProblems(const Problems& problems, MetricFamilies& all) {
  std::array<uint64_t, kProblemTraits.size()> count{};
  for (const Problems::Problem& problem : problems.All()) {
    ++count[static_cast<size_t>(problem.kind)];
  }
  all.Gauge("weir_ready", "1 if it may be asked for decisions, as /readyz answers",
            problems.ready() ? 1 : 0);
  for (size_t i = 0; i < count.size(); ++i) {
    all.Gauge("weir_problem", "What is wrong now, by code; /readyz tells it in words",
              Number(count[i]), {{"code", std::string(kProblemTraits[i].code)}});
  }
}

}  // namespace

std::string MetricsText(const Limiter& limiter, const std::vector<std::unique_ptr<Worker>>& workers,
                        const SharedBytes& connections, const ReloadCounters& reloads,
                        const Problems& problems, const PersistCounters* persisted,
                        ClusterService* cluster) {
  MetricFamilies all;
  all.Gauge("weir_info", "What is running", 1, {{"version", std::string(Version())}});
  AddProblems(problems, all);
  AddDecisions(limiter.AllCounts(), all);
  std::map<std::string, FrontSum> fronts;
  for (const auto& worker : workers) {
    for (const Worker::Served& served : worker->served()) {
      fronts[std::string(served.front)].Add(served);
    }
  }
  AddFronts(fronts, connections, all);
  const LimiterStats stats = limiter.Stats();
  all.Gauge("weir_keys", "States that are kept", Number(stats.keys));
  all.Gauge("weir_key_bytes", "Memory that they take", Number(stats.bytes));
  all.Counter("weir_keys_forgotten_total", "States dropped before their time: memory was full",
              Number(stats.forgotten));
  all.Counter("weir_keys_overloaded_total", "Newcomers turned away: memory was full",
              Number(stats.overloaded));
  all.Gauge("weir_open_tickets", "Requests whose cost is not settled yet",
            Number(stats.open_tickets));
  all.Gauge("weir_sessions", "Sessions that may hold copies", Number(stats.sessions));
  all.Gauge("weir_holds", "Holds: copies that a session has reserved", Number(stats.holds));
  all.Gauge("weir_transfers", "Transfers that nobody has seized yet", Number(stats.transfers));
  all.Gauge("weir_waiting", "Reservations that wait for copies", Number(stats.waiting));
  all.Gauge("weir_awaited", "Requests that wait for a store outside this process",
            Number(stats.awaited));
  for (const FailureCount& failure : stats.failures) {
    all.Counter("weir_degraded_total",
                "Requests in which limits did what they do on failure, by what had failed",
                Number(failure.count), {{"cause", std::string(failure.cause)}});
  }
  all.Gauge("weir_rules_version", "Rules that were put in force so far",
            Number(stats.rulebook_version));
  all.Counter("weir_reloads_total", "Reloads of the rules", Number(reloads.done.load()),
              {{"outcome", "done"}});
  all.Counter("weir_reloads_total", "Reloads of the rules", Number(reloads.failed.load()),
              {{"outcome", "failed"}});
  all.Gauge("weir_reload_last_failed", "1 if the rules as they are now could not be read",
            reloads.last_failed.load() ? 1 : 0);
  if (persisted != nullptr) {
    all.Counter("weir_persist_restored_total", "States that were taken up at the start",
                Number(persisted->restored.load()));
    all.Counter("weir_persist_saved_total", "States that were written down",
                Number(persisted->saved.load()));
    all.Counter("weir_persist_batches_total", "Batches of them", Number(persisted->batches.load()),
                {{"outcome", "done"}});
    all.Counter("weir_persist_batches_total", "Batches of them",
                Number(persisted->failed_batches.load()), {{"outcome", "failed"}});
    all.Counter("weir_persist_damaged_total",
                "States that were dropped: what was read is not what was written",
                Number(persisted->damaged.load()));
  }
  if (cluster != nullptr) {
    AddClusterMetrics(cluster->Status(), all);
    AddReplicationMetrics(cluster->Replication(), all);
  }
  return all.Text();
}

}  // namespace weir
