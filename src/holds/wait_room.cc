#include "holds/wait_room.h"

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
  const auto client = by_client_.find(waiter.client);
  if (client != by_client_.end() && client->second >= kMostOfClient) return false;
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
  size_.store(waiters_.size());
  List(*waiter);
  by_session_[waiter->wanted.session].insert(number);
  by_subject_[Name(*waiter)].insert(number);
  if (waiter->client != 0) by_client_[waiter->client] += 1;
  by_deadline_.emplace(waiter->deadline, number);
}

void WaitRoom::List(Waiter& waiter) {
  ++steps_;
  filter_.Add(waiter.blocked_by);
  for (const Key& pool : waiter.blocked_by) by_pool_[pool].insert(waiter.number);
}

void WaitRoom::Unlist(Waiter& waiter) {
  ++steps_;
  for (const Key& pool : waiter.blocked_by) Remove(by_pool_, pool, waiter.number);
  filter_.Remove(waiter.blocked_by);
}

Waiter* WaitRoom::First(const Key& pool) {
  ++steps_;
  const auto found = by_pool_.find(pool);
  return found == by_pool_.end() ? nullptr : waiters_.find(*found->second.begin())->second.get();
}

bool WaitRoom::IsFirst(const Waiter& waiter) const {
  return std::all_of(waiter.blocked_by.begin(), waiter.blocked_by.end(), [&](const Key& pool) {
    return *by_pool_.find(pool)->second.begin() == waiter.number;
  });
}

void WaitRoom::SetBlockedBy(Waiter& waiter, Pools pools) {
  Unlist(waiter);
  waiter.blocked_by = std::move(pools);
  List(waiter);
}

Waiter WaitRoom::Take(Waiter& waiter) {
  const uint64_t number = waiter.number;
  Unlist(waiter);
  Remove(by_session_, waiter.wanted.session, number);
  Remove(by_subject_, Name(waiter), number);
  if (const auto client = by_client_.find(waiter.client); client != by_client_.end()) {
    client->second -= 1;
    if (client->second == 0) by_client_.erase(client);
  }
  by_deadline_.erase({waiter.deadline, number});
  bytes_.Leave(waiter.owner, BytesOf(waiter));
  places_.Leave(waiter.owner, 1);
  Waiter taken = std::move(waiter);
  waiters_.erase(number);
  size_.store(waiters_.size());
  return taken;
}

void WaitRoom::EndSession(const SessionId& session) {
  if (by_session_.contains(session)) ended_.push_back(session);
}

std::vector<Waiter> WaitRoom::TakeEnded(size_t most) {
  std::vector<Waiter> taken;
  while (!ended_.empty() && taken.size() < most) {
    const auto found = by_session_.find(ended_.front());
    if (found == by_session_.end()) {
      ended_.pop_front();
    } else {
      taken.push_back(Take(*waiters_.find(*found->second.begin())->second));
    }
  }
  return taken;
}

void WaitRoom::NoteDone(const std::string& queue, const std::string& subject) {
  const std::string name = Name(queue, subject);
  if (by_subject_.contains(name)) done_[name].last = next_number_;  // who comes later wants it anew
}

bool WaitRoom::IsDone(const Waiter& waiter) const {
  if (!waiter.wanted.share || done_.empty()) return false;
  const auto found = done_.find(Name(waiter));
  return found != done_.end() && waiter.number <= found->second.last;
}

std::vector<Waiter> WaitRoom::TakeDone(size_t most) {
  std::vector<Waiter> taken;
  for (size_t looks = 0; !done_.empty() && looks < most; ++looks, ++steps_) {
    const auto done = done_.begin();
    const auto waiting = by_subject_.find(done->first);
    if (waiting == by_subject_.end()) {
      done_.erase(done);
      continue;
    }
    const auto number = waiting->second.lower_bound(done->second.next);
    if (number == waiting->second.end() || *number > done->second.last) {
      done_.erase(done);
      continue;
    }
    done->second.next = *number + 1;
    Waiter& waiter = *waiters_.find(*number)->second;
    if (waiter.wanted.share) taken.push_back(Take(waiter));
  }
  return taken;
}

void WaitRoom::Unique(std::vector<Key>& pools) {
  std::sort(pools.begin(), pools.end(), Before());
  pools.erase(std::unique(pools.begin(), pools.end()), pools.end());
}

void WaitRoom::OfferNext(std::vector<Key> pools) {
  Unique(pools);
  offered_.insert(offered_.end(), pools.begin(), pools.end());
  while (offered_.size() > kMostOffered) offered_.pop_front();  // NextPools comes to them again
}

void WaitRoom::OfferLast(std::vector<Key> pools) {
  Unique(pools);
  pools.resize(std::min(pools.size(), kMostOffered - offered_.size()));
  offered_.insert(offered_.begin(), pools.begin(), pools.end());
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
    ++steps_;
  }
  if (!pools.empty()) last_pool_ = pools.back();
  return pools;
}

}  // namespace weir
