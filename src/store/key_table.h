// The key table: where a state is found by its key. Made for 10^8 keys and two cache misses less.
//
// A table of lines of one cache line each: three cells (cell.h) and a head byte, which is the lock
// of the line and says how many cells had to go past it. A key has a home line; where that is full
// its cell lies in one of the next. A decision locks the home line (one compare-and-swap), finds
// its cell there, writes it, and unlocks (one store): it touches one cache line, and two threads
// meet only if they want the same line at the same time.
//
//   head:  bit 0 live | bit 1 locked | bits 2..7 cells that went past this line (63: or more)
//
// Several keys are locked in the order of (shard, tag), which is the order of their lines whatever
// the table's size, so that nobody waits in a circle.
//
// The table is cut into shards that grow and shrink on their own, by a quarter at a time, and are
// of different sizes from the beginning: some shard grows often, all never at once, and memory per
// key stays even. To replace a shard's array, all its lines are locked in order, the cells are laid
// out anew, the new array is published and the lines of the old one become dead (head 0) for ever,
// until its memory becomes part of another array. Whoever comes with the old address finds a dead
// line, or a line of another array; after locking it he looks at the shard again, sees that it has
// moved, and starts over. (The arena never unmaps, so looking is safe.)
//
// The memory that may be used is capped. A shard that is full and may not grow forgets a sixteenth of
// what it holds at a time (forgetting.h): of the owner that holds the most, what is least used. Keys
// fall into shards by their hash, so that every shard is a fair sample of all, and whoever holds the
// most of a shard holds the most of the table. Where it is the tenant's heap that is too large, the
// same is done over sixteen shards together.
//
// States that are guarded are not forgotten for others. So that they cannot take it all, an owner's
// are within its part of half of the memory, or share the other half with those of other owners; a
// shard keeps how many more it may take (Use::guarded_room), and counts anew whenever it is rebuilt.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "store/arena.h"
#include "store/cell.h"
#include "store/forgetting.h"
#include "weir/instant.h"

namespace weir {

// What a thread does while another holds the lock that it wants: spins, then yields.
void PauseWhileLocked(int tries);

class KeyTable {
 public:
  static constexpr size_t kShards = 1024;
  static constexpr size_t kCellsPerLine = 3;

  struct alignas(64) Line {
    std::atomic<uint8_t> head;
    unsigned char cells[kCellsPerLine][kCellBytes];
    Cell cell(size_t i) { return Cell(cells[i]); }
  };
  static_assert(sizeof(Line) == 64);

  // Who knows what the cells mean.
  class Tenant {
   public:
    virtual ~Tenant() = default;
    virtual bool Expired(Cell cell, Instant now) = 0;
    virtual Worth Weigh(Cell cell, Instant now) = 0;  // its bytes: those on the heap
    virtual void Drop(Cell cell) = 0;                 // frees what the cell owns
    virtual void Met(Cell cell, Instant now) = 0;     // a sweep or rebuild passes by
    virtual bool Guarded(uint32_t limit) = 0;         // the states of this limit
    // The number of owners, and what they hold elsewhere of the memory.
    virtual uint32_t Owners() = 0;
    virtual void ForEachOutside(
        const std::function<void(uint32_t owner, uint64_t bytes)>& visit) = 0;
  };

  // The lines that a request has locked. Unlocks them when it goes.
  class Held {
   public:
    Held() {}  // NOLINT: few_ is not touched before it is used
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    ~Held() { Release(0); }
    bool Has(const Line* line) const {
      for (size_t i = 0; i < size_; ++i) {
        if ((i < kFew ? few_[i] : more_[i - kFew]) == line) return true;
      }
      return false;
    }
    void Add(Line* line) {
      if (size_ < kFew) {
        few_[size_++] = line;
      } else {
        more_.push_back(line);
        ++size_;
      }
    }
    size_t size() const { return size_; }
    // Unlocks all but the first `keep`.
    void Release(size_t keep) {
      for (; size_ > keep; --size_) {
        if (size_ > kFew) {
          Unlock(more_.back());
          more_.pop_back();
        } else {
          Unlock(few_[size_ - 1]);
        }
      }
    }
    uint64_t without_room = 0;  // the array in which Open found none; 0: not for a guarded state

   private:
    static constexpr size_t kFew = 12;
    size_t size_ = 0;
    Line* few_[kFew];
    std::vector<Line*> more_;
  };

  enum class Found {
    kHere,    // the key's cell
    kFresh,   // a cell was made for it, empty but for its name
    kAbsent,  // only without `make`
    kNoRoom,  // only with `make`: release everything, MakeRoom(), and start over
    kMoved,   // not seen outside
  };

  KeyTable(uint64_t memory_bytes, Tenant& tenant);
  ~KeyTable();
  KeyTable(const KeyTable&) = delete;
  KeyTable& operator=(const KeyTable&) = delete;

  // The order in which several keys must be opened.
  static bool Before(const Key& a, const Key& b) {
    return ShardOf(a) != ShardOf(b) ? ShardOf(a) < ShardOf(b) : a.low < b.low;
  }

