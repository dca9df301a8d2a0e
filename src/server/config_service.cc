#include "server/config_service.h"

#include <pthread.h>

#include "rules/print/print.h"
#include "server/rules_source.h"

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
                             ReloadCounters& reloads, Problems& problems)
    : options_(options),
      clock_(clock),
      log_(std::move(log)),
      reloads_(reloads),
      problems_(problems),
      store_(std::move(store)) {}

ConfigService::~ConfigService() { Stop(); }

Result<std::shared_ptr<const Rulebook>> ConfigService::Load() {
  const Result<uint64_t> version = store_->Refresh();
  if (!version) return version.error();
  if (std::optional<Error> error = Seed(Turn(clock_))) return *error;
  return installed_ = store_->rules();
}

std::optional<Error> ConfigService::Seed(const Turn& now) {
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
  Submit([rules = std::move(rules)](ConfigStore& store, const Turn& now) -> Reply {
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
    if (next.work) {
      const Turn now(clock_);
      if (now.at() - next.since < kLongestQueued) {
        const Reply reply = next.work(*store_, now);
        InstallNew();
        reply();
      }
    }
    const Turn now(clock_);
    if (now.at() - looked_ >= kLookAtDatabaseEvery) Look(now);
    WakeWaiters(now, draining);
  }
  WakeWaiters(Turn(clock_), true);
}

void ConfigService::Look(const Turn& now) {
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
    trouble_.clear();
    reloads_.last_failed.store(false);
    problems_.Clear(ProblemKind::kDatabaseAway);
    problems_.Clear(ProblemKind::kRulesUnreadable);
    return InstallNew();
  }
  Note(*error);
}

void ConfigService::Note(const Error& error) {
  if (trouble_ == error.message) return;
  trouble_ = error.message;
  // Rules that were read stay in force, whether the database is away or has bad ones.
  const bool bad = error.code == Code::kBadRequest;
  if (installed_ == nullptr || bad) {
    reloads_.last_failed.store(true);
    reloads_.failed.fetch_add(1);
  }
  if (bad) {
    problems_.Raise(
        ProblemKind::kRulesUnreadable,
        "the old rules stay; mend those in the database (weir config): " + error.message);
  } else {
    problems_.Raise(ProblemKind::kDatabaseAway,
                    "the old rules stay and cannot be changed until the database answers "
                    "(--database): " +
                        error.message);
  }
}

void ConfigService::Freshen() {
  if (!trouble_.empty()) return;
  const Result<uint64_t> version = store_->Refresh();
  if (!version) Note(version.error());
}

void ConfigService::InstallNew() {
  if (!options_.read_only.empty() || store_->rules() == nullptr || store_->rules() == installed_)
    return;
  if (installed_ != nullptr) {
    LogNewWarnings(*store_->rules(), *installed_, *log_);
  } else {
    LogWarnings(*store_->rules(), *log_);
  }
  installed_ = store_->rules();
  limiter_->Install(installed_, clock_.Now());
  reloads_.done.fetch_add(1);
  log_->info("new rules are in force: version {}", store_->version());
  problems_.Clear(ProblemKind::kNoRules);
}

void ConfigService::WakeWaiters(const Turn& now, bool all) {
  std::erase_if(waiters_, [&](const Waiter& waiter) {
    const bool over = all || waiter.since != store_->version() || waiter.until <= now.at();
    if (over) waiter.done(*store_);
    return over;
  });
}

}  // namespace weir
