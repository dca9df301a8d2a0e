// The holds: who holds how many copies, and from which pools they came.
//
// A hold counts in the pools of the groups that the subject belonged to when it was reserved,
// whatever becomes of the groups later; so it keeps the keys of its pools.
#pragma once

#include <mutex>
#include <vector>

#include <absl/container/flat_hash_map.h>

#include "base/keyed_hash.h"
#include "limiter/ticket_book.h"
#include "weir/decision.h"
#include "weir/error.h"

namespace weir {

class HoldBook {
 public:
  explicit HoldBook(std::string_view node) : node_(NodeHash(node)) {}

  Ticket Add(std::vector<Key> pools, uint64_t copies);

  struct Release {
    std::vector<Key> pools;
    uint64_t copies = 0;  // to be returned to each of them
    uint64_t left = 0;
  };
  // copies = 0: all. An error if the hold is unknown or has fewer.
  Result<Release> Take(const Ticket& hold, uint64_t copies);

 private:
  struct Hash {
    size_t operator()(const Ticket& ticket) const { return ticket.low; }
  };
  struct Hold {
    std::vector<Key> pools;
    uint64_t copies;
  };
  const uint32_t node_;
  std::mutex mutex_;
  absl::flat_hash_map<Ticket, Hold, Hash> holds_;  // guarded by mutex_
};

}  // namespace weir
