// The thread that the configuration lives on: its database may be slow, paused or away, and nobody
// who asks for a decision waits for it.
//
//   a connection's thread --Submit(work)--> this thread: store, Install --reply--> back to it
//
// It also looks for what other servers have changed, and answers whoever waits for a change. Rules
// are in force before the change is answered.
#pragma once

#include <spdlog/logger.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "base/turn.h"
#include "config/config_store.h"
#include "server/metrics/metrics.h"
#include "server/problems.h"
#include "weir/limiter.h"

namespace weir {

class ConfigService {
 public:
  // Runs when the rules that the work made are in force.
  using Reply = std::function<void()>;
  using Work = std::function<Reply(ConfigStore&, const Turn& now)>;

  struct Options {
    std::string read_only;  // why: the store only shows rules that come from elsewhere
    std::string seed;       // fills the store if nothing was ever written to it
    ParseOptions parse = {};
  };

  ConfigService(std::unique_ptr<ConfigStore> store, const Options& options, Clock& clock,
                std::shared_ptr<spdlog::logger> log, ReloadCounters& reloads, Problems& problems);
  ~ConfigService();

  // The rules to begin with, read before Start. None, and the error, if there are none.
  Result<std::shared_ptr<const Rulebook>> Load();
  void Start(Limiter& limiter);
  // Answers everybody who waits, and ends the thread.
  void Stop();
  // Lets nobody wait any longer: the server is going down.
  void Drain();

  // Empty, or why nothing can be changed here.
  const std::string& read_only() const { return options_.read_only; }
  // From any thread. False if too much is waiting already; `work` is then not run. Nor is it if its
  // turn does not come within some seconds: it is destroyed, which says so to whoever asked.
  bool Submit(Work work);
  // Where the rules come from elsewhere: these are in force now.
  void Show(std::shared_ptr<const Rulebook> rules);

  // In a Work: takes up what others have changed, unless the database is known to be away.
  void Freshen();
  // In a Work: `done` runs as soon as the version is another than `since`, or at `until`.
  void Await(uint64_t since, Instant until, std::function<void(ConfigStore&)> done);

 private:
  struct Waiter {
    uint64_t since;
    Instant until;
    std::function<void(ConfigStore&)> done;
  };

  struct Queued {
    Instant since;
    Work work;
  };

  void Run();
  void Note(const Error& error);
  void Look(const Turn& now);
  std::optional<Error> Seed(const Turn& now);
  // Reads the clock anew: the database may have taken its time.
  void InstallNew();
  void WakeWaiters(const Turn& now, bool all);

  const Options options_;
  Clock& clock_;
  const std::shared_ptr<spdlog::logger> log_;
  ReloadCounters& reloads_;
  Problems& problems_;
  Limiter* limiter_ = nullptr;
  std::thread thread_;

  // Of the thread alone, once it runs.
  const std::unique_ptr<ConfigStore> store_;
  std::shared_ptr<const Rulebook> installed_;
  std::vector<Waiter> waiters_;
  std::string trouble_;  // empty: the last look was good
  Instant looked_{};

  std::mutex mutex_;
  std::condition_variable some_;
  std::deque<Queued> queue_;  // guarded by mutex_
  bool stopping_ = false;     // guarded by mutex_
  bool draining_ = false;     // guarded by mutex_
};

}  // namespace weir
