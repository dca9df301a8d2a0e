#include "limiter/wait_room.h"

#include <algorithm>

#include "base/heap_bytes.h"

namespace weir {
namespace {

template <typename Map, typename Name>
void Remove(Map& map, const Name& name, uint64_t number) {
  const auto found = map.find(name);
  if (found == map.end()) return;
  found->second.erase(number);
  if (found->second.empty()) map.erase(found);
}

}  // namespace

uint64_t WaitRoom::BytesOf(const Waiter& waiter) {
  constexpr size_t kEntriesOfMaps = 512;  // with what the callback keeps
  const Wanted& wanted = waiter.wanted;
  return kEntriesOfMaps + ChunkBytes(sizeof(Waiter)) + ChunkBytes(wanted.namespace_name) +
         ChunkBytes(wanted.resource) + 2 * ChunkBytes(wanted.subject);
}

bool WaitRoom::HasRoom(const Waiter& waiter) {
  if (size() >= kMost || !places_.Fits(waiter.owner, 1)) return false;
  const auto session = by_session_.find(waiter.wanted.session);
  if (session != by_session_.end() && session->second.size() >= kMostOfSession) return false;
  return bytes_.Fits(waiter.owner, BytesOf(waiter));
}

bool WaitRoom::Blocks(const Pools& pools) const {
  return std::any_of(pools.begin(), pools.end(),
                     [&](const Key& pool) { return by_pool_.contains(pool); });
}

uint64_t WaitRoom::Count(const std::string& queue, const std::string& subject) const {
  const auto found = by_subject_.find(Name(queue, subject));
  return found == by_subject_.end() ? 0 : found->second.size();
}

void WaitRoom::Add(Waiter added) {
  const uint64_t number = added.number = ++next_number_;
  bytes_.Enter(added.owner, BytesOf(added));
  places_.Enter(added.owner, 1);
  const auto& waiter = waiters_[number] = std::make_unique<Waiter>(std::move(added));
  for (const Key& pool : waiter->blocked_by) by_pool_[pool].insert(number);
  by_session_[waiter->wanted.session].insert(number);
  by_subject_[Name(waiter->wanted.queue(), waiter->wanted.subject)].insert(number);
  by_deadline_.emplace(waiter->deadline, number);
}

Waiter* WaitRoom::First(const Key& pool) {
  const auto found = by_pool_.find(pool);
  return found == by_pool_.end() ? nullptr : waiters_.find(*found->second.begin())->second.get();
}

bool WaitRoom::IsFirst(const Waiter& waiter) const {
  return std::all_of(waiter.blocked_by.begin(), waiter.blocked_by.end(), [&](const Key& pool) {
    return *by_pool_.find(pool)->second.begin() == waiter.number;
  });
}

void WaitRoom::SetBlockedBy(Waiter& waiter, Pools pools) {
  for (const Key& pool : waiter.blocked_by) Remove(by_pool_, pool, waiter.number);
  waiter.blocked_by = std::move(pools);
  for (const Key& pool : waiter.blocked_by) by_pool_[pool].insert(waiter.number);
}

Waiter WaitRoom::Take(Waiter& waiter) {
  const uint64_t number = waiter.number;
  for (const Key& pool : waiter.blocked_by) Remove(by_pool_, pool, number);
  Remove(by_session_, waiter.wanted.session, number);
  Remove(by_subject_, Name(waiter.wanted.queue(), waiter.wanted.subject), number);
  by_deadline_.erase({waiter.deadline, number});
  bytes_.Leave(waiter.owner, BytesOf(waiter));
  places_.Leave(waiter.owner, 1);
  Waiter taken = std::move(waiter);
  waiters_.erase(number);
  return taken;
}

std::vector<Waiter> WaitRoom::TakeAll(const std::vector<uint64_t>& numbers) {
  std::vector<Waiter> taken;
  for (const uint64_t number : numbers) taken.push_back(Take(*waiters_.find(number)->second));
  return taken;
}

std::vector<Waiter> WaitRoom::TakeOfSession(const SessionId& session) {
  const auto found = by_session_.find(session);
  if (found == by_session_.end()) return {};
  return TakeAll({found->second.begin(), found->second.end()});
}

std::vector<Waiter> WaitRoom::TakeSharers(const std::string& queue, const std::string& subject) {
  const auto found = by_subject_.find(Name(queue, subject));
  if (found == by_subject_.end()) return {};
  std::vector<uint64_t> sharers;
  for (const uint64_t number : found->second) {
    if (waiters_.find(number)->second->wanted.share) sharers.push_back(number);
  }
  return TakeAll(sharers);
}

std::vector<Waiter> WaitRoom::TakeLate(Instant now, size_t most) {
  std::vector<Waiter> late;
  while (!by_deadline_.empty() && by_deadline_.begin()->first <= now && late.size() < most) {
    late.push_back(Take(*waiters_.find(by_deadline_.begin()->second)->second));
  }
  return late;
}

std::vector<Key> WaitRoom::NextPools(size_t most) {
  std::vector<Key> pools;
  auto it = by_pool_.upper_bound(last_pool_);
  for (size_t i = 0; i < std::min(most, by_pool_.size()); ++i) {
    if (it == by_pool_.end()) it = by_pool_.begin();
    pools.push_back(it->first);
    ++it;
  }
  if (!pools.empty()) last_pool_ = pools.back();
  return pools;
}

}  // namespace weir
