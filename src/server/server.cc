#include "server/server.h"

#include <absl/strings/ascii.h>
#include <sys/resource.h>

#include "base/time_text.h"
#include "fronts/envoy/rate_limit_json.h"
#include "fronts/grpc/grpc_front.h"
#include "fronts/http/http_front.h"
#include "fronts/letters.h"
#include "fronts/poolcounter/poolcounter_front.h"
#include "fronts/resp/resp_front.h"
#include "limiter/rules_in_force.h"
#include "rules/read/coordination.h"
#include "rules/rulebook.h"
#include "server/data/private_files.h"
#include "server/machine_memory.h"
#include "server/routes/cluster_route.h"
#include "server/routes/config_routes.h"
#include "server/routes/openapi.h"
#include "server/routes/stats_route.h"
#include "server/version.h"

namespace weir {
namespace {

constexpr Duration kLookAtFilesEvery = std::chrono::milliseconds(500);

// As many connections as the machine allows.
void RaiseFileLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

size_t Threads(int wanted) {
  if (wanted > 0) return static_cast<size_t>(wanted);
  return std::max(1u, std::thread::hardware_concurrency());
}

// One line of the log for each.
void LogMistakes(spdlog::logger& log, std::string_view what, std::string_view mistakes) {
  while (!mistakes.empty()) {
    const size_t end = std::min(mistakes.find('\n'), mistakes.size());
    if (end > 0) log.error("{}: {}", what, mistakes.substr(0, end));
    mistakes.remove_prefix(std::min(end + 1, mistakes.size()));
  }
}

}  // namespace

Server::Server(const Settings& settings, Clock& clock, std::shared_ptr<spdlog::logger> log)
    : settings_(settings),
      clock_(clock),
      log_(std::move(log)),
      problems_(clock_, log_),
      access_({.token_file = settings_.token_file,
               .decisions_open = settings_.decisions_open,
               .metrics_open = settings_.metrics_open}),
      source_(settings_),
      reports_(clock) {}

Server::~Server() { Stop(); }

bool Server::Start() {
  RaiseFileLimit();
  if (!LoadSettings() || !CheckRole() || !OpenData() || !OpenCluster()) return false;
  if (!MakeConfig() || !MakeLimiter() || !MakeKeeper()) return false;
  connection_memory_ = std::make_unique<SharedBytes>(ConnectionMemory(settings_.connection_memory),
                                                     Threads(settings_.threads));
  for (size_t i = 0; i < Threads(settings_.threads); ++i) {
    workers_.push_back(
        std::make_unique<Worker>(clock_,
                                 WorkerLimits{.connections = settings_.max_connections,
                                              .request_deadline = settings_.request_timeout,
                                              .session_timeout = settings_.session_timeout,
                                              .deadline = settings_.deadline},
                                 *connection_memory_));
  }
  MakeFronts();
  config_->Start(*limiter_);
  reports_.Start();
  if (!config_->read_only().empty()) config_->Show(limiter_->rules());
  if (follower_ != nullptr) {
    follower_->Start([this](std::shared_ptr<const Rulebook> rules) { Put(std::move(rules)); });
  }
  if (!OpenPorts()) return false;
  if (keeper_ != nullptr) keeper_->Start();
  if (cluster_ != nullptr && !JoinCluster()) return false;
  for (size_t i = 0; i < workers_.size(); ++i) workers_[i]->Start(static_cast<int>(i));
  TellWhetherReady();
  for (const Problems::Problem& problem : problems_.All()) {
    if (TraitsOf(problem.kind).stops) log_->warn("not ready: {}", problem.message);
  }
  return true;
}

void Server::TellWhetherReady() {
  const bool ready = problems_.ready();
  if (told_ready_ == ready) return;
  told_ready_ = ready;
  if (grpc_ != nullptr) grpc_->health().SetServing(ready);
  if (ready) log_->info("ready");
}

// Nobody is answered before this node knows what the others know, or has waited long enough.
bool Server::JoinCluster() {
  problems_.Raise(ProblemKind::kJoining, "asking the other nodes what they know");
  cluster_->Start();
  cluster_->AwaitReady();
  problems_.Clear(ProblemKind::kJoining);
  return !cluster_->yielded();
}

bool Server::LoadSettings() {
  for (const std::string& hop : settings_.trusted_hops) {
    if (http::ParseNetwork(hop)) continue;
    log_->error("--trusted-hops: \"{}\" is not a network such as 10.0.0.0/8", hop);
    return false;
  }
  for (const std::string& origin : settings_.cors) {
    const size_t scheme = origin.find("://");
    const bool path = origin.find('/', scheme + 3) != std::string::npos;
    if (origin == "*" || (scheme != std::string::npos && scheme > 0 && !path)) continue;
    log_->error("--cors: \"{}\" is not an origin such as https://shop.example, or *", origin);
    return false;
  }
  if (const std::optional<Error> error = access_.Load()) {
    log_->error("{}", error->message);
    return false;
  }
  if (!access_.decisions_open() && settings_.poolcounter != kOff) {
    log_->error(
        "--poolcounter has no word for a token: with --token-file it needs --decisions-open");
    return false;
  }
  return true;
}

bool Server::CheckRole() {
  const bool follows = settings_.role == ServerRole::kLimiter;
  const char* wrong = nullptr;
  if (follows && settings_.config_from.empty()) {
    wrong = "--role limiter needs --config-from ADDRESS: whose configuration it follows";
  } else if (!follows && !settings_.config_from.empty()) {
    wrong = "--config-from goes with --role limiter";
  } else if (!follows && settings_.config_tls.any()) {
    wrong = "--config-tls-… goes with --config-from https://HOST:PORT";
  } else if (follows &&
             (source_.watched() || !settings_.seed.empty() || !settings_.database.empty())) {
    wrong = "--role limiter has its rules from --config-from: no --config, --seed or --database";
  } else if (settings_.role == ServerRole::kConfig && settings_.http == kOff) {
    wrong = "--role config is served over HTTP: --http cannot be off";
  }
  if (wrong != nullptr) log_->error("{}", wrong);
  return wrong == nullptr;
}

bool Server::OpenCluster() {
  if (const std::string problem = ClusterProblem(settings_); !problem.empty()) {
    log_->error("{}", problem);
    return false;
  }
  if (settings_.cluster.empty()) return true;
  Result<std::unique_ptr<ClusterService>> cluster =
      ClusterService::Open(settings_, data_.get(), clock_, log_, problems_);
  if (!cluster) {
    log_->error("{}", cluster.error().message);
    return false;
  }
  cluster_ = std::move(*cluster);
  log_->info("cluster on {} as {}", cluster_->address(), settings_.node);
  for (const std::string& note : PerNodeNotes(settings_)) log_->warn("{}", note);
  if (settings_.peers.empty()) {
    problems_.Raise(ProblemKind::kNoPeers, "--peers is empty: this node has nobody to talk to");
  }
  return true;
}

bool Server::OpenData() {
  if (settings_.data.empty()) return true;
  Result<std::unique_ptr<DataDirectory>> data = DataDirectory::Open(settings_.data);
  if (!data) {
    log_->error("{}", data.error().message);
    return false;
  }
  data_ = std::move(*data);
  WarnIfOpen(data_->path(), *log_);
  Tighten(data_->Files(), *log_);
  if (settings_.role == ServerRole::kConfig) return true;
  Result<std::unique_ptr<StateFile>> states = StateFile::Open(data_->state());
  Result<std::unique_ptr<HoldMark>> mark = HoldMark::Open(data_->holds());
  if (!states || !mark) {
    log_->error("{}", !states ? states.error().message : mark.error().message);
    return false;
  }
  states_ = std::move(*states);
  mark_ = std::move(*mark);
  return true;
}

bool Server::MakeConfig() {
  std::string read_only;
  if (source_.watched()) {
    read_only = "the rules come from files (--config), which are the truth: change those";
  } else if (!settings_.config_from.empty()) {
    read_only =
        "the rules come from " + settings_.config_from + " (--config-from): change them there";
    Result<ServerUrl> url =
        ServerUrl::Parse(settings_.config_from, UrlKind::kHttp, settings_.config_tls.any());
    if (!url) {
      log_->error("--config-from: {}", url.error().message);
      return false;
    }
    follower_ = std::make_unique<ConfigFollower>(
        ConfigFollower::Options{.url = *url,
                                .token = settings_.config_token,
                                .tls = settings_.config_tls,
                                .copy = data_ == nullptr ? "" : data_->rules_copy(),
                                .parse = OptionsOfRules(settings_)},
        log_, reloads_, problems_);
  }
  // Rules from elsewhere are only shown, from a database that lasts as long as the server.
  const std::string url = !read_only.empty()            ? ":memory:"
                          : !settings_.database.empty() ? settings_.database
                          : data_ != nullptr            ? data_->config()
                                                        : ":memory:";
  if (!settings_.database.empty()) Tighten(SqliteFiles(settings_.database), *log_);
  Result<std::unique_ptr<Database>> database = OpenDatabase(url);
  if (!database) {
    log_->error("{}", database.error().message);
    return false;
  }
  config_ = std::make_unique<ConfigService>(
      std::make_unique<ConfigStore>(std::move(*database),
                                    ConfigStore::Options{.parse = OptionsOfRules(settings_)}),
      ConfigService::Options{
          .read_only = read_only, .seed = settings_.seed, .parse = OptionsOfRules(settings_)},
      clock_, log_, reloads_, problems_);
  return true;
}

// Null, having logged why, if there are none to begin with.
std::shared_ptr<const Rulebook> Server::FirstRules() {
  if (source_.watched()) {
    std::string errors;
    std::shared_ptr<const Rulebook> rules = source_.Load(&errors);
    if (rules == nullptr) LogMistakes(*log_, "the rules cannot be read", errors);
    return rules;
  }
  if (follower_ != nullptr) {
    std::shared_ptr<const Rulebook> rules = follower_->Load();
    if (rules != nullptr) return rules;
    reloads_.last_failed.store(true);  // there, but not ready
    problems_.Raise(ProblemKind::kNoRules,
                    "there are no rules yet: " + settings_.config_from +
                        " (--config-from) gave none" +
                        (data_ == nullptr ? ", and without --data no copy is kept"
                                          : ", and there is no copy in --data"));
    return std::make_shared<Rulebook>(std::vector<Namespace>{});
  }
  const Result<std::shared_ptr<const Rulebook>> rules = config_->Load();
  if (rules) return *rules;
  LogMistakes(*log_, "the rules cannot be read", rules.error().message);
  // A database elsewhere may come yet: until then the server is there, but not ready.
  if (settings_.database.empty() || rules.error().code != Code::kUnavailable) return nullptr;
  reloads_.last_failed.store(true);
  problems_.Raise(
      ProblemKind::kNoRules,
      "there are no rules yet: the database (--database) cannot be read: " + rules.error().message);
  return std::make_shared<Rulebook>(std::vector<Namespace>{});
}

// "weir 0.1.0: rules from rules.yaml: 1 namespace, 2 resources, 5 limits"
void Server::TellWhatThisIs(const Rulebook& rules) {
  const auto count = [](size_t n, std::string_view what) {
    return std::to_string(n) + " " + std::string(what) + (n == 1 ? "" : "s");
  };
  log_->info("weir {}: rules from {}: {}, {}, {}", Version(), WhereRulesComeFrom(),
             count(rules.namespaces().size(), "namespace"),
             count(rules.resource_count(), "resource"), count(rules.limit_count(), "limit"));
}

std::string Server::WhereRulesComeFrom() const {
  if (source_.watched()) {
    const bool both = !settings_.config.empty() && !settings_.ratelimit_config.empty();
    return settings_.config + (both ? " and " : "") + settings_.ratelimit_config;
  }
  if (!settings_.config_from.empty()) return settings_.config_from + " (--config-from)";
  if (!settings_.database.empty())
    return "the database (--database)";  // its URL may have a password
  return data_ != nullptr ? data_->config() : "a database in memory";
}

bool Server::MakeLimiter() {
  std::shared_ptr<const Rulebook> rules = FirstRules();
  if (rules == nullptr) return false;
  TellWhatThisIs(*rules);
  LogWarnings(*rules, *log_);
  const Turn now(clock_);
  LimiterOptions options{
      .memory_bytes = settings_.memory_bytes, .node = settings_.node, .adhoc = settings_.adhoc};
  options.adhoc_replication =
      ReplicationOf(CoordinationOfFlag(settings_.adhoc_coordination).value_or(Coordination{}));
  // Where nobody is refused for being late, a store that does not answer is not waited for without end.
  options.deadline =
      settings_.deadline > Duration::zero() ? settings_.deadline : settings_.request_timeout;
  if (states_ != nullptr) options.secret = states_->secret();
  if (cluster_ != nullptr) options.secret = cluster_->hash_secret();
  if (mark_ != nullptr) {
    options.holds_outstanding = mark_->outstanding();
    if (mark_->left_behind()) {
      options.no_copies_for = settings_.session_timeout;
      copies_from_ = After(now, settings_.session_timeout);
      log_->warn(
          "the last server ended without notice while copies were held: no copies are "
          "granted for {}",
          SpokenDuration(settings_.session_timeout));
    }
  }
  limiter_ = std::make_unique<Limiter>(std::move(rules), options, now);
  if (cluster_ != nullptr) cluster_->Share(*limiter_);
  return true;
}

bool Server::MakeKeeper() {
  if (states_ == nullptr) {
    if (settings_.role != ServerRole::kConfig && !limiter_->PersistentLimits().empty()) {
      log_->warn("limits with `persist` are forgotten when this server stops: there is no --data");
    }
    return true;
  }
  keeper_ = std::make_unique<StateKeeper>(std::move(states_), settings_.persist_interval, *limiter_,
                                          clock_, problems_);
  const std::optional<Error> error = keeper_->Restore();
  if (error) log_->error("the use that was kept cannot be read: {}", error->message);
  return !error;
}

void Server::Put(std::shared_ptr<const Rulebook> rules) {
  LogWarnings(*rules, *log_);
  config_->Show(rules);
  limiter_->Install(std::move(rules), clock_.Now());
}

void Server::Tick(const Turn& now) {
  limiter_->Tick(now);
  if (mark_ != nullptr && now.at() >= copies_from_) mark_->Recovered();
  TellWhetherReady();
  if (now.at() - looked_ < kLookAtFilesEvery) return;
  looked_ = now;
  if (cluster_ != nullptr) cluster_->TellProblems();
  if (source_.Changed()) ReloadRules();
}

void Server::Reload() {
  ReloadRules();
  if (const std::optional<Error> error = access_.Load()) {
    problems_.Raise(ProblemKind::kTokensUnreadable,
                    "the old tokens stay; mend the file and send SIGHUP: " + error->message);
  } else if (access_.has_tokens()) {
    problems_.Clear(ProblemKind::kTokensUnreadable);
    log_->info("the tokens of {} are in force", settings_.token_file);
  }
  for (const auto& tls : tls_) {
    const Result<bool> loaded = tls->Reload();
    if (loaded) {
      problems_.Clear(ProblemKind::kCertificateUnreadable);
    } else {
      problems_.Raise(
          ProblemKind::kCertificateUnreadable,
          "the old certificate stays; mend the files and send SIGHUP: " + loaded.error().message);
    }
  }
  if (cluster_ != nullptr) cluster_->ReloadKeys();
}

void Server::ReloadRules() {
  if (!source_.watched()) return;
  std::string errors;
  std::shared_ptr<const Rulebook> rules = source_.Load(&errors);
  reloads_.last_failed.store(rules == nullptr);
  if (rules == nullptr) {
    // What the log says holds by then.
    reloads_.failed.fetch_add(1);
    problems_.Raise(ProblemKind::kRulesUnreadable,
                    "the old rules stay; mend the file, `weir check` shows all mistakes: " +
                        errors.substr(0, errors.find('\n')));
    LogMistakes(*log_, "the old rules stay", errors);
    return;
  }
  Put(std::move(rules));
  reloads_.done.fetch_add(1);
  problems_.Clear(ProblemKind::kRulesUnreadable);
  log_->info("new rules are in force");
}

void Server::Drain() {
  problems_.Raise(ProblemKind::kDraining, "told to stop: open requests end, new ones go elsewhere");
  TellWhetherReady();
  config_->Drain();
  for (const auto& worker : workers_) worker->Drain();
}

bool Server::drained() const {
  for (const auto& worker : workers_) {
    if (worker->open() > 0) return false;
  }
  return true;
}

void Server::Stop() {
  if (follower_ != nullptr) follower_->Stop();
  if (config_ != nullptr) config_->Stop();
  reports_.Stop();
  for (const auto& worker : workers_) worker->Stop();
  if (cluster_ != nullptr) cluster_->Stop();  // nobody decides any more
  if (keeper_ != nullptr) keeper_->Stop();
  if (mark_ != nullptr) mark_->StopInOrder();
}

}  // namespace weir
