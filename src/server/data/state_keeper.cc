#include "server/data/state_keeper.h"

#include <pthread.h>

namespace weir {
namespace {

constexpr size_t kPage = 1000;
constexpr Duration kLookAtRowsEvery = std::chrono::seconds(1);
constexpr Duration kFresh = std::chrono::minutes(1);  // written so lately: it is there still
constexpr Duration kLongestWithoutRule = std::chrono::hours(24 * 400);
constexpr std::string_view kRead = "read", kWritten = "written down";

}  // namespace

StateKeeper::StateKeeper(std::unique_ptr<StateFile> file, Duration interval, Limiter& limiter,
                         Clock& clock, Problems& problems)
    : file_(std::move(file)),
      interval_(interval),
      limiter_(limiter),
      clock_(clock),
      problems_(problems) {}

std::optional<Error> StateKeeper::Restore() {
  const uint64_t version = limiter_.Stats().rulebook_version;
  if (version == rules_version_) return std::nullopt;
  std::set<std::string> all, fresh;
  for (const std::string& limit : limiter_.PersistentLimits()) {
    all.insert(limit);
    if (!restored_limits_.contains(limit)) fresh.insert(limit);
  }
  std::string last;
  for (bool more = !fresh.empty(); more;) {
    const Result<StateFile::RowPage> page = file_->Page(last, kPage);
    if (!page) return page.error();
    NoteDamaged(page->damaged);
    std::vector<SavedState> wanted;
    for (const StateFile::Row& row : page->rows) {
      if (fresh.contains(row.saved.limit)) wanted.push_back(row.saved);
    }
    counters_.restored.fetch_add(limiter_.Restore(wanted, clock_.Now()));
    last = page->last;
    more = !last.empty();
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
  Save();
}

void StateKeeper::Run() {
  std::unique_lock lock(mutex_);
  while (!stop_.wait_for(lock, interval_, [&] { return stopping_; })) {
    lock.unlock();
    // Each at its own instant: the disk may take its time.
    Note(Restore(), kRead);
    Save();
    LookAtSomeRows();
    lock.lock();
  }
}

void StateKeeper::Save() {
  const Turn now(clock_);
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
  Note(error, kWritten);
}

void StateKeeper::Note(const std::optional<Error>& error, std::string_view what) {
  if (!error) return problems_.Clear(ProblemKind::kStateNotKept, what);
  problems_.Raise(ProblemKind::kStateNotKept,
                  "use of limits with `persist` cannot be " + std::string(what) +
                      " and may not outlive a restart; is there room and permission in --data? " +
                      error->message,
                  what);
}

void StateKeeper::NoteDamaged(size_t rows) {
  if (rows == 0) return;
  counters_.damaged.fetch_add(rows);
  problems_.Raise(ProblemKind::kStateNotKept,
                  "rows of state.db were damaged and are dropped, so that use of limits with "
                  "`persist` is forgotten (weir_persist_damaged_total counts them): look after the "
                  "disk of --data",
                  "damaged");
}

void StateKeeper::LookAtSomeRows() {
  const Turn now(clock_);
  if (now.at() - looked_ < kLookAtRowsEvery) return;
  looked_ = now;
  const Result<StateFile::RowPage> page = file_->Page(looked_at_, kPage);
  if (!page) return Note(page.error(), kRead);
  NoteDamaged(page->damaged);
  looked_at_ = page->last;
  std::vector<SavedState> doubtful, forgotten;
  for (const StateFile::Row& row : page->rows) {
    const Duration age = now.at() - row.at;
    if (restored_limits_.contains(row.saved.limit)) {
      // One from the future was written under a clock that was wrong.
      if (age > kFresh || age < -kFresh) doubtful.push_back(row.saved);
    } else if (age > kLongestWithoutRule) {
      forgotten.push_back(row.saved);
      forgotten.back().gone = true;
    }
  }
  limiter_.LookAgain(doubtful);
  if (!forgotten.empty()) Note(file_->Save(forgotten, now), kWritten);
}

}  // namespace weir
