#include "server/state_keeper.h"

#include <pthread.h>

namespace weir {
namespace {

constexpr size_t kPage = 1000;
constexpr Duration kLookAtRowsEvery = std::chrono::seconds(1);
constexpr Duration kFresh = std::chrono::minutes(1);  // written so lately: it is there still
constexpr Duration kLongestWithoutRule = std::chrono::hours(24 * 400);

}  // namespace

StateKeeper::StateKeeper(std::unique_ptr<StateFile> file, Duration interval, Limiter& limiter,
                         Clock& clock, std::shared_ptr<spdlog::logger> log)
    : file_(std::move(file)),
      interval_(interval),
      limiter_(limiter),
      clock_(clock),
      log_(std::move(log)) {}

std::optional<Error> StateKeeper::Restore(Instant now) {
  const uint64_t version = limiter_.Stats().rulebook_version;
  if (version == rules_version_) return std::nullopt;
  std::set<std::string> all, fresh;
  for (const std::string& limit : limiter_.PersistentLimits()) {
    all.insert(limit);
    if (!restored_limits_.contains(limit)) fresh.insert(limit);
  }
  std::string last;
  for (bool more = !fresh.empty(); more;) {
    const Result<std::vector<StateFile::Row>> page = file_->Page(last, kPage);
    if (!page) return page.error();
    std::vector<SavedState> wanted;
    for (const StateFile::Row& row : *page) {
      if (fresh.contains(row.saved.limit)) wanted.push_back(row.saved);
    }
    counters_.restored.fetch_add(limiter_.Restore(wanted, now));
    more = page->size() == kPage;
    if (more) last = StateFile::KeyText(page->back().saved);
  }
  restored_limits_ = std::move(all);
  rules_version_ = version;
  return std::nullopt;
}

void StateKeeper::Start() {
  thread_ = std::thread([this] { Run(); });
  pthread_setname_np(thread_.native_handle(), "weir-persist");
}

void StateKeeper::Stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  stop_.notify_one();
  thread_.join();
  Save(clock_.Now());
}

void StateKeeper::Run() {
  std::unique_lock lock(mutex_);
  while (!stop_.wait_for(lock, interval_, [&] { return stopping_; })) {
    lock.unlock();
    const Instant now = clock_.Now();
    Note(Restore(now));
    Save(now);
    LookAtSomeRows(now);
    lock.lock();
  }
}

void StateKeeper::Save(Instant now) {
  const std::vector<SavedState> changed = limiter_.TakeChanged(now);
  if (changed.empty()) return;
  const std::optional<Error> error = file_->Save(changed, now);
  if (error) {
    counters_.failed_batches.fetch_add(1);
    limiter_.LookAgain(changed);
  } else {
    counters_.batches.fetch_add(1);
    counters_.saved.fetch_add(changed.size());
  }
  Note(error);
}

void StateKeeper::Note(const std::optional<Error>& error) {
  if (!error) {
    if (!trouble_.empty()) log_->info("use can be written down again");
    trouble_.clear();
    return;
  }
  if (trouble_ == error->message) return;
  trouble_ = error->message;
  log_->error("use that is to be kept cannot be: {}", error->message);
}

void StateKeeper::LookAtSomeRows(Instant now) {
  if (now - looked_ < kLookAtRowsEvery) return;
  looked_ = now;
  const Result<std::vector<StateFile::Row>> page = file_->Page(looked_at_, kPage);
  if (!page) return Note(page.error());
  looked_at_ = page->size() < kPage ? "" : StateFile::KeyText(page->back().saved);
  std::vector<SavedState> doubtful, forgotten;
  for (const StateFile::Row& row : *page) {
    if (restored_limits_.contains(row.saved.limit)) {
      if (now - row.at > kFresh) doubtful.push_back(row.saved);
    } else if (now - row.at > kLongestWithoutRule) {
      forgotten.push_back(row.saved);
      forgotten.back().gone = true;
    }
  }
  limiter_.LookAgain(doubtful);
  if (!forgotten.empty()) Note(file_->Save(forgotten, now));
}

}  // namespace weir
