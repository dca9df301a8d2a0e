// Follows the configuration of another server (--role limiter --config-from ADDRESS): asks for what
// has changed since the version it has, waits there for the next change, and puts it in force.
//
// A copy of what is in force lies on the disk. While the other server is away the rules stay as they
// are, and a limiter that starts meanwhile begins with the copy.
#pragma once

#include <spdlog/logger.h>

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include "config/tree.h"
#include "net/http_client.h"
#include "rules/parse_options.h"
#include "rules/rulebook.h"
#include "server/metrics/metrics.h"
#include "server/problems.h"

namespace weir {

class ConfigFollower {
 public:
  struct Options {
    ServerUrl url;  // the other server's HTTP front
    std::string token;
    ClientTls tls;
    std::string copy;  // a file; empty: no copy is kept
    ParseOptions parse = {};
  };
  using Install = std::function<void(std::shared_ptr<const Rulebook>)>;

  ConfigFollower(Options options, std::shared_ptr<spdlog::logger> log, ReloadCounters& reloads,
                 Problems& problems);
  ~ConfigFollower() { Stop(); }

  // The rules to begin with: those of the server, else those of the copy. None if there is neither.
  std::shared_ptr<const Rulebook> Load();
  void Start(Install install);
  void Stop();

 private:
  // What is known of the other's configuration.
  struct Known {
    uint64_t version = 0;
    std::map<std::string, Json> trees;
    std::shared_ptr<const Rulebook> rules;
  };

  void Run();
  // Asks once; waits there for a change if `wait`. Nothing new is no rules and no error.
  Result<std::shared_ptr<const Rulebook>> Ask(bool wait);
  Result<std::shared_ptr<const Rulebook>> TakeUp(const std::string& body);
  // Namespaces in place of those of their names, null: taken away; or of all that there were, if `full`.
  std::optional<Error> Change(std::map<std::string, Json> trees, bool full);
  std::shared_ptr<const Rulebook> LoadCopy();
  void SaveCopy();
  void Note(const Error& error);
  bool Pause();  // false: stop

  const Options options_;
  const std::shared_ptr<spdlog::logger> log_;
  ReloadCounters& reloads_;
  Problems& problems_;
  HttpClient client_;
  Install install_;
  std::thread thread_;

  // Of the thread alone, once it runs.
  Known known_;
  std::string trouble_;  // empty: the last answer was good

  std::mutex mutex_;
  std::condition_variable stop_;
  bool stopping_ = false;  // guarded by mutex_
};

}  // namespace weir
