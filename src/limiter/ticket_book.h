// The open tickets: what was taken, from which states, until when it may be settled.
//
// Bounded in number and in time: a ticket that expires, or is pushed out by newer ones, keeps its
// estimate. Settling takes the ticket out, so nobody settles twice. Tickets are random, and name
// their node in their upper 32 bits.
#pragma once

#include <array>
#include <atomic>
#include <deque>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include <absl/container/flat_hash_map.h>

#include "store/store.h"
#include "weir/decision.h"

namespace weir {

// An unguessable identifier of this node. `node` is the hash of the node's name.
Ticket NewTicket(uint32_t node);
uint32_t NodeHash(std::string_view name);

class TicketBook {
 public:
  TicketBook(std::string_view node, Duration ttl, size_t most)
      : node_(NodeHash(node)), ttl_(ttl), most_per_shard_(most / kShards + 1) {}

  // What tickets that no longer are leave behind is added to `forgone`.
  Ticket Issue(std::vector<Receipt> receipts, Instant now, std::vector<Receipt>* forgone);
  // Takes the ticket out. Nothing if it is unknown, was settled or has expired.
  std::optional<std::vector<Receipt>> Close(const Ticket& ticket, Instant now);
  // Takes out what has expired.
  void Expire(Instant now, std::vector<Receipt>* forgone);

  bool IsOwn(const Ticket& ticket) const { return ticket.high >> 32 == node_; }
  size_t open() const { return open_.load(std::memory_order_relaxed); }

 private:
  static constexpr size_t kShards = 16;
  struct Hash {
    size_t operator()(const Ticket& ticket) const { return ticket.low; }
  };
  struct Record {
    std::vector<Receipt> receipts;
    Instant expires;
  };
  struct Shard {
    std::mutex mutex;
    absl::flat_hash_map<Ticket, Record, Hash> records;  // guarded by mutex
    std::deque<std::pair<Instant, Ticket>> by_expiry;   // guarded by mutex; closed ones stay in it
  };

  Shard& ShardOf(const Ticket& ticket) { return shards_[ticket.low % kShards]; }
  void DropOldest(Shard& shard, std::vector<Receipt>* forgone);
  void DropExpired(Shard& shard, Instant now, std::vector<Receipt>* forgone);

  const uint32_t node_;
  const Duration ttl_;
  const size_t most_per_shard_;
  std::atomic<size_t> open_{0};
  std::array<Shard, kShards> shards_;
};

}  // namespace weir
