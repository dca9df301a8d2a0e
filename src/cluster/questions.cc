#include "cluster/questions.h"

#include <algorithm>
#include <utility>

namespace weir::cluster {

bool Questions::Ask(uint32_t node, std::string text, Instant now, Done done) {
  if (open_.size() >= kMostOpen || text.size() > kMostBytes) return false;
  counts_.asked += 1;
  last_ += 1;
  open_[last_] = {node, std::move(text), std::move(done), After(now, kPatience)};
  due_.emplace(now, last_);
  return true;
}

std::vector<Questions::ToSend> Questions::Tick(Instant now) {
  std::vector<ToSend> out;
  std::vector<Done> ended;
  while (!due_.empty() && due_.begin()->first <= now) {
    const uint64_t number = due_.extract(due_.begin()).value().second;
    const auto found = open_.find(number);
    if (found == open_.end()) continue;  // answered
    Open& open = found->second;
    if (open.ends <= now) {
      ended.push_back(std::move(open.done));
      open_.erase(found);
      continue;
    }
    out.push_back({open.node, number, open.text});
    due_.emplace(std::min(After(now, open.pause), open.ends), number);
    open.pause *= 2;
  }
  counts_.unanswered += ended.size();
  for (const Done& done : ended) done(std::nullopt);
  return out;
}

void Questions::Take(uint32_t node, uint64_t number, std::string_view answer) {
  const auto found = open_.find(number);
  if (found == open_.end() || found->second.node != node) return;
  const Done done = std::move(found->second.done);
  open_.erase(found);
  counts_.answered += 1;
  done(answer);
}

void Questions::GiveUp() {
  counts_.unanswered += open_.size();
  due_.clear();
  for (const auto& [number, open] : std::exchange(open_, {})) open.done(std::nullopt);
}

std::string Questions::Answer(Origin asker, uint64_t number, Instant now,
                              const std::function<std::string()>& carry_out) {
  while (!kept_until_.empty() && (kept_until_.front().first <= now || kept_.size() >= kMostKept)) {
    kept_.erase(kept_until_.front().second);
    kept_until_.pop_front();
  }
  const Name name{asker, number};
  const auto [answer, is_new] = kept_.try_emplace(name);
  if (is_new) {
    counts_.given += 1;
    kept_until_.emplace_back(After(now, kKeep), name);
    answer->second = carry_out();
  }
  return answer->second;
}

}  // namespace weir::cluster
