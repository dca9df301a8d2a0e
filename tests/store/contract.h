// The stores that have to pass the contract (contract_test.cc): a store that is added is added to the
// list of Stores below.
#pragma once

#include "lab/stores/faulty.h"
#include "lab/stores/later.h"
#include "tests/store/asking.h"

namespace weir::testing {

struct Memory {
  static constexpr std::string_view kName = "Memory";
  static constexpr Duration kDelay{};
  explicit Memory(MemoryStore& memory) : store(memory) {}
  Store& store;
};
struct LaterMemory {
  static constexpr std::string_view kName = "Later";
  static constexpr Duration kDelay{};
  explicit LaterMemory(MemoryStore& memory) : store(memory) {}
  lab::Later store;
};
struct MuchLaterMemory {
  static constexpr std::string_view kName = "MuchLater";
  static constexpr Duration kDelay = std::chrono::milliseconds(3);
  explicit MuchLaterMemory(MemoryStore& memory) : store(memory, kDelay) {}
  lab::Later store;
};
struct FaultlessMemory {
  static constexpr std::string_view kName = "Faultless";
  static constexpr Duration kDelay{};
  explicit FaultlessMemory(MemoryStore& memory) : store(memory, 1) {}
  lab::Faulty store;
};

using Stores = ::testing::Types<Memory, LaterMemory, MuchLaterMemory, FaultlessMemory>;
struct StoreNames {
  template <typename Kind>
  static std::string GetName(int) {
    return std::string(Kind::kName);
  }
};

template <typename Kind>
class StoreContract : public ::testing::Test {
 protected:
  MemoryStore memory_{Mib(64), Instant{}};  // has the limits
  Kind kind_{memory_};
  Asker asker_{kind_.store, Kind::kDelay};

  Store& store() { return kind_.store; }
  const LimitSlot* Add(const Limit& limit, Instant now = kStart) {
    return memory_.limits().Add(limit, SlotTraits{}, now);
  }
  const LimitSlot* Bucket(uint64_t burst) {
    return Add(TokenBucket(burst, std::chrono::hours(1), burst));
  }
  uint64_t Remaining(const LimitSlot* slot, uint64_t key) {
    return asker_.Remaining(slot, key, kStart);
  }
};

}  // namespace weir::testing