  void Prefetch(const Key& key) const;
  // Locks what belongs to `key`; the cell is valid while `held` is. A fresh cell belongs to limit
  // number `limit` and must be given a payload, or erased.
  Found Open(const Key& key, bool make, uint32_t limit, Instant now, Held& held, Cell* cell);
  // The cell of a key that was opened; its box, if any, is the caller's to free.
  void Erase(const Key& key, Cell cell);

  // After kNoRoom, with nothing held; `without_room` is what Held says. False if memory is used up
  // and there is nothing that may be forgotten for this newcomer.
  bool MakeRoom(const Key& key, Newcomer newcomer, Instant now, uint64_t without_room);
  // The heap has grown beyond the cap, for this newcomer: forgets cells of some shards, and of the
  // next ones next time, until it is within.
  void Relieve(Newcomer newcomer, Instant now);
  // Drops what has expired in one shard, and shrinks it if that left it empty enough.
  void Sweep(size_t shard, Instant now);
  // Bytes on the heap, of the tenant or of others, count towards the cap.
  void AddHeapBytes(int64_t bytes) { heap_bytes_.fetch_add(bytes, std::memory_order_relaxed); }
  bool OverBudget(uint64_t more = 0) const;

  // Calls `visit(Cell)` for every cell, a shard at a time, locked.
  template <typename Visit>
  void ForEach(Visit visit) {
    for (size_t shard = 0; shard < kShards; ++shard) ForEachIn(shard, visit);
  }

  uint64_t size() const;
  uint64_t bytes() const;
  uint64_t forgotten() const { return forgotten_.load(std::memory_order_relaxed); }

 private:
  static constexpr uint8_t kLive = 1, kLocked = 2, kOnePast = 4, kManyPast = 0xfc;

  // A shard's array in one word: the address of its lines and their number.
  struct Array {
    uint64_t word = 0;
    static Array Of(Line* lines, size_t count) {
      return {reinterpret_cast<uint64_t>(lines) >> 6 << 22 | count};
    }
    Line* lines() const { return reinterpret_cast<Line*>(word >> 22 << 6); }
    size_t count() const { return word & 0x3fffff; }
    // Lines behind the last home line, for what goes past it: enough that it hardly ever matters.
    size_t total() const {
      return count() == 0 ? 0 : count() + std::min<size_t>(8 + count() / 64, 24);
    }
    Line* HomeOf(uint64_t tag) const {
      return lines() + static_cast<size_t>(uint128{tag} * count() >> 64);
    }
    bool operator==(const Array&) const = default;
  };
  struct alignas(64) Use {
    std::atomic<uint32_t> cells{0};
    std::atomic<bool> rebuilding{false};
    std::atomic<int64_t> guarded_room{0};  // bytes that guarded newcomers may still take
    // To look for room costs a walk through the shard: who found none does not look again for a while.
    // Guarded by rebuilding.
    struct Refused {
      uint32_t owner = 0;
      bool deny = false;
      Instant until{};
    };
    std::array<Refused, 6> refused;
  };
  // Where a key was looked for: in the lines from home to last, all of them locked.
  struct Probe {
    Array array;
    Line* home = nullptr;
    Line* last = nullptr;
  };
  struct Moving {
    unsigned char bytes[kCellBytes];
    Worth worth;  // once it was asked for
  };
  enum class Goal { kRoom, kTidy };
  // What a cell takes in its line, where four of five are used.
  static constexpr uint32_t kBytesOfCell = 26;

  static size_t ShardOf(const Key& key) { return key.high >> 54; }
  static size_t MostCells(size_t lines) { return lines * kCellsPerLine * 82 / 100; }
  static size_t FirstSize(size_t shard);

  static bool Lock(Line* line);  // false: dead
  static void Unlock(Line* line) {
    line->head.store(line->head.load(std::memory_order_relaxed) & static_cast<uint8_t>(~kLocked),
                     std::memory_order_release);
  }
  static bool Past(const Line* line) {
    return (line->head.load(std::memory_order_relaxed) & kManyPast) != 0;
  }
  static void AddPast(Line* line, int more);

  Array Load(size_t shard) const { return {arrays_[shard].load(std::memory_order_acquire)}; }
  Found Seek(const Key& key, Held& held, Probe& probe, Cell* cell);
  Found Make(const Key& key, uint32_t limit, Instant now, Held& held, const Probe& probe,
             Cell* cell);
  Cell FindRoom(Line* line, Array array, size_t shard, Instant now);

