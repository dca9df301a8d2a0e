#include "server/server.h"

#include <absl/strings/ascii.h>
#include <sys/resource.h>

#include "fronts/envoy/rate_limit_json.h"
#include "fronts/grpc/grpc_front.h"
#include "fronts/http/http_front.h"
#include "fronts/poolcounter/poolcounter_front.h"
#include "fronts/resp/resp_front.h"
#include "rules/rulebook.h"
#include "server/cluster_route.h"
#include "server/config_routes.h"
#include "server/openapi.h"
#include "server/stats_route.h"
#include "server/version.h"

namespace weir {
namespace {

constexpr Duration kLookAtFilesEvery = std::chrono::milliseconds(500);
constexpr std::string_view kOff = "off";

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
    : settings_(settings), clock_(clock), log_(std::move(log)), source_(settings_) {}

Server::~Server() { Stop(); }

bool Server::Start() {
  RaiseFileLimit();
  if (!LoadSettings() || !CheckRole() || !OpenData() || !OpenCluster()) return false;
  if (!MakeConfig() || !MakeLimiter(clock_.Now()) || !MakeKeeper(clock_.Now())) return false;
  for (size_t i = 0; i < Threads(settings_.threads); ++i) {
    workers_.push_back(std::make_unique<Worker>(
        clock_, WorkerLimits{.connections = settings_.max_connections,
                             .request_deadline = settings_.request_timeout,
                             .session_timeout = settings_.session_timeout}));
  }
  MakeFronts();
  config_->Start(*limiter_);
  if (!config_->read_only().empty()) config_->Show(limiter_->rules());
  if (follower_ != nullptr) {
    follower_->Start(
        [this](std::shared_ptr<const Rulebook> rules) { Put(std::move(rules), clock_.Now()); });
  }
  if (!OpenPorts()) return false;
  if (keeper_ != nullptr) keeper_->Start();
  if (cluster_ != nullptr) JoinCluster();
  for (size_t i = 0; i < workers_.size(); ++i) workers_[i]->Start(static_cast<int>(i));
  log_->info("ready");
  return true;
}

// Nobody is answered before this node knows what the others know, or has waited long enough.
void Server::JoinCluster() {
  cluster_->Start();
  cluster_->AwaitReady();
}

bool Server::LoadSettings() {
  for (const std::string& hop : settings_.trusted_hops) {
    if (http::ParseNetwork(hop)) continue;
    log_->error("--trusted-hops: \"{}\" is not a network such as 10.0.0.0/8", hop);
    return false;
  }
  if (settings_.token_file.empty()) return true;
  Result<Tokens> tokens = Tokens::Load(settings_.token_file);
  if (!tokens) {
    log_->error("{}", tokens.error().message);
    return false;
  }
  tokens_ = std::move(*tokens);
  return true;
}

bool Server::CheckRole() {
  const bool follows = settings_.role == ServerRole::kLimiter;
  const char* wrong = nullptr;
  if (follows && settings_.config_from.empty()) {
    wrong = "--role limiter needs --config-from ADDRESS: whose configuration it follows";
  } else if (!follows && !settings_.config_from.empty()) {
    wrong = "--config-from goes with --role limiter";
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
      ClusterService::Open(settings_, data_.get(), clock_, log_);
  if (!cluster) {
    log_->error("{}", cluster.error().message);
    return false;
  }
  cluster_ = std::move(*cluster);
  log_->info("cluster on {} as {}", cluster_->address(), settings_.node);
  if (settings_.peers.empty()) log_->warn("--peers is empty: this node has nobody to talk to");
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
    Result<std::string> address = HttpAddress(settings_.config_from);
    if (!address) {
      log_->error("--config-from: {}", address.error().message);
      return false;
    }
    follower_ = std::make_unique<ConfigFollower>(
        ConfigFollower::Options{*address, settings_.config_token,
                                data_ == nullptr ? "" : data_->rules_copy(),
                                OptionsOfRules(settings_)},
        log_, reloads_);
  }
  // Rules from elsewhere are only shown, from a database that lasts as long as the server.
  const std::string url = !read_only.empty()            ? ":memory:"
                          : !settings_.database.empty() ? settings_.database
                          : data_ != nullptr            ? data_->config()
                                                        : ":memory:";
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
      clock_, log_, reloads_);
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
    return std::make_shared<Rulebook>(std::vector<Namespace>{});
  }
  const Result<std::shared_ptr<const Rulebook>> rules = config_->Load();
  if (rules) return *rules;
  LogMistakes(*log_, "the rules cannot be read", rules.error().message);
  // A database elsewhere may come yet: until then the server is there, but not ready.
  if (settings_.database.empty() || rules.error().code != Code::kUnavailable) return nullptr;
  reloads_.last_failed.store(true);
  return std::make_shared<Rulebook>(std::vector<Namespace>{});
}

