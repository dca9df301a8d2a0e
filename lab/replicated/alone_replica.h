// No coordination: every node has a bucket of its own for each key and tells nobody. With `share` N
// it is the N-th part of the limit, of the capacity at least one token.
#pragma once

#include "lab/replicated/central_bucket.h"
#include "replication/key_map.h"
#include "replication/ticks.h"

namespace weir::lab {

class AloneReplica final : public Replica {
 public:
  explicit AloneReplica(uint32_t share) : share_(share) {}

  bool Admit(const Key& key, const ReplicatedBucket& limit, uint64_t cost, Instant now) override {
    const ReplicatedBucket part = PartOf(limit);
    CentralBucket& bucket = buckets_[key];
    if (!bucket.Fits(part, cost, now)) return false;
    bucket.Charge(part, cost, now);
    return true;
  }
  void Take(const Key& key, const ReplicatedBucket& limit, uint64_t cost, Instant now) override {
    buckets_[key].Charge(PartOf(limit), cost, now);
  }
  void Refund(const StateName&, uint64_t, Instant) override {}
  int128 Level(const Key& key, const ReplicatedBucket& limit, Instant now) override {
    const auto it = buckets_.find(key);
    const ReplicatedBucket part = PartOf(limit);
    const uint64_t debt = it == buckets_.end() ? 0 : it->second.Debt(part, now);
    return Ticks(limit).Of(part.capacity) - Ticks(limit).Of(debt);
  }
  size_t bytes() const override { return MapBytes(buckets_); }
  size_t keys() const override { return buckets_.size(); }

  void SetPeers(std::vector<uint32_t>) override {}
  std::vector<Envelope> Tick(Instant) override { return {}; }
  Instant NextTick() const override { return kEndOfTime; }
  std::vector<Envelope> Receive(std::string_view, Instant, bool& good) override {
    good = false;
    return {};
  }
  Slice Everything(uint32_t, CopyCursor&, const SliceSize&, Instant) override {
    return {.envelopes = {}, .last = true};
  }

 private:
  ReplicatedBucket PartOf(const ReplicatedBucket& limit) const {
    return {std::max<uint64_t>(1, limit.capacity / share_), limit.limit, limit.per * share_};
  }

  const uint32_t share_;
  KeyMap<CentralBucket> buckets_;
};

}  // namespace weir::lab
