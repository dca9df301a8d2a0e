#include "server/metrics/cluster_metrics.h"

#include <algorithm>

namespace weir {
namespace {

using cluster::PeerStatus;
using cluster::Traffic;

double Seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

void AddTraffic(const cluster::NodeStatus& status, MetricFamilies& all) {
  const auto add = [&](const std::string& name, const std::string& help, auto field) {
    for (const PeerStatus& peer : status.peers) {
      all.Counter(name, help, Number(peer.traffic.*field), {{"peer", peer.id}});
    }
  };
  add("weir_cluster_sent_bytes_total", "Bytes of datagrams to a peer", &Traffic::bytes_out);
  add("weir_cluster_received_bytes_total", "Bytes of datagrams from it", &Traffic::bytes_in);
  add("weir_cluster_sent_datagrams_total", "Datagrams to a peer", &Traffic::datagrams_out);
  add("weir_cluster_received_datagrams_total", "Datagrams from it", &Traffic::datagrams_in);
}

void AddAges(const cluster::NodeStatus& status, MetricFamilies& all) {
  const auto add = [&](const std::string& name, const std::string& help, auto field) {
    for (const PeerStatus& peer : status.peers) {
      if (peer.*field < Duration::zero()) continue;
      all.Gauge(name, help, Seconds(peer.*field), {{"peer", peer.id}});
    }
  };
  add("weir_cluster_staleness_seconds", "How old what a peer has told may be",
      &PeerStatus::staleness);
  add("weir_cluster_round_trip_seconds", "To a peer and back, when it was last measured",
      &PeerStatus::round_trip);
}

void AddCopies(const cluster::CopyCounts& copies, MetricFamilies& all) {
  const auto add = [&](const char* outcome, uint64_t n) {
    all.Counter("weir_cluster_copies_total",
                "Copies of a whole state: asked for, received, failed, given to others", Number(n),
                {{"outcome", outcome}});
  };
  add("asked", copies.asked);
  add("received", copies.received);
  add("failed", copies.failed);
  add("given", copies.given);
  all.Counter("weir_cluster_copied_bytes_total", "Bytes of such states", Number(copies.bytes_in),
              {{"direction", "in"}});
  all.Counter("weir_cluster_copied_bytes_total", "Bytes of such states", Number(copies.bytes_out),
              {{"direction", "out"}});
}

void AddQuestions(const cluster::QuestionCounts& questions, MetricFamilies& all) {
  const auto add = [&](const char* outcome, uint64_t n) {
    all.Counter("weir_cluster_questions_total",
                "Tickets of other nodes that were brought here: asked about, answered, unanswered; "
                "answers given to others",
                Number(n), {{"outcome", outcome}});
  };
  add("asked", questions.asked);
  add("answered", questions.answered);
  add("unanswered", questions.unanswered);
  add("given", questions.given);
}

void AddNames(const cluster::NodeStatus& status, MetricFamilies& all) {
  all.Counter("weir_cluster_names_refused_total",
              "Nodes that wanted the name of another which lives", Number(status.names_refused));
  all.Counter("weir_cluster_names_disputed_total",
              "How often another was met under this node's own name",
              Number(status.names_disputed));
}

}  // namespace

void AddClusterMetrics(const cluster::NodeStatus& status, MetricFamilies& all) {
  const auto alive = std::count_if(status.peers.begin(), status.peers.end(),
                                   [](const PeerStatus& peer) { return peer.alive; });
  all.Gauge("weir_cluster_peers", "Other nodes that are known", Number(status.peers.size()));
  all.Gauge("weir_cluster_peers_alive", "Those that live", static_cast<double>(alive));
  for (const PeerStatus& peer : status.peers) {
    all.Gauge("weir_cluster_peer_alive", "1 if it lives", peer.alive ? 1 : 0, {{"peer", peer.id}});
  }
  all.Gauge("weir_cluster_ready", "1 if this node has copied what the others know, or given up",
            status.ready ? 1 : 0);
  all.Gauge("weir_cluster_incarnation", "Of this node's life", Number(status.incarnation));
  AddTraffic(status, all);
  for (size_t i = 0; i < status.rejected.size(); ++i) {
    const std::string reason(cluster::RejectionName(static_cast<cluster::Rejection>(i)));
    all.Counter("weir_cluster_rejected_datagrams_total", "Datagrams that changed nothing",
                Number(status.rejected[i]), {{"reason", reason}});
  }
  AddNames(status, all);
  AddAges(status, all);
  AddCopies(status.copies, all);
  AddQuestions(status.questions, all);
}

void AddReplicationMetrics(const cluster::ReplicationCounts& counts, MetricFamilies& all) {
  all.Counter("weir_cluster_uses_total", "What was taken here of replicated limits, and told on",
              Number(counts.noted));
  all.Counter("weir_cluster_told_rows_total", "Rows of debts and windows that were told",
              Number(counts.told));
  all.Counter("weir_cluster_pushes_total", "Subjects that were told at once, for room was short",
              Number(counts.pushes));
  all.Counter("weir_cluster_merges_total", "Changes that others told, put into states here",
              Number(counts.merged));
  all.Counter("weir_cluster_deferred_total", "Of those, for windows that had not begun here",
              Number(counts.deferred));
  all.Counter("weir_cluster_subjects_turned_away_total", "Subjects not shared: too many",
              Number(counts.turned_away));
  all.Gauge("weir_cluster_subjects", "Subjects with something to remember", Number(counts.keys));
  all.Gauge("weir_cluster_subjects_bytes", "What they take", Number(counts.bytes));
}

}  // namespace weir
