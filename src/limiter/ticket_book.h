// The open tickets: what was taken, from which states, until when it may be settled.
//
// Bounded in number, in bytes and in time: a ticket that expires, or is pushed out by newer ones, keeps
// its estimate. Pushed out is the oldest of the owner that has the most (store/forgetting.h), so that
// nobody voids another's. Settling takes the ticket out, so nobody settles twice. Tickets are random,
// and name their node in their upper 32 bits.
//
// All live equally long, so that an owner's tickets expire in the order of their issue: in a list for
// each owner, from which a ticket that is settled goes at once.
#pragma once

#include <array>
#include <atomic>
#include <list>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include <absl/container/flat_hash_map.h>

#include "base/new_ticket.h"
#include "store/memory_store.h"
#include "weir/decision.h"

namespace weir {

class TicketBook {
 public:
  // At most so many, of so many bytes, which the store counts among its own.
  TicketBook(std::string_view node, Duration ttl, size_t most, uint64_t bytes, MemoryStore& store)
      : node_(NodeHash(node)),
        ttl_(ttl),
        most_per_shard_(most / kShards + 1),
        bytes_per_shard_(bytes / kShards),
        store_(store) {}

  // What tickets that no longer are leave behind is added to `forgone`.
  // `ns`: the hash of the name of the namespace that it is of.
  Ticket Issue(std::vector<Receipt> receipts, uint32_t owner, uint64_t ns, Instant now,
               std::vector<Receipt>* forgone);
  // Puts one back that was taken out and could not be settled, as if it were new.
  void Reopen(const Ticket& ticket, std::vector<Receipt> receipts, uint32_t owner, uint64_t ns,
              Instant now, std::vector<Receipt>* forgone);
  struct Closed {
    std::vector<Receipt> receipts;
    uint32_t owner;
    uint64_t ns;
  };
  // Takes the ticket out. Nothing if it is unknown, was settled or has expired, or is of another namespace
  // than these (null: of any).
  std::optional<Closed> Close(const Ticket& ticket, Instant now,
                              const std::vector<uint64_t>* namespaces = nullptr);
  // Takes out some of what has expired, so that nobody waits long for it; false: that was all.
  bool ExpireSome(Instant now, std::vector<Receipt>* forgone);
  static constexpr size_t kExpireAtOnce = 1024;
  // Beside the open ones nothing is kept.
  uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

  bool IsOwn(const Ticket& ticket) const { return ticket.high >> 32 == node_; }
  size_t open() const { return open_.load(std::memory_order_relaxed); }

 private:
  static constexpr size_t kShards = 16;
  struct Hash {
    size_t operator()(const Ticket& ticket) const { return ticket.low; }
  };
  struct Record {
    Ticket name;
    std::vector<Receipt> receipts;
    Instant expires;
    uint32_t owner;
    uint32_t bytes;
    uint64_t ns;
  };
  using Records = std::list<Record>;  // the oldest first
  struct Owned {
    Records records;
    uint64_t bytes = 0;
  };
  struct Shard {
    std::mutex mutex;
    // Guarded by mutex.
    absl::flat_hash_map<Ticket, Records::iterator, Hash> by_name;
    absl::flat_hash_map<uint32_t, Owned> by_owner;
    uint64_t bytes = 0;
  };

  Shard& ShardOf(const Ticket& ticket) { return shards_[ticket.low % kShards]; }
  static uint32_t BytesOf(const std::vector<Receipt>& receipts);
  // The receipts of a ticket that is there no more.
  std::vector<Receipt> Remove(Shard& shard, Records::iterator record);
  void PushOut(Shard& shard, std::vector<Receipt>* forgone);

  const uint32_t node_;
  const Duration ttl_;
  const size_t most_per_shard_;
  const uint64_t bytes_per_shard_;
  MemoryStore& store_;
  std::atomic<size_t> open_{0};
  std::atomic<uint64_t> bytes_{0};
  std::array<Shard, kShards> shards_;
};

}  // namespace weir
