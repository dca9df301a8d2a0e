#include "server/cluster_service.h"

#include <sys/stat.h>

#include "base/random.h"
#include "server/incarnation.h"
#include "server/settle_elsewhere.h"

namespace weir {

using cluster::ClusterKey;
using cluster::ClusterThread;
using cluster::PeerSource;

std::string ClusterProblem(const Settings& settings) {
  if (settings.cluster.empty()) {
    if (!settings.peers.empty()) return "--peers goes with --cluster ADDRESS";
    if (!settings.cluster_key_file.empty()) return "--cluster-key-file goes with --cluster ADDRESS";
    return "";
  }
  if (settings.cluster_key_file.empty()) {
    return "--cluster needs --cluster-key-file FILE: the secret that all nodes share";
  }
  if (settings.node == Settings{}.node) {
    return "--cluster needs --node ID: each node has a name of its own";
  }
  if (settings.role == ServerRole::kConfig) {
    return "--role config decides nothing: it takes no part in a --cluster";
  }
  return "";
}

Result<ClusterKey> LoadClusterKey(const std::string& path) {
  const auto wrong = [&](const std::string& why) {
    return Error{Code::kBadRequest, "--cluster-key-file " + path + ": " + why, ""};
  };
  struct stat info {};
  const std::optional<std::string> text = cluster::ReadTextFile(path);
  if (!text || stat(path.c_str(), &info) != 0) return wrong("cannot be read");
  if ((info.st_mode & S_IRWXO) != 0) {
    return wrong("everybody on this machine may read or write it: chmod 600");
  }
  Result<ClusterKey> key = ClusterKey::FromText(*text);
  return key ? key : wrong(key.error().message);
}

Result<std::unique_ptr<ClusterService>> ClusterService::Open(const Settings& settings,
                                                             const DataDirectory* data,
                                                             Clock& clock,
                                                             std::shared_ptr<spdlog::logger> log) {
  const Result<ClusterKey> key = LoadClusterKey(settings.cluster_key_file);
  if (!key) return key.error();
  if (const std::string problem = cluster::IdProblem(settings.node); !problem.empty()) {
    return Error{Code::kBadRequest, "--node: " + problem, ""};
  }
  const Result<PeerSource> peers = PeerSource::Parse(settings.peers, settings.node);
  if (!peers) return Error{Code::kBadRequest, "--peers: " + peers.error().message, ""};
  const Result<uint32_t> incarnation =
      NextIncarnation(data == nullptr ? "" : data->incarnation(), clock.Now());
  if (!incarnation) return incarnation.error();

  ClusterThread::Options options{settings.cluster, *peers, *key, {}};
  options.node.id = settings.node;
  options.node.incarnation = *incarnation;
  options.node.first_sequence = 1 + UnguessableWord() % (uint64_t{1} << 47);
  options.node.membership.open = peers->kind == PeerSource::Kind::kDns;
  options.node.note = [log](const std::string& text) { log->info("cluster: {}", text); };
  Result<std::unique_ptr<ClusterThread>> thread = ClusterThread::Open(std::move(options), clock);
  if (!thread) return Error{Code::kUnavailable, "--cluster: " + thread.error().message, ""};

  std::unique_ptr<ClusterService> service(new ClusterService);
  service->hash_secret_ = key->HashSecret();
  service->thread_ = std::move(*thread);
  const Origin self{cluster::NodeNumber(settings.node), *incarnation};
  service->shared_ = std::make_unique<cluster::SharedLimits>(
      self, cluster::SharingOptions{.seed = UnguessableWord()}, clock.Now());
  service->shared_->OnWake([thread = service->thread_.get()] { thread->Wake(); });
  return service;
}

void ClusterService::Share(Limiter& limiter) {
  limiter_ = &limiter;
  limiter.SettleElsewhere([thread = thread_.get()](const SettleRequest& request, SettleDone done) {
    thread->Ask([ticket = request.ticket](std::string_view node) { return ticket.IsOf(node); },
                SettleQuestion(request),
                [done = std::move(done)](const cluster::Node::Answer& answer) {
                  done(ReadSettleAnswer(answer));
                });
  });
  shared_->OnNews(
      [&limiter](const Key& key, Instant now) { limiter.ApplyOthers(key.high, key.low, now); });
  limiter.ShareWith(shared_.get());
}

void ClusterService::Start() {
  thread_->Start(*shared_, [limiter = limiter_](std::string_view question, Instant now) {
    return SettleAnswer(*limiter, question, now);
  });
}

}  // namespace weir