bool Server::MakeLimiter(Instant now) {
  std::shared_ptr<const Rulebook> rules = FirstRules();
  if (rules == nullptr) return false;
  LimiterOptions options{
      .memory_bytes = settings_.memory_bytes, .node = settings_.node, .adhoc = settings_.adhoc};
  if (states_ != nullptr) options.secret = states_->secret();
  if (cluster_ != nullptr) options.secret = cluster_->hash_secret();
  if (mark_ != nullptr) {
    options.holds_outstanding = mark_->outstanding();
    if (mark_->left_behind()) {
      options.no_copies_for = settings_.session_timeout;
      copies_from_ = After(now, settings_.session_timeout);
      log_->warn(
          "the last server ended without notice while copies were held: no copies are "
          "granted for {} s",
          std::chrono::duration<double>(settings_.session_timeout).count());
    }
  }
  limiter_ = std::make_unique<Limiter>(std::move(rules), options, now);
  if (cluster_ != nullptr) cluster_->Share(*limiter_);
  return true;
}

bool Server::MakeKeeper(Instant now) {
  if (states_ == nullptr) {
    if (settings_.role != ServerRole::kConfig && !limiter_->PersistentLimits().empty()) {
      log_->warn("limits with `persist` are forgotten when this server stops: there is no --data");
    }
    return true;
  }
  keeper_ = std::make_unique<StateKeeper>(std::move(states_), settings_.persist_interval, *limiter_,
                                          clock_, log_);
  const std::optional<Error> error = keeper_->Restore(now);
  if (error) log_->error("the use that was kept cannot be read: {}", error->message);
  return !error;
}

void Server::Put(std::shared_ptr<const Rulebook> rules, Instant now) {
  config_->Show(rules);
  limiter_->Install(std::move(rules), now);
}

void Server::MakeFronts() {
  if (settings_.http != kOff) {
    HttpOptions options{.decides = settings_.role != ServerRole::kConfig};
    options.longest_session = settings_.session_timeout;
    for (const std::string& hop : settings_.trusted_hops) {
      options.trusted_hops.push_back(*http::ParseNetwork(hop));
    }
    options.json_rate_limit = [this](std::string_view body, Instant now) {
      auto [status, text] = AnswerJson(*limiter_, body, now);
      return HttpOptions::JsonAnswer{status, std::move(text)};
    };
    options.ready = [this] {
      const bool joined = cluster_ == nullptr || cluster_->ready();
      return !draining_.load() && !reloads_.last_failed.load() && joined;
    };
    auto http = std::make_unique<HttpFront>(*limiter_, std::move(options));
    AddServerRoutes(*http);
    fronts_.push_back(std::move(http));
  }
  if (settings_.role == ServerRole::kConfig) return;
  if (settings_.grpc != kOff) {
    auto grpc = std::make_unique<GrpcFront>(*limiter_);
    grpc_ = grpc.get();
    fronts_.push_back(std::move(grpc));
  }
  if (settings_.resp != kOff) {
    RespOptions options{.adhoc = settings_.adhoc, .version = std::string(Version())};
    if (tokens_.required()) {
      options.password = [this](std::string_view password) { return tokens_.Knows(password); };
    }
    fronts_.push_back(std::make_unique<RespFront>(*limiter_, std::move(options)));
  }
  if (settings_.poolcounter != kOff) {
    fronts_.push_back(std::make_unique<PoolCounterFront>(*limiter_));
  }
}

