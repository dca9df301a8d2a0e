// Where a server's rules come from: files, read again when they change.
#pragma once

#include <spdlog/logger.h>

#include <memory>
#include <string>
#include <vector>

#include "rules/parse_options.h"
#include "server/settings.h"
#include "weir/limiter.h"

namespace weir {

// What rules may say on this server.
ParseOptions OptionsOfRules(const Settings& settings);

// What they say that is hardly meant.
void LogWarnings(const Rulebook& rules, spdlog::logger& log);
// Only what was not said of `before`.
void LogNewWarnings(const Rulebook& rules, const Rulebook& before, spdlog::logger& log);

class RulesSource {
 public:
  explicit RulesSource(const Settings& settings) : settings_(settings) {}

  // Null if the rules cannot be read; `errors` then has every mistake, one a line.
  std::shared_ptr<const Rulebook> Load(std::string* errors);
  // True if a file has changed, come or gone since the last Load.
  bool Changed() const;
  bool watched() const { return !settings_.config.empty() || !settings_.ratelimit_config.empty(); }

 private:
  std::vector<std::string> Paths() const;
  // Names, sizes and times of everything that would be read.
  std::string Look() const;

  const Settings& settings_;
  std::string looked_;
};

}  // namespace weir
