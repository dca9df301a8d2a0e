// Pools in this process's memory: states of the store like others, each under the lock of its line.
#pragma once

#include "holds/copy_pools.h"
#include "store/memory_store.h"

namespace weir {

class MemoryCopyPools final : public CopyPools {
 public:
  explicit MemoryCopyPools(MemoryStore& store) : store_(store) {}

  bool Take(Admission& admission) override { return store_.Admit(admission); }
  void Abandon(Admission&) override {}
  void Return(std::span<const Key> pools, uint64_t copies, Instant now) override {
    for (const Key& pool : pools) store_.Return(pool, copies, now);
  }

 private:
  MemoryStore& store_;
};

}  // namespace weir
