#include "server/rules_source.h"

#include <sys/stat.h>

#include <filesystem>

#include "rules/print/warnings.h"
#include "rules/read/coordination.h"
#include "rules/read/parse.h"

namespace weir {
namespace {

// Whatever tells one version of a file from the next.
void LookAt(const std::string& path, std::string& seen) {
  struct stat info {};
  seen += path;
  if (stat(path.c_str(), &info) != 0) {
    seen += " gone";
  } else {
    for (const int64_t number :
         {static_cast<int64_t>(info.st_ino), static_cast<int64_t>(info.st_size),
          static_cast<int64_t>(info.st_mtim.tv_sec), static_cast<int64_t>(info.st_mtim.tv_nsec)}) {
      seen += ' ' + std::to_string(number);
    }
  }
  seen += '\n';
}

}  // namespace

ParseOptions OptionsOfRules(const Settings& settings) {
  // A server that has the configuration alone has it for others.
  ParseOptions options{.cluster =
                           !settings.cluster.empty() || settings.role == ServerRole::kConfig};
  const std::optional<Coordination> ratelimit = CoordinationOfFlag(settings.ratelimit_coordination);
  if (ratelimit && ratelimit->kind != Coordination::Kind::kLocal) options.ratelimit = ratelimit;
  return options;
}

std::vector<std::string> RulesSource::Paths() const {
  std::vector<std::string> paths;
  const std::string& rules = settings_.config.empty() ? settings_.seed : settings_.config;
  for (const std::string& root : {rules, settings_.ratelimit_config}) {
    if (root.empty()) continue;
    paths.push_back(root);
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(root, error)) {
      paths.push_back(entry.path().string());
    }
  }
  return paths;
}

std::string RulesSource::Look() const {
  std::string seen;
  for (const std::string& path : Paths()) LookAt(path, seen);
  return seen;
}

std::shared_ptr<const Rulebook> RulesSource::Load(std::string* errors) {
  looked_ = Look();
  ParseResult result = LoadAllRules(settings_.config.empty() ? settings_.seed : settings_.config,
                                    settings_.ratelimit_config, OptionsOfRules(settings_));
  if (!result.ok()) *errors = ToString(result.errors);
  return result.rules;
}

void LogWarnings(const Rulebook& rules, spdlog::logger& log) {
  for (const std::string& warning : RuleWarnings(rules)) log.warn("rules: {}", warning);
}

void LogNewWarnings(const Rulebook& rules, const Rulebook& before, spdlog::logger& log) {
  for (const std::string& warning : NewRuleWarnings(rules, before)) log.warn("rules: {}", warning);
}

bool RulesSource::Changed() const { return watched() && Look() != looked_; }

}  // namespace weir
