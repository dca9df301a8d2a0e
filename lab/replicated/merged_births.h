// The queue as the thesis has it (000, section 4.1; erratum 4): an element is named by its user and
// its birth alone, so a request that comes in the same slice of time as one that was admitted is
// taken for that one and costs nothing. Requests of one time and user come to one node, so it is
// enough that each node does this for itself.
#pragma once

#include <memory>

#include "replication/key_map.h"
#include "replication/replica.h"

namespace weir::lab {

class MergedBirths final : public Replica {
 public:
  MergedBirths(std::unique_ptr<Replica> queue, Duration slice)
      : queue_(std::move(queue)), slice_(slice) {}

  bool Admit(const Key& key, const ReplicatedBucket& limit, uint64_t cost, Instant now) override {
    const auto [last, fresh] = births_.try_emplace(key, Instant::min());
    const Instant birth = now - now.time_since_epoch() % slice_;
    if (last->second == birth) return true;
    if (!queue_->Admit(key, limit, cost, now)) return false;
    last->second = birth;
    return true;
  }
  void Take(const Key& key, const ReplicatedBucket& limit, uint64_t cost, Instant now) override {
    queue_->Take(key, limit, cost, now);
  }
  void Refund(const StateName& name, uint64_t cost, Instant now) override {
    queue_->Refund(name, cost, now);
  }
  int128 Level(const Key& key, const ReplicatedBucket& limit, Instant now) override {
    return queue_->Level(key, limit, now);
  }
  size_t bytes() const override { return queue_->bytes(); }
  size_t keys() const override { return queue_->keys(); }

  void SetPeers(std::vector<uint32_t> peers) override { queue_->SetPeers(std::move(peers)); }
  std::vector<Envelope> Tick(Instant now) override { return queue_->Tick(now); }
  Instant NextTick() const override { return queue_->NextTick(); }
  std::vector<Envelope> Receive(std::string_view bytes, Instant now, bool& good) override {
    return queue_->Receive(bytes, now, good);
  }
  Slice Everything(uint32_t to, CopyCursor& cursor, const SliceSize& most, Instant now) override {
    return queue_->Everything(to, cursor, most, now);
  }

 private:
  const std::unique_ptr<Replica> queue_;
  const Duration slice_;
  KeyMap<Instant> births_;  // of the last that was admitted
};

}  // namespace weir::lab