  void BeginRebuild(size_t shard);
  void EndRebuild(size_t shard) { use_[shard].rebuilding.store(false, std::memory_order_release); }
  size_t Fitting(size_t shard, size_t cells, size_t expired, Goal goal) const;
  template <typename Visit>
  void ForEachIn(size_t shard, Visit visit);
  bool Rebuild(size_t shard, Goal goal, Newcomer newcomer, Instant now);
  bool MakeGuardedRoom(size_t shard, Newcomer newcomer, Instant now);
  size_t ForgetIn(size_t shard, Forgetting& plan, Instant now);
  void Replace(size_t shard, Array old, size_t count, std::vector<Moving>& cells);
  std::vector<Moving> Collect(Array array, Instant now);
  Worth WorthOf(Cell cell, Instant now) {
    Worth worth = tenant_.Weigh(cell, now);
    worth.bytes += kBytesOfCell;
    const uint64_t drawn = (cell.tag() ^ static_cast<uint64_t>(ToNanos(now))) * 0x9e3779b97f4a7c15;
    worth.lot = static_cast<uint32_t>(drawn >> 32);
    return worth;
  }
  void WeighAll(std::vector<Moving>& cells, Instant now);
  Forgetting MeetAll(std::vector<Moving>& cells, Newcomer newcomer);
  size_t Forget(std::vector<Moving>& cells, Forgetting& plan);
  bool MakeRoomAmong(std::vector<Moving>& cells, size_t most, uint64_t growth, Newcomer newcomer,
                     Instant now);
  void CountGuarded(size_t shard, std::vector<Moving>& cells, Newcomer newcomer, Instant now);
  void AddGuardedRoom(size_t shard, uint32_t limit, int64_t bytes) {
    if (tenant_.Guarded(limit))
      use_[shard].guarded_room.fetch_add(bytes, std::memory_order_relaxed);
  }
  static bool Lay(std::vector<Moving>& cells, Array array);
  Array Allocate(size_t count);
  void Release(Array array);
  void Publish(size_t shard, Array old, Array next);

  Tenant& tenant_;
  const uint64_t memory_bytes_;
  Arena arena_;
  std::array<std::atomic<uint64_t>, kShards> arrays_{};
  std::unique_ptr<Use[]> use_;
  std::atomic<int64_t> table_bytes_{0};
  std::atomic<int64_t> heap_bytes_{0};
  std::atomic<uint64_t> forgotten_{0};

  std::mutex relieve_mutex_;
  size_t next_to_relieve_ = 0;  // guarded by relieve_mutex_
  // Before that nobody tries: all that may be forgotten was not enough.
  std::atomic<int64_t> relieve_again_{INT64_MIN};
};

inline bool KeyTable::Lock(Line* line) {
  for (int tries = 0;; ++tries) {
    uint8_t head = line->head.load(std::memory_order_relaxed);
    if ((head & kLive) == 0) return false;
    if ((head & kLocked) == 0 &&
        line->head.compare_exchange_weak(head, head | kLocked, std::memory_order_acquire,
                                         std::memory_order_relaxed)) {
      return true;
    }
    if ((head & kLocked) != 0) PauseWhileLocked(tries);
  }
}

inline void KeyTable::Prefetch(const Key& key) const {
  const Array array = Load(ShardOf(key));
  if (array.count() != 0) __builtin_prefetch(array.HomeOf(key.low), 1);
}

// Goes from the home line on, locking, until the key is found or no cell can be further on.
inline KeyTable::Found KeyTable::Seek(const Key& key, Held& held, Probe& probe, Cell* cell) {
  Line* const end = probe.array.lines() + probe.array.total();
  for (Line* line = probe.home; line != end; ++line) {
    probe.last = line;
    if (!held.Has(line)) {
      if (!Lock(line)) return Found::kMoved;
      held.Add(line);
      if (line == probe.home && Load(ShardOf(key)) != probe.array) return Found::kMoved;
    }
    for (size_t i = 0; i < kCellsPerLine; ++i) {
      const Cell here = line->cell(i);
      if (here.Is(key)) {
        *cell = here;
        return Found::kHere;
      }
    }
    if (!Past(line)) break;
  }
  return Found::kAbsent;
}

inline KeyTable::Found KeyTable::Open(const Key& key, bool make, uint32_t limit, Instant now,
                                      Held& held, Cell* cell) {
  const size_t held_before = held.size();
  while (true) {
    Probe probe{.array = Load(ShardOf(key))};
    if (probe.array.count() == 0) {
      held.without_room = 0;
      return make ? Found::kNoRoom : Found::kAbsent;
    }
    probe.home = probe.array.HomeOf(key.low);
    const Found found = Seek(key, held, probe, cell);
    if (found == Found::kHere) return found;
    if (found == Found::kAbsent) {
      return make ? Make(key, limit, now, held, probe, cell) : Found::kAbsent;
    }
    held.Release(held_before);
  }
}

template <typename Visit>
void KeyTable::ForEachIn(size_t shard, Visit visit) {
  BeginRebuild(shard);
  const Array array = Load(shard);
  for (size_t i = 0; i < array.total(); ++i) {
    Line& line = array.lines()[i];
    Lock(&line);
    for (size_t c = 0; c < kCellsPerLine; ++c) {
      if (!line.cell(c).empty()) visit(line.cell(c));
    }
    Unlock(&line);
  }
  EndRebuild(shard);
}

}  // namespace weir