void Server::AddServerRoutes(HttpFront& http) {
  AddStatsRoute(http.routes(), *limiter_, tokens_);
  AddConfigRoutes(http.routes(), *config_, tokens_);
  AddClusterRoute(http.routes(), cluster_.get(), tokens_);
  http.routes().Add("GET", "/v1/openapi.json",
                    [](const http::HttpRequest&, http::Responder responder) {
                      responder.Send({.content_type = "application/json", .body = OpenApi()});
                    });
  http.routes().Add("GET", "/metrics", [this](const http::HttpRequest&, http::Responder responder) {
    const std::string text =
        MetricsText(*limiter_, workers_, reloads_,
                    keeper_ == nullptr ? nullptr : &keeper_->counters(), cluster_.get());
    responder.Send({.content_type = "text/plain; version=0.0.4; charset=utf-8", .body = text});
  });
}

bool Server::OpenPorts() {
  for (const auto& front : fronts_) {
    const std::string_view name = front->name();
    const std::string& address = name == "http"   ? settings_.http
                                 : name == "grpc" ? settings_.grpc
                                 : name == "resp" ? settings_.resp
                                                  : settings_.poolcounter;
    if (!OpenPort(*front, address)) return false;
  }
  return true;
}

bool Server::OpenPort(Front& front, const std::string& text) {
  Result<Address> address = Address::Parse(text);
  if (!address) {
    log_->error("--{}: {}", front.name(), address.error().message);
    return false;
  }
  const Tls* tls = nullptr;
  if (settings_.tls.any()) {
    auto opened = Tls::Open(settings_.tls, std::string(front.alpn()));
    if (!opened) {
      log_->error("{}", opened.error().message);
      return false;
    }
    tls_.push_back(std::move(*opened));
    tls = tls_.back().get();
  }
  // Sockets that share a port share it with those of another server as well, unseen: look first.
  Result<FileDescriptor> alone = Listen(*address, false);
  if (!alone) {
    log_->error("--{0}: {1}; --{0} ADDRESS or WEIR_{2} names another", front.name(),
                alone.error().message, absl::AsciiStrToUpper(std::string(front.name())));
    return false;
  }
  alone->Close();
  for (const auto& worker : workers_) {
    Result<FileDescriptor> socket = Listen(*address, true);
    if (!socket) {
      log_->error("--{}: {}", front.name(), socket.error().message);
      return false;
    }
    // Port 0 is any: the other workers listen on the one that the first was given.
    *address = Address::OfSocket(socket->get());
    worker->Serve({&front, *address, tls}, std::move(*socket));
  }
  listening_.push_back({std::string(front.name()), *address, tls != nullptr});
  log_->info("{} on {}{}", front.name(), address->ToString(), tls == nullptr ? "" : " (TLS)");
  return true;
}

void Server::Tick(Instant now) {
  limiter_->Tick(now);
  if (mark_ != nullptr && now >= copies_from_) mark_->Recovered();
  if (now - looked_ < kLookAtFilesEvery) return;
  looked_ = now;
  if (source_.Changed()) ReloadRules(now);
}

void Server::Reload(Instant now) {
  ReloadRules(now);
  for (const auto& tls : tls_) {
    const Result<bool> loaded = tls->Reload();
    if (!loaded) log_->error("the old certificate stays: {}", loaded.error().message);
  }
}

void Server::ReloadRules(Instant now) {
  if (!source_.watched()) return;
  std::string errors;
  std::shared_ptr<const Rulebook> rules = source_.Load(&errors);
  reloads_.last_failed.store(rules == nullptr);
  if (rules == nullptr) {
    reloads_.failed.fetch_add(1);
    LogMistakes(*log_, "the old rules stay", errors);
    return;
  }
  Put(std::move(rules), now);
  reloads_.done.fetch_add(1);
  log_->info("new rules are in force");
}

void Server::Drain() {
  draining_.store(true);
  config_->Drain();
  if (grpc_ != nullptr) grpc_->health().SetServing(false);
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
  for (const auto& worker : workers_) worker->Stop();
  if (cluster_ != nullptr) cluster_->Stop();  // nobody decides any more
  if (keeper_ != nullptr) keeper_->Stop();
  if (mark_ != nullptr) mark_->StopInOrder();
}

}  // namespace weir
