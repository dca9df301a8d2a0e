#include "server/problems.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/time_text.h"

namespace weir {

void Problems::Raise(ProblemKind kind, std::string message, std::string_view about) {
  if (message.size() > kMostMessage) message = message.substr(0, kMostMessage - 3) + "...";
  const Instant now = clock_.Now();
  {
    const std::lock_guard lock(mutex_);
    const Name name{kind, std::string(about)};
    const auto found = entries_.find(name);
    if (found != entries_.end()) {
      if (found->second.message == message) return;
      found->second.message = message;
    } else if (entries_.size() < kMostProblems) {
      entries_.emplace(name, Entry{message, now});
    } else {
      return;
    }
  }
  if (TraitsOf(kind).logged) log_->warn("{}: {}", TraitsOf(kind).code, message);
}

void Problems::Clear(ProblemKind kind, std::string_view about) {
  std::string message;
  {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(Name{kind, std::string(about)});
    if (found == entries_.end()) return;
    message = std::move(found->second.message);
    entries_.erase(found);
  }
  if (TraitsOf(kind).logged) log_->info("{} is over: {}", TraitsOf(kind).code, message);
}

std::vector<Problems::Problem> Problems::All() const {
  std::vector<Problem> all;
  const std::lock_guard lock(mutex_);
  for (const auto& [name, entry] : entries_) {
    all.push_back({name.first, name.second, entry.message, entry.since});
  }
  return all;
}

bool Problems::ready() const {
  const std::lock_guard lock(mutex_);
  return std::none_of(entries_.begin(), entries_.end(),
                      [](const auto& entry) { return TraitsOf(entry.first.first).stops; });
}

std::string HealthJson(const Problems& problems) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  bool ready = true;
  for (const Problems::Problem& problem : problems.All()) {
    const ProblemTraits& traits = TraitsOf(problem.kind);
    if (traits.stops) ready = false;
    all.push_back({{"code", traits.code},
                   {"message", problem.message},
                   {"since", InstantText(problem.since)}});
  }
  const nlohmann::ordered_json body = {{"ready", ready}, {"problems", all}};
  return body.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace weir
