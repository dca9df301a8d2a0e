#include "server/cluster_service.h"

#include <sys/stat.h>

#include <algorithm>
#include <cassert>

#include "base/random.h"
#include "server/data/incarnation.h"
#include "server/settle_elsewhere.h"

namespace weir {

using cluster::ClusterThread;
using cluster::KeyRing;
using cluster::PeerSource;

std::string ClusterProblem(const Settings& settings) {
  if (settings.cluster.empty()) {
    if (!settings.peers.empty()) return "--peers goes with --cluster ADDRESS";
    if (!settings.cluster_key_file.empty()) return "--cluster-key-file goes with --cluster ADDRESS";
    if (settings.adhoc_coordination != "local") {
      return "--adhoc-coordination " + settings.adhoc_coordination + " goes with --cluster ADDRESS";
    }
    if (settings.ratelimit_coordination != "local") {
      return "--ratelimit-coordination " + settings.ratelimit_coordination +
             " goes with --cluster ADDRESS";
    }
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

std::vector<std::string> PerNodeNotes(const Settings& settings) {
  std::vector<std::string> notes;
  if (settings.adhoc && settings.adhoc_coordination == "local") {
    notes.push_back(
        "limits that requests carry (CL.THROTTLE, a descriptor's own) are counted by each node "
        "alone, "
        "so that the cluster admits as many times the limit as it has nodes; "
        "--adhoc-coordination replicated counts them together");
  }
  if (!settings.ratelimit_config.empty() && settings.ratelimit_coordination == "local") {
    notes.push_back(
        "limits of --ratelimit-config that say nothing else are counted by each node alone; "
        "--ratelimit-coordination replicated counts them together");
  }
  return notes;
}

Result<KeyRing> LoadClusterKeys(const std::string& path) {
  const auto wrong = [&](const std::string& why) {
    return Error{Code::kBadRequest, "--cluster-key-file " + path + ": " + why, ""};
  };
  struct stat info {};
  const std::optional<std::string> text = cluster::ReadTextFile(path);
  if (!text || stat(path.c_str(), &info) != 0) return wrong("cannot be read");
  if ((info.st_mode & S_IRWXO) != 0) {
    return wrong("everybody on this machine may read or write it: chmod 600");
  }
  Result<KeyRing> keys = KeyRing::FromText(*text);
  return keys ? keys : wrong(keys.error().message);
}

Result<std::unique_ptr<ClusterService>> ClusterService::Open(const Settings& settings,
                                                             const DataDirectory* data,
                                                             Clock& clock,
                                                             std::shared_ptr<spdlog::logger> log,
                                                             Problems& problems) {
  const Result<KeyRing> keys = LoadClusterKeys(settings.cluster_key_file);
  if (!keys) return keys.error();
  if (const std::string problem = cluster::IdProblem(settings.node); !problem.empty()) {
    return Error{Code::kBadRequest, "--node: " + problem, ""};
  }
  const Result<PeerSource> peers = PeerSource::Parse(settings.peers, settings.node);
  if (!peers) return Error{Code::kBadRequest, "--peers: " + peers.error().message, ""};
  const Result<Incarnation> incarnation =
      NextIncarnation(data == nullptr ? "" : data->incarnation(), clock.Now());
  if (!incarnation) return incarnation.error();

  std::unique_ptr<ClusterService> service(new ClusterService);
  ClusterThread::Options options{settings.cluster, *peers, *keys, {}};
  options.node.id = settings.node;
  options.node.incarnation = incarnation->number;
  options.silent_until = After(clock.Now(), incarnation->silent_for);
  options.node.first_sequence = 1 + UnguessableWord() % (uint64_t{1} << 47);
  options.node.membership.open = peers->kind == PeerSource::Kind::kDns;
  options.node.birthmark = std::max<uint64_t>(1, UnguessableWord());
  options.node.names = keys->naming().MarkOfNames();
  options.node.note = [log](const std::string& text) { log->info("cluster: {}", text); };
  options.node.warn = [log](const std::string& text) { log->warn("cluster: {}", text); };
  options.yielded = [service = service.get()](const std::string&) { service->yielded_ = true; };
  Result<std::unique_ptr<ClusterThread>> thread = ClusterThread::Open(std::move(options), clock);
  if (!thread) return Error{Code::kUnavailable, "--cluster: " + thread.error().message, ""};

  service->key_file_ = settings.cluster_key_file;
  service->log_ = std::move(log);
  service->problems_ = &problems;
  service->hash_secret_ = keys->naming().HashSecret();
  service->thread_ = std::move(*thread);
  const Origin self{cluster::NodeNumber(settings.node), incarnation->number};
  service->replicated_ = std::make_unique<cluster::ReplicatedLimits>(
      self, cluster::ReplicationOptions{.seed = UnguessableWord()}, clock.Now());
  service->mailroom_.Give({EnvelopeKind::kCounter, EnvelopeKind::kQueue, EnvelopeKind::kDebt},
                          *service->replicated_);
  service->replicated_->OnWake([thread = service->thread_.get()] { thread->Wake(); });
  return service;
}

void ClusterService::Share(Limiter& limiter) {
  limiter_ = &limiter;
  limiter.SettleElsewhere([thread = thread_.get()](const SettleRequest& request, SettleDone done) {
    std::optional<std::string> question = SettleQuestion(request);
    if (!question) {
      return done(Error{Code::kUnavailable,
                        "the token has too many namespaces for a question to the ticket's node: "
                        "settle it there",
                        "ticket"});
    }
    thread->Ask([ticket = request.ticket](std::string_view node) { return ticket.IsOf(node); },
                std::move(*question),
                [done = std::move(done)](const cluster::Node::Answer& answer) {
                  done(ReadSettleAnswer(answer));
                });
  });
  replicated_->OnNews(
      [&limiter](const Key& key, Instant now) { limiter.ApplyOthers(key.high, key.low, now); });
  limiter.CoordinateWith(replicated_.get());
}

void ClusterService::TellProblems() {
  std::set<std::pair<ProblemKind, std::string>> now;
  for (const cluster::Problem& problem : thread_->Status().problems) {
    const auto traits =
        std::find_if(kProblemTraits.begin(), kProblemTraits.end(),
                     [&](const ProblemTraits& one) { return one.code == problem.code; });
    assert(traits != kProblemTraits.end());
    const auto kind = static_cast<ProblemKind>(traits - kProblemTraits.begin());
    problems_->Raise(kind, problem.message, problem.about);
    now.emplace(kind, problem.about);
  }
  for (const auto& [kind, about] : raised_) {
    if (!now.contains({kind, about})) problems_->Clear(kind, about);
  }
  raised_ = std::move(now);
}

void ClusterService::ReloadKeys() {
  const Result<KeyRing> keys = LoadClusterKeys(key_file_);
  if (!keys) {
    return problems_->Raise(
        ProblemKind::kClusterKeyUnreadable,
        "the old keys stay; mend the file and send SIGHUP: " + keys.error().message);
  }
  problems_->Clear(ProblemKind::kClusterKeyUnreadable);
  if (keys->naming().HashSecret() != hash_secret_) {
    log_->warn(
        "--cluster-key-file {}: once started again with it this node would name the keys of limits "
        "by another secret, and not count together with the others: add the line `names: KEY` with "
        "the key that was the first so far",
        key_file_);
  }
  thread_->SetKeys(*keys);
  log_->info("cluster: keys read again: seals with the first, opens with {}", keys->keys().size());
}

void ClusterService::Start() {
  thread_->Start(mailroom_, [limiter = limiter_](std::string_view question, Instant now) {
    return SettleAnswer(*limiter, question, now);
  });
}

}  // namespace weir
