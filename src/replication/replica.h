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

#include <memory>
#include <vector>

#include "replication/envelope.h"
#include "weir/instant.h"

namespace weir {

// A token bucket as the nodes share it: `limit` tokens flow in per `per`, at most `capacity` are
// there.
struct SharedBucket {
  uint64_t capacity = 1;
  uint64_t limit = 1;
  Duration per = std::chrono::seconds(1);
  bool operator==(const SharedBucket&) const = default;
};

class Replica {
 public:
  virtual ~Replica() = default;

  // The other nodes, by number; those that were there and are not any more are forgotten.
  virtual void SetPeers(std::vector<uint32_t> peers) = 0;

  virtual bool Admit(const Key& key, const SharedBucket& limit, uint64_t cost, Instant now) = 0;
  // Takes back what this node admitted: `cost` of it.
  virtual void Refund(const Key& key, uint64_t cost, Instant now) = 0;
  virtual std::vector<Envelope> Tick(Instant now) = 0;
  // Bytes of anybody: what is broken changes nothing, and false is answered in `good`.
  virtual std::vector<Envelope> Receive(std::string_view bytes, Instant now, bool& good) = 0;
  virtual Instant NextTick() const = 0;

  // What the states, and what is owed to peers, take: counted over the real structures.
  virtual size_t bytes() const = 0;
  virtual size_t keys() const = 0;
};

}  // namespace weir
