// Who waits for copies: a queue for each resource, first come, first served.
//
// A waiter is blocked by certain pools. Whoever comes later and needs one of them waits behind, or is
// refused: nobody overtakes on a pool, and nobody waits for a pool that he does not need. Only
// bookkeeping: whoever calls has the lock.
#pragma once

#include <functional>
#include <list>
#include <string>
#include <vector>

#include <absl/container/flat_hash_map.h>

#include "limiter/hold_book.h"

namespace weir {

// What is wanted, in words that outlive the request; rules may change while it waits.
struct Wanted {
  SessionId session;
  std::string namespace_name, resource, subject;
  uint64_t copies = 1, min_copies = 1;
  bool share = false;
  uint64_t workers = 0;  // > 0: a pool that the request describes itself
  // The queue's name: namespace and resource.
  std::string queue() const { return namespace_name + std::string(1, '\0') + resource; }
};

struct Waiter {
  Wanted wanted;
  Instant deadline;
  ReserveDone done;
  Pools blocked_by;
};

class WaitRoom {
 public:
  static constexpr size_t kMost = 100'000;

  using Queue = std::list<Waiter>;

  bool empty() const { return queues_.empty(); }
  size_t size() const { return size_; }
  // Null if nobody waits for it.
  Queue* Find(const std::string& queue);
  // Whether somebody waits there for one of the pools.
  bool Blocks(const std::string& queue, const Pools& pools) const;
  uint64_t Count(const std::string& queue, std::string_view subject) const;
  void Add(Waiter waiter);
  // Takes out those for whom `leaves(waiter)`, of one queue or of all.
  std::vector<Waiter> TakeFrom(const std::string& queue,
                               const std::function<bool(Waiter&)>& leaves);
  std::vector<Waiter> TakeFromAll(const std::function<bool(Waiter&)>& leaves);
  std::vector<std::string> Names() const;

 private:
  absl::flat_hash_map<std::string, Queue> queues_;
  size_t size_ = 0;
};

}  // namespace weir
