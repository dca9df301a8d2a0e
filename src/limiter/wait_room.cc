#include "limiter/wait_room.h"

#include <algorithm>

namespace weir {
namespace {

bool Meet(const Pools& a, const Pools& b) {
  return std::any_of(a.begin(), a.end(),
                     [&](const Key& key) { return std::find(b.begin(), b.end(), key) != b.end(); });
}

}  // namespace

WaitRoom::Queue* WaitRoom::Find(const std::string& queue) {
  const auto found = queues_.find(queue);
  return found == queues_.end() ? nullptr : &found->second;
}

bool WaitRoom::Blocks(const std::string& queue, const Pools& pools) const {
  const auto found = queues_.find(queue);
  if (found == queues_.end()) return false;
  return std::any_of(found->second.begin(), found->second.end(),
                     [&](const Waiter& waiter) { return Meet(waiter.blocked_by, pools); });
}

uint64_t WaitRoom::Count(const std::string& queue, std::string_view subject) const {
  const auto found = queues_.find(queue);
  if (found == queues_.end()) return 0;
  return static_cast<uint64_t>(
      std::count_if(found->second.begin(), found->second.end(),
                    [&](const Waiter& waiter) { return waiter.wanted.subject == subject; }));
}

void WaitRoom::Add(Waiter waiter) {
  size_ += 1;
  queues_[waiter.wanted.queue()].push_back(std::move(waiter));
}

std::vector<Waiter> WaitRoom::TakeFrom(const std::string& name,
                                       const std::function<bool(Waiter&)>& leaves) {
  std::vector<Waiter> taken;
  const auto found = queues_.find(name);
  if (found == queues_.end()) return taken;
  Queue& queue = found->second;
  for (auto it = queue.begin(); it != queue.end();) {
    if (!leaves(*it)) {
      ++it;
      continue;
    }
    taken.push_back(std::move(*it));
    it = queue.erase(it);
    size_ -= 1;
  }
  if (queue.empty()) queues_.erase(found);
  return taken;
}

std::vector<Waiter> WaitRoom::TakeFromAll(const std::function<bool(Waiter&)>& leaves) {
  std::vector<Waiter> taken;
  for (const std::string& name : Names()) {
    for (Waiter& waiter : TakeFrom(name, leaves)) taken.push_back(std::move(waiter));
  }
  return taken;
}

std::vector<std::string> WaitRoom::Names() const {
  std::vector<std::string> names;
  for (const auto& [name, queue] : queues_) names.push_back(name);
  return names;
}

}  // namespace weir
