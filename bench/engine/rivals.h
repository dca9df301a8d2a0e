// What the key table is measured against: the ways that one would keep token buckets otherwise, and
// the designs of the key table that were tried before the one that was chosen.
//
//   StringMap    the best flat hash map by std::string: what most programs would write
//   KeyMap       the same map by 64 bits of hash: no strings kept
//   LockedShards KeyMap in 256 shards, each with a lock: the usual way to use it from threads
//   CasTable     open addressing, cells of 16 bytes (64 bits of hash, one instant), one 64-bit
//                compare-and-swap per decision: the fastest that was tried; it keeps nothing but an
//                inexact bucket, cannot delete or grow while in use, and knows a key by 64 bits and
//                its place
//
// All keep the same bucket: GCRA in whole nanoseconds.
#pragma once

#include <sys/mman.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include <absl/container/flat_hash_map.h>
#if __has_include(<boost/unordered/unordered_flat_map.hpp>)
#include <boost/unordered/unordered_flat_map.hpp>
#endif

#include "bench/huge_pages.h"

namespace weir::bench {

struct Gcra {
  int64_t per_token, capacity;  // nanoseconds
  // The next full_at, or the same if there is no room.
  int64_t Next(int64_t full_at, int64_t now) const {
    const int64_t next = std::max(full_at, now) + per_token;
    return next - now <= capacity ? next : full_at;
  }
};

struct StringHash {
  using is_transparent = void;
  using is_avalanching = void;
  size_t operator()(std::string_view s) const {
    return absl::Hash<absl::string_view>()(absl::string_view(s.data(), s.size()));
  }
};
struct StringEqual {
  using is_transparent = void;
  bool operator()(std::string_view a, std::string_view b) const { return a == b; }
};
// The key is a hash already.
struct Taken {
  using is_avalanching = void;
  size_t operator()(uint64_t key) const { return key; }
};

#if __has_include(<boost/unordered/unordered_flat_map.hpp>)
inline constexpr std::string_view kFlatMap = "boost::unordered_flat_map";
template <typename K, typename H, typename E>
using FlatMap =
    boost::unordered_flat_map<K, int64_t, H, E, HugePageAllocator<std::pair<const K, int64_t>>>;
#else
inline constexpr std::string_view kFlatMap = "absl::flat_hash_map";
template <typename K, typename H, typename E>
using FlatMap =
    absl::flat_hash_map<K, int64_t, H, E, HugePageAllocator<std::pair<const K, int64_t>>>;
#endif

using StringMap = FlatMap<std::string, StringHash, StringEqual>;
using KeyMap = FlatMap<uint64_t, Taken, std::equal_to<uint64_t>>;

class LockedShards {
 public:
  bool Decide(uint64_t key, const Gcra& gcra, int64_t now) {
    Shard& shard = shards_[key >> 56];
    const std::lock_guard lock(shard.mutex);
    int64_t& full_at = shard.map[key];
    const int64_t next = gcra.Next(full_at, now);
    const bool allowed = next != full_at;
    full_at = next;
    return allowed;
  }

 private:
  struct alignas(64) Shard {
    std::mutex mutex;
    absl::flat_hash_map<uint64_t, int64_t, Taken> map;
  };
  std::unique_ptr<Shard[]> shards_{new Shard[256]};
};

class CasTable {
 public:
  // For at most two thirds of 2^bits keys.
  explicit CasTable(int bits) : mask_((uint64_t{1} << bits) - 1) {
    cells_ = HugePageAllocator<Cell>().allocate(mask_ + 1);
    for (uint64_t i = 0; i <= mask_; ++i) new (&cells_[i]) Cell{};
  }
  ~CasTable() { HugePageAllocator<Cell>().deallocate(cells_, mask_ + 1); }
  CasTable(const CasTable&) = delete;
  CasTable& operator=(const CasTable&) = delete;

  void Prefetch(uint64_t place) const { __builtin_prefetch(&cells_[place & mask_], 1); }
  bool Decide(uint64_t place, uint64_t tag, const Gcra& gcra, int64_t now) {
    tag |= 1;  // never empty
    for (uint64_t i = place & mask_;; i = (i + 1) & mask_) {
      Cell& cell = cells_[i];
      uint64_t found = cell.tag.load(std::memory_order_acquire);
      if (found == 0 && cell.tag.compare_exchange_strong(found, tag)) found = tag;
      if (found != tag) continue;
      int64_t full_at = cell.full_at.load(std::memory_order_relaxed);
      while (true) {
        const int64_t next = gcra.Next(full_at, now);
        if (next == full_at) return false;
        if (cell.full_at.compare_exchange_weak(full_at, next)) return true;
      }
    }
  }
  size_t bytes() const { return (mask_ + 1) * sizeof(Cell); }

 private:
  struct alignas(16) Cell {
    std::atomic<uint64_t> tag{0};
    std::atomic<int64_t> full_at{0};
  };
  const uint64_t mask_;
  Cell* cells_;
};

}  // namespace weir::bench
