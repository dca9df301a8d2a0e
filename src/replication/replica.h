// A node's part in a replicated limit: it decides at once, on what it knows, and tells the others.
//
//   replica.Admit(key, limit, cost, now)   a decision; what it admits it owes to its peers
//   replica.Tick(now)                      what is to be sent now
//   replica.Receive(bytes, now)            merges; what is to be sent in answer
//   replica.NextTick()                     when Tick has to be called next; it may be at once
//
// Pure: no clock, no socket, no chance but that which it is given. The server and the lab run the
// same code.
#pragma once

#include "algorithms/algorithm.h"
#include "mail/correspondent.h"
#include "replication/key_map.h"
#include "replication/memory_count.h"

namespace weir {

// A token bucket as the nodes share it: `limit` tokens flow in per `per`, at most `capacity` are
// there. Limit 0: nothing flows in (what is counted in one window, which is part of the key), and
// what was taken is forgotten `per` later.
struct ReplicatedBucket {
  uint64_t capacity = 1;
  uint64_t limit = 1;
  Duration per = std::chrono::seconds(1);
  int64_t window = 0;
  bool operator==(const ReplicatedBucket&) const = default;
};

// What others told has changed a level by so many ticks; 0: it has, but the limit is not known yet.
struct Change {
  Key key;
  ReplicatedBucket limit;
  int128 ticks = 0;
};

class Replica : public Correspondent {
 public:
  // Takes `cost` if there is room.
  virtual bool Admit(const Key& key, const ReplicatedBucket& limit, uint64_t cost, Instant now) = 0;
  // Takes `cost`, room or not: debt is carried.
  virtual void Take(const Key& key, const ReplicatedBucket& limit, uint64_t cost, Instant now) = 0;
  // Takes back what this node admitted (of a limit that counts by windows, in this one): `cost` of it.
  virtual void Refund(const StateName& name, uint64_t cost, Instant now) = 0;
  // What is there, in Ticks(limit) (ticks.h); below zero if more was taken than there was.
  virtual int128 Level(const Key& key, const ReplicatedBucket& limit, Instant now) = 0;

  // What was heard from others since the last call, as far as keys are concerned that were asked
  // for here: by how much their levels changed at that instant. Empty unless the replica was made
  // to report it.
  virtual std::vector<Change> TakeChanges() { return {}; }

  // What the states, and what is owed to peers, take: counted over the real structures.
  virtual size_t bytes() const = 0;
  // The same, while there are steps.
  virtual void CountBytes(MemoryCount& count, Steps&) const {
    count.bytes = bytes();
    count.done = true;
  }
  virtual size_t keys() const = 0;
};

}  // namespace weir
