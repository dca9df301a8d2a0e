// Where copies come from and go back to.
//
// A pool has a key and a limit. Taking from several is all or nothing, in the words and by the convention of
// a store (store/store.h): the answer is there on return, or Done() follows on the thread of `home`. Who has
// no `home` cannot wait, and is answered at once, if need be that the pools are away.
//
// Today the pools are in this process's memory (memory_copy_pools.h), and holds ask without a `home`.
#pragma once

#include <span>

#include "store/store.h"

namespace weir {

class CopyPools {
 public:
  virtual ~CopyPools() = default;
  // False: Done() follows. With Want::kLook nothing is taken.
  [[nodiscard]] virtual bool Take(Admission& admission) = 0;
  virtual void Abandon(Admission& admission) = 0;
  // So many copies to each of the pools. From then on whoever takes finds them.
  virtual void Return(std::span<const Key> pools, uint64_t copies, Instant now) = 0;
};

}  // namespace weir
