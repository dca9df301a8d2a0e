#include "server/config_follower.h"

#include <pthread.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>

#include "rules/read/parse.h"
#include "server/data/private_files.h"

namespace weir {
namespace {

// The other server answers at once when something changes; this is only for the quiet times. Short,
// so that a connection that was cut is noticed, and that stopping does not take long.
constexpr auto kWait = std::chrono::milliseconds(2000);
constexpr Duration kDeadline = kWait + std::chrono::seconds(2);
constexpr auto kPause = std::chrono::milliseconds(250);  // while it is away

Error Broken(const std::string& why) {
  return {Code::kBadRequest, "the configuration that came is not one: " + why, ""};
}

}  // namespace

ConfigFollower::ConfigFollower(Options options, std::shared_ptr<spdlog::logger> log,
                               ReloadCounters& reloads, Problems& problems)
    : options_(std::move(options)),
      log_(std::move(log)),
      reloads_(reloads),
      problems_(problems),
      client_({.url = options_.url,
               .token = options_.token,
               .deadline = kDeadline,
               .tls = options_.tls,
               .address_flag = "--config-from",
               .tls_flags = "--config-tls-"}) {}

std::shared_ptr<const Rulebook> ConfigFollower::Load() {
  std::shared_ptr<const Rulebook> rules = LoadCopy();
  const Result<std::shared_ptr<const Rulebook>> asked = Ask(false);
  if (!asked) {
    Note(asked.error());
  } else if (*asked != nullptr) {
    rules = *asked;
  }
  if (rules != nullptr && !asked) log_->info("serving the copy of version {}", known_.version);
  return rules;
}

void ConfigFollower::Start(Install install) {
  install_ = std::move(install);
  thread_ = std::thread([this] { Run(); });
  pthread_setname_np(thread_.native_handle(), "weir-follow");
}

void ConfigFollower::Stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  stop_.notify_one();
  client_.Interrupt();
  thread_.join();
}

bool ConfigFollower::Pause() {
  std::unique_lock lock(mutex_);
  return !stop_.wait_for(lock, trouble_.empty() ? Duration::zero() : kPause,
                         [&] { return stopping_; });
}

void ConfigFollower::Run() {
  while (Pause()) {
    const Result<std::shared_ptr<const Rulebook>> rules = Ask(true);
    if (!rules) {
      Note(rules.error());
      continue;
    }
    trouble_.clear();
    reloads_.last_failed.store(false);
    problems_.Clear(ProblemKind::kConfigAway);
    problems_.Clear(ProblemKind::kRulesUnreadable);
    if (*rules == nullptr) continue;
    install_(*rules);
    reloads_.done.fetch_add(1);
    log_->info("new rules are in force: version {} of {}", known_.version, options_.url.authority);
    problems_.Clear(ProblemKind::kNoRules);
  }
}

Result<std::shared_ptr<const Rulebook>> ConfigFollower::Ask(bool wait) {
  std::string path = "/v1/config?since=" + std::to_string(known_.version);
  if (wait) path += "&wait_ms=" + std::to_string(kWait.count());
  const Result<HttpAnswer> answer = client_.Get(path);
  if (!answer) return answer.error();
  if (answer->status == 401 || answer->status == 403) {
    return Error{
        Code::kUnavailable,
        options_.url.authority + " wants a token that may read all namespaces: --config-token", ""};
  }
  if (answer->status != 200) {
    return Error{Code::kUnavailable,
                 options_.url.authority + " answers " + std::to_string(answer->status) + ": " +
                     answer->body.substr(0, 200),
                 ""};
  }
  return TakeUp(answer->body);
}

Result<std::shared_ptr<const Rulebook>> ConfigFollower::TakeUp(const std::string& body) {
  const Json delta = Json::parse(body, nullptr, false);
  if (!delta.is_object() || !delta.contains("version") || !delta.contains("changes") ||
      !delta["version"].is_number_unsigned() || !delta["changes"].is_array()) {
    return Broken("it has no version and changes");
  }
  const auto version = delta["version"].get<uint64_t>();
  const bool full = delta.value("full", false);
  if (version == known_.version && !full) return std::shared_ptr<const Rulebook>();
  std::map<std::string, Json> changed;
  for (const Json& change : delta["changes"]) {
    if (!change.is_object() || !change.contains("namespace") || !change["namespace"].is_string() ||
        !change.contains("value")) {
      return Broken("a change has no namespace and value");
    }
    changed[change["namespace"].get<std::string>()] = change["value"];
  }
  if (std::optional<Error> error = Change(std::move(changed), full)) return *error;
  known_.version = version;
  SaveCopy();
  return known_.rules;
}

// What did not change is not read again, and is the same in the new rulebook.
std::optional<Error> ConfigFollower::Change(std::map<std::string, Json> trees, bool full) {
  NamespacesRead all;
  std::vector<std::string> gone;
  for (const auto& [name, tree] : trees) {
    if (tree.is_null()) {
      gone.push_back(name);
      continue;
    }
    NamespacesRead read =
        ReadNamespaces(PrintJsonLines({{"namespaces", {{name, tree}}}}), name, options_.parse);
    all.errors.insert(all.errors.end(), read.errors.begin(), read.errors.end());
    std::move(read.namespaces.begin(), read.namespaces.end(), std::back_inserter(all.namespaces));
  }
  if (!all.errors.empty()) return Broken(ToString(all.errors));
  if (full || known_.rules == nullptr) {
    known_.trees.clear();
    known_.rules = std::make_shared<Rulebook>(std::move(all.namespaces));
  } else {
    known_.rules = known_.rules->With(std::move(all.namespaces), gone);
  }
  for (auto& [name, tree] : trees) {
    if (tree.is_null()) {
      known_.trees.erase(name);
    } else {
      known_.trees[name] = std::move(tree);
    }
  }
  return std::nullopt;
}

std::shared_ptr<const Rulebook> ConfigFollower::LoadCopy() {
  std::ifstream file(options_.copy);
  if (options_.copy.empty() || !file) return nullptr;
  std::ostringstream text;
  text << file.rdbuf();
  const Result<std::shared_ptr<const Rulebook>> rules = TakeUp(text.str());
  if (rules) return *rules;
  log_->error("{} is of no use: {}", options_.copy, rules.error().message);
  return nullptr;
}

void ConfigFollower::SaveCopy() {
  if (options_.copy.empty()) return;
  Json changes = Json::array();
  for (const auto& [name, tree] : known_.trees) {
    changes.push_back({{"namespace", name}, {"value", tree}});
  }
  const std::string text =
      PrintJson({{"version", known_.version}, {"full", true}, {"changes", changes}});
  if (const std::optional<Error> error = ReplaceFile(options_.copy, text)) {
    log_->error("no copy of the configuration is kept: {}", error->message);
  }
}

void ConfigFollower::Note(const Error& error) {
  if (trouble_ == error.message) return;
  trouble_ = error.message;
  // Rules that were read stay in force while the other server is away.
  if (error.code != Code::kBadRequest) {
    return problems_.Raise(
        ProblemKind::kConfigAway,
        "the configuration is not followed, rules stay as they are (--config-from): " +
            error.message);
  }
  reloads_.last_failed.store(true);
  reloads_.failed.fetch_add(1);
  problems_.Raise(ProblemKind::kRulesUnreadable, "the old rules stay; mend them at " +
                                                     options_.url.authority + ": " + error.message);
}

}  // namespace weir
