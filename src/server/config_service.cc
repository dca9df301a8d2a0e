#include "server/config_service.h"

#include <pthread.h>

#include "rules/print.h"

namespace weir {
namespace {

constexpr Duration kLookAtDatabaseEvery = std::chrono::milliseconds(250);
constexpr std::chrono::milliseconds kWakeEvery(100);
constexpr size_t kMostQueued = 1000;
constexpr Duration kLongestQueued = std::chrono::seconds(10);
constexpr size_t kMostWaiters = 10'000;

ConfigPath Everything() { return *ConfigPath::Parse({"namespaces"}); }

}  // namespace

ConfigService::ConfigService(std::unique_ptr<ConfigStore> store, const Options& options,
                             Clock& clock, std::shared_ptr<spdlog::logger> log,
                             ReloadCounters& reloads)
    : options_(options),
      clock_(clock),
      log_(std::move(log)),
      reloads_(reloads),
      store_(std::move(store)) {}

ConfigService::~ConfigService() { Stop(); }

Result<std::shared_ptr<const Rulebook>> ConfigService::Load() {
  const Result<uint64_t> version = store_->Refresh();
  if (!version) return version.error();
  if (std::optional<Error> error = Seed(clock_.Now())) return *error;
  return installed_ = store_->rules();
}

std::optional<Error> ConfigService::Seed(Instant now) {
  if (options_.seed.empty() || store_->version() != 0) return std::nullopt;
  const Result<Json> tree = LoadNamespaces(options_.seed, options_.parse);
  if (!tree) return tree.error();
  const Writer writer{"seed", now, {.versions = {{0}}}};
  const Result<Written> written = store_->Put(Everything(), *tree, writer);
  // Another server was quicker.
  if (!written && written.error().code != Code::kConflict) return written.error();
  return std::nullopt;
}

void ConfigService::Start(Limiter& limiter) {
  limiter_ = &limiter;
  thread_ = std::thread([this] { Run(); });
  pthread_setname_np(thread_.native_handle(), "weir-config");
}

void ConfigService::Stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  some_.notify_one();
  thread_.join();
}

void ConfigService::Drain() {
  {
    const std::lock_guard lock(mutex_);
    draining_ = true;
  }
  some_.notify_one();
}

bool ConfigService::Submit(Work work) {
  const Instant now = clock_.Now();
  {
    const std::lock_guard lock(mutex_);
    if (stopping_ || queue_.size() >= kMostQueued) return false;
    queue_.push_back({now, std::move(work)});
  }
  some_.notify_one();
  return true;
}

void ConfigService::Show(std::shared_ptr<const Rulebook> rules) {
  Submit([rules = std::move(rules)](ConfigStore& store, Instant now) -> Reply {
    const Result<Json> tree = ReadRulesTree(PrintRules(*rules), "rules");
    if (tree && store.Refresh()) {
      store.Put(Everything(), tree->value("namespaces", Json::object()), {"elsewhere", now, {}});
    }
    return [] {};
  });
}

void ConfigService::Await(uint64_t since, Instant until, std::function<void(ConfigStore&)> done) {
  if (waiters_.size() >= kMostWaiters) return done(*store_);
  waiters_.push_back({since, until, std::move(done)});
}

void ConfigService::Run() {
  while (true) {
    Queued next{};
    bool draining = false;
    {
      std::unique_lock lock(mutex_);
      some_.wait_for(lock, kWakeEvery, [&] { return stopping_ || !queue_.empty(); });
      if (stopping_) break;
      draining = draining_;
      if (!queue_.empty()) {
        next = std::move(queue_.front());
        queue_.pop_front();
      }
    }
    const Instant now = clock_.Now();
    if (next.work && now - next.since < kLongestQueued) {
      const Reply reply = next.work(*store_, now);
      InstallNew(now);
      reply();
    }
    if (now - looked_ >= kLookAtDatabaseEvery) Look(now);
    WakeWaiters(now, draining);
  }
  WakeWaiters(clock_.Now(), true);
}

void ConfigService::Look(Instant now) {
  looked_ = now;
  if (!options_.read_only.empty() || (!store_->shared() && store_->rules() != nullptr)) return;
  const Result<uint64_t> version = store_->Refresh();
  std::optional<Error> error;
  if (!version) {
    error = version.error();
  } else {
    error = Seed(now);
  }
  if (!error) {
    if (!trouble_.empty()) log_->info("the configuration can be read again");
    trouble_.clear();
    reloads_.last_failed.store(false);
    return InstallNew(now);
  }
  Note(*error);
}

void ConfigService::Note(const Error& error) {
  if (trouble_ == error.message) return;
  trouble_ = error.message;
  // Rules that were read stay in force while the database is away; a server that has none, or is
  // shown bad ones, is not ready.
  if (installed_ == nullptr || error.code == Code::kBadRequest) {
    reloads_.last_failed.store(true);
    reloads_.failed.fetch_add(1);
  }
  log_->error("the old rules stay: {}", error.message);
}

void ConfigService::Freshen() {
  if (!trouble_.empty()) return;
  const Result<uint64_t> version = store_->Refresh();
  if (!version) Note(version.error());
}

void ConfigService::InstallNew(Instant now) {
  if (!options_.read_only.empty() || store_->rules() == nullptr || store_->rules() == installed_)
    return;
  installed_ = store_->rules();
  limiter_->Install(installed_, now);
  reloads_.done.fetch_add(1);
  log_->info("new rules are in force: version {}", store_->version());
}

void ConfigService::WakeWaiters(Instant now, bool all) {
  std::erase_if(waiters_, [&](const Waiter& waiter) {
    const bool over = all || waiter.since != store_->version() || waiter.until <= now;
    if (over) waiter.done(*store_);
    return over;
  });
}

}  // namespace weir
