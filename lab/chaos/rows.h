// What a replica knows of a key, in one form for all kinds: the rows of a counter or a debt, the
// elements of a queue. Only looked at, never changed.
#pragma once

#include <compare>
#include <memory>
#include <string>
#include <vector>

#include "replication/replica.h"

namespace weir::chaos {

struct RowName {
  Origin origin;
  uint64_t segment = 0;  // or an element's sequence; 0 where there is one row per origin
  int64_t window = 0;
  auto operator<=>(const RowName&) const = default;
  template <typename H>
  friend H AbslHashValue(H h, const RowName& name) {
    return H::combine(std::move(h), name.origin.node, name.origin.incarnation, name.segment,
                      name.window);
  }
};

std::string Shown(const RowName& name);

struct Row {
  RowName name;
  Instant epoch{};  // on the node's clock; a counter has none
  uint64_t charged = 0;
  uint64_t refunded = 0;
  int128 life = 0;  // of an element, in ticks; of a log's, in nanoseconds
  bool operator==(const Row&) const = default;
};

// Of rows by name; null if it is not among them.
const Row* FindRow(const std::vector<Row>& rows, const RowName& name);
// That two nodes do not know the same of a row, though they should; `theirs` may be null.
std::string Differing(uint32_t key, uint32_t one, const Row& ones, uint32_t other,
                      const Row* theirs);

// A replica around another, to which it hands everything on; a planted bug overrides something.
class Wrapper : public Replica {
 public:
  explicit Wrapper(std::unique_ptr<Replica> inner) : inner_(std::move(inner)) {}
  const Replica& inner() const { return *inner_; }

  void SetPeers(std::vector<uint32_t> peers) override { inner_->SetPeers(std::move(peers)); }
  bool Admit(const Key& key, const ReplicatedBucket& limit, uint64_t cost, Instant now) override {
    return inner_->Admit(key, limit, cost, now);
  }
  void Take(const Key& key, const ReplicatedBucket& limit, uint64_t cost, Instant now) override {
    inner_->Take(key, limit, cost, now);
  }
  void Refund(const StateName& name, uint64_t cost, Instant now) override {
    inner_->Refund(name, cost, now);
  }
  int128 Level(const Key& key, const ReplicatedBucket& limit, Instant now) override {
    return inner_->Level(key, limit, now);
  }
  std::vector<Envelope> Tick(Instant now) override { return inner_->Tick(now); }
  Instant NextTick() const override { return inner_->NextTick(); }
  std::vector<Envelope> Receive(std::string_view bytes, Instant now, bool& good) override {
    return inner_->Receive(bytes, now, good);
  }
  std::vector<Envelope> Farewell(Instant now) override { return inner_->Farewell(now); }
  Slice Everything(uint32_t to, CopyCursor& cursor, const SliceSize& most, Instant now) override {
    return inner_->Everything(to, cursor, most, now);
  }
  size_t bytes() const override { return inner_->bytes(); }
  size_t keys() const override { return inner_->keys(); }

 protected:
  Replica& inner() { return *inner_; }

 private:
  std::unique_ptr<Replica> inner_;
};

// Of all windows of the key. Appended to `rows`, in any order.
void ReadRows(const Replica& replica, const Key& key, std::vector<Row>& rows);

}  // namespace weir::chaos
