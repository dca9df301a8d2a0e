#include "store/key_table.h"

#include <sched.h>

#include <algorithm>

namespace weir {
namespace {

// Tells the processor that this is a loop that waits.
inline void Pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

void PauseWhileLocked(int tries) {
  if (tries < 64) {
    Pause();
  } else {
    sched_yield();  // whoever holds the lock may be waiting for this core
  }
}

KeyTable::KeyTable(uint64_t memory_bytes, Tenant& tenant)
    : tenant_(tenant), memory_bytes_(memory_bytes), arena_(memory_bytes), use_(new Use[kShards]) {
  for (size_t i = 0; i < kShards; ++i) {
    use_[i].guarded_room.store(static_cast<int64_t>(memory_bytes / kShards / 2));
  }
}

KeyTable::~KeyTable() {
  ForEach([this](Cell cell) { tenant_.Drop(cell); });
}

// From 16 to 20 lines: a quarter apart, as a shard grows by a quarter.
size_t KeyTable::FirstSize(size_t shard) { return 16 + shard * 4 / kShards; }

bool KeyTable::OverBudget(uint64_t more) const { return bytes() + more > memory_bytes_; }

uint64_t KeyTable::size() const {
  uint64_t cells = 0;
  for (size_t i = 0; i < kShards; ++i) cells += use_[i].cells.load(std::memory_order_relaxed);
  return cells;
}

uint64_t KeyTable::bytes() const {
  const int64_t bytes =
      table_bytes_.load(std::memory_order_relaxed) + heap_bytes_.load(std::memory_order_relaxed);
  return bytes < 0 ? 0 : static_cast<uint64_t>(bytes);
}

// ---- One cell ----

void KeyTable::AddPast(Line* line, int more) {
  const uint8_t head = line->head.load(std::memory_order_relaxed);
  if ((head & kManyPast) == kManyPast) return;  // lost count: stays until the next rebuild
  line->head.store(static_cast<uint8_t>(head + more * kOnePast), std::memory_order_relaxed);
}

// An empty cell of a locked line; one that has expired is emptied.
Cell KeyTable::FindRoom(Line* line, Array array, size_t shard, Instant now) {
  for (size_t i = 0; i < kCellsPerLine; ++i) {
    if (line->cell(i).empty()) return line->cell(i);
  }
  for (size_t i = 0; i < kCellsPerLine; ++i) {
    Cell cell = line->cell(i);
    // A cell that went past other lines is counted there, and they may not be ours to write.
    if (array.HomeOf(cell.tag()) != line || !tenant_.Expired(cell, now)) continue;
    tenant_.Drop(cell);
    AddGuardedRoom(shard, cell.limit(), kBytesOfCell);
    cell.Clear();
    use_[shard].cells.fetch_sub(1, std::memory_order_relaxed);
    return cell;
  }
  return Cell();
}

KeyTable::Found KeyTable::Make(const Key& key, uint32_t limit, Instant now, Held& held,
                               const Probe& probe, Cell* cell) {
  const size_t shard = ShardOf(key);
  std::atomic<uint32_t>& cells = use_[shard].cells;
  held.without_room = probe.array.word;
  if (cells.load(std::memory_order_relaxed) >= MostCells(probe.array.count())) {
    return Found::kNoRoom;
  }
  const bool guarded = tenant_.Guarded(limit);
  if (guarded && use_[shard].guarded_room.load(std::memory_order_relaxed) < kBytesOfCell) {
    held.without_room = 0;
    return Found::kNoRoom;
  }
  Line* const end = probe.array.lines() + probe.array.total();
  for (Line* line = probe.home; line != end; ++line) {
    if (line > probe.last && !held.Has(line)) {
      Lock(line);  // cannot be dead while the home line is held
      held.Add(line);
    }
    Cell room = FindRoom(line, probe.array, shard, now);
    if (room.bytes() == nullptr) continue;
    for (Line* past = probe.home; past != line; ++past) AddPast(past, +1);
    room.Name(key, limit);
    room.SetPayload({});
    cells.fetch_add(1, std::memory_order_relaxed);
    if (guarded) use_[shard].guarded_room.fetch_sub(kBytesOfCell, std::memory_order_relaxed);
    *cell = room;
    return Found::kFresh;
  }
  return Found::kNoRoom;
}

void KeyTable::Erase(const Key& key, Cell cell) {
  const size_t shard = ShardOf(key);
  AddGuardedRoom(shard, cell.limit(), kBytesOfCell);
  cell.Clear();
  use_[shard].cells.fetch_sub(1, std::memory_order_relaxed);
  // The lines from home to here are held: the key was opened.
  const auto here = reinterpret_cast<uint64_t>(cell.bytes()) / sizeof(Line) * sizeof(Line);
  for (Line* past = Load(shard).HomeOf(key.low); past != reinterpret_cast<Line*>(here); ++past) {
    AddPast(past, -1);
  }
}

// ---- A shard ----

void KeyTable::BeginRebuild(size_t shard) {
  for (int tries = 0; use_[shard].rebuilding.exchange(true, std::memory_order_acquire); ++tries) {
    PauseWhileLocked(tries);
  }
}

bool KeyTable::MakeRoom(const Key& key, Newcomer newcomer, Instant now, uint64_t without_room) {
  const size_t shard = ShardOf(key);
  BeginRebuild(shard);
  Use& use = use_[shard];
  const uint64_t array = Load(shard).word;
  bool room =
      array != without_room && without_room != 0;  // another thread may have made it meanwhile
  Use::Refused& refused = use.refused[(newcomer.owner * 2 + newcomer.deny) % use.refused.size()];
  const bool look_again =
      refused.owner != newcomer.owner || refused.deny != newcomer.deny || now >= refused.until;
  const bool lacks_only_guard = without_room == 0 && array != 0;
  if (lacks_only_guard && !newcomer.guarded) room = true;
  if (!room && look_again) {
    room = lacks_only_guard ? MakeGuardedRoom(shard, newcomer, now)
                            : Rebuild(shard, Goal::kRoom, newcomer, now);
    constexpr auto kForAWhile = std::chrono::milliseconds(100);
    if (!room) refused = {newcomer.owner, newcomer.deny, After(now, kForAWhile)};
  }
  EndRebuild(shard);
  return room;
}

void KeyTable::Sweep(size_t shard, Instant now) {
  BeginRebuild(shard);
  if (Load(shard).count() != 0) Rebuild(shard, Goal::kTidy, {}, now);
  EndRebuild(shard);
}

void KeyTable::Relieve(Newcomer newcomer, Instant now) {
  constexpr size_t kTogether = 16;
  if (ToNanos(now) < relieve_again_.load(std::memory_order_relaxed)) return;
  const std::unique_lock lock(relieve_mutex_, std::try_to_lock);
  if (!lock) return;
  for (size_t done = 0; OverBudget() && done < kShards; done += kTogether) {
    Forgetting plan(newcomer);
    for (size_t i = 0; i < kTogether; ++i) {
      ForEachIn((next_to_relieve_ + i) % kShards,
                [&](Cell cell) { plan.Meet(WorthOf(cell, now)); });
    }
    tenant_.ForEachOutside([&](uint32_t owner, uint64_t bytes) {
      plan.MeetOutside(owner, bytes * kTogether / kShards);
    });
    plan.Free(plan.held() / kTogether + 1);
    for (size_t i = 0; i < kTogether; ++i) ForgetIn((next_to_relieve_ + i) % kShards, plan, now);
    next_to_relieve_ = (next_to_relieve_ + kTogether) % kShards;
  }
  if (OverBudget()) relieve_again_.store(ToNanos(After(now, std::chrono::milliseconds(100))));
}

// Forgets the cells of a shard that the plan takes; returns how many.
size_t KeyTable::ForgetIn(size_t shard, Forgetting& plan, Instant now) {
  BeginRebuild(shard);
  const Array old = Load(shard);
  std::vector<Moving> cells = Collect(old, now);
  WeighAll(cells, now);
  const size_t forgotten = Forget(cells, plan);
  // The table gives way to the heap: no more lines than these cells need.
  const size_t need = (cells.size() + cells.size() / 16) * 100 / (82 * kCellsPerLine) + 1;
  Replace(shard, old, std::min(old.count(), std::max(FirstSize(shard), need)), cells);
  EndRebuild(shard);
  return forgotten;
}

// Locks all lines of the array, takes out what is alive and drops what has expired.
std::vector<KeyTable::Moving> KeyTable::Collect(Array array, Instant now) {
  std::vector<Moving> cells;
  cells.reserve(MostCells(array.count()));
  for (size_t i = 0; i < array.total(); ++i) {
    Line& line = array.lines()[i];
    Lock(&line);
    for (size_t c = 0; c < kCellsPerLine; ++c) {
      const Cell cell = line.cell(c);
      if (cell.empty()) continue;
      tenant_.Met(cell, now);
      if (tenant_.Expired(cell, now)) {
        tenant_.Drop(cell);
        continue;
      }
      Moving& moving = cells.emplace_back();
      std::memcpy(moving.bytes, cell.bytes(), kCellBytes);
    }
  }
  return cells;
}

void KeyTable::WeighAll(std::vector<Moving>& cells, Instant now) {
  for (Moving& moving : cells) moving.worth = WorthOf(Cell(moving.bytes), now);
}

// They have been weighed.
Forgetting KeyTable::MeetAll(std::vector<Moving>& cells, Newcomer newcomer) {
  Forgetting plan(newcomer);
  for (const Moving& moving : cells) plan.Meet(moving.worth);
  tenant_.ForEachOutside(
      [&](uint32_t owner, uint64_t bytes) { plan.MeetOutside(owner, bytes / kShards); });
  return plan;
}

// Drops what the plan takes; returns how many. They have been weighed.
size_t KeyTable::Forget(std::vector<Moving>& cells, Forgetting& plan) {
  const size_t before = cells.size();
  std::erase_if(cells, [&](Moving& moving) {
    if (!plan.Takes(moving.worth)) return false;
    tenant_.Drop(Cell(moving.bytes));
    return true;
  });
  const size_t forgotten = before - cells.size();
  forgotten_.fetch_add(forgotten, std::memory_order_relaxed);
  return forgotten;
}

// Forgets until a sixteenth of `most` cells is free, or so much of the heap that the shard may grow.
bool KeyTable::MakeRoomAmong(std::vector<Moving>& cells, size_t most, uint64_t growth,
                             Newcomer newcomer, Instant now) {
  WeighAll(cells, now);
  while (OverBudget(growth) && cells.size() > most * 15 / 16) {
    Forgetting plan = MeetAll(cells, newcomer);
    plan.Free(plan.held() / 16 + 1);
    if (Forget(cells, plan) == 0) return cells.size() < most;
  }
  return true;
}

// How much more the guarded newcomers of all may take; at least what the newcomer's owner lacks of its
// own part.
void KeyTable::CountGuarded(size_t shard, std::vector<Moving>& cells, Newcomer newcomer,
                            Instant now) {
  const uint64_t half = memory_bytes_ / kShards / 2;
  const uint64_t part = half / tenant_.Owners();
  std::vector<uint64_t> held(newcomer.owner + 1);
  for (Moving& moving : cells) {
    const Cell cell(moving.bytes);
    if (!tenant_.Guarded(cell.limit())) continue;
    const Worth worth = WorthOf(cell, now);
    if (held.size() <= worth.owner) held.resize(worth.owner + 1);
    held[worth.owner] += worth.bytes;
  }
  int64_t room = static_cast<int64_t>(half);
  for (const uint64_t bytes : held) room -= static_cast<int64_t>(bytes - std::min(bytes, part));
  const uint64_t own = held[newcomer.owner];
  if (newcomer.guarded && own < part) room = std::max(room, static_cast<int64_t>(part - own));
  use_[shard].guarded_room.store(room, std::memory_order_relaxed);
}

// The shard has room, but not for the guarded states of whoever has its part already: one of its own
// has to go.
bool KeyTable::MakeGuardedRoom(size_t shard, Newcomer newcomer, Instant now) {
  const Array array = Load(shard);
  std::vector<Moving> cells = Collect(array, now);
  const auto room = [&] {
    CountGuarded(shard, cells, newcomer, now);
    return use_[shard].guarded_room.load(std::memory_order_relaxed) >= kBytesOfCell;
  };
  bool made = room();
  if (!made && !newcomer.deny) {
    newcomer.own_only = true;
    WeighAll(cells, now);
    Forgetting plan = MeetAll(cells, newcomer);
    plan.Free(plan.held() / 16 + 1);
    made = Forget(cells, plan) > 0;
    if (!room()) use_[shard].guarded_room.store(kBytesOfCell, std::memory_order_relaxed);
  }
  Replace(shard, array, array.count(), cells);
  return made;
}

// Writes the cells into the lines of an array that nobody else can write to. Heads keep their lock.
// False if they do not fit behind the last line.
bool KeyTable::Lay(std::vector<Moving>& cells, Array array) {
  for (size_t i = 0; i < array.total(); ++i) {
    Line& line = array.lines()[i];
    for (size_t c = 0; c < kCellsPerLine; ++c) line.cell(c).Clear();
    line.head.store(kLive | kLocked, std::memory_order_relaxed);
  }
  for (Moving& moving : cells) {
    Line* line = array.HomeOf(Cell(moving.bytes).tag());
    Line* const end = array.lines() + array.total();
    const auto room = [&] {
      for (size_t c = 0; c < kCellsPerLine; ++c) {
        if (line->cell(c).empty()) return line->cell(c).bytes();
      }
      return static_cast<unsigned char*>(nullptr);
    };
    unsigned char* bytes = room();
    while (bytes == nullptr) {
      AddPast(line, +1);
      if (++line == end) return false;
      bytes = room();
    }
    std::memcpy(bytes, moving.bytes, kCellBytes);
  }
  return true;
}

KeyTable::Array KeyTable::Allocate(size_t count) {
  const Array sized{count};
  void* memory = arena_.Allocate(sized.total() * sizeof(Line));
  if (memory == nullptr) return Array{};
  table_bytes_.fetch_add(static_cast<int64_t>(sized.total() * sizeof(Line)));
  return Array::Of(static_cast<Line*>(memory), count);
}

// From now on the shard is `next`, whose lines are locked; `old`, whose lines are locked too, dies.
void KeyTable::Publish(size_t shard, Array old, Array next) {
  arrays_[shard].store(next.word, std::memory_order_release);
  for (size_t i = 0; i < next.total(); ++i) Unlock(&next.lines()[i]);
  if (old == next) return;
  for (size_t i = 0; i < old.total(); ++i) {
    old.lines()[i].head.store(0, std::memory_order_release);
  }
  Release(old);
}

void KeyTable::Release(Array array) {
  if (array.count() == 0) return;
  table_bytes_.fetch_sub(static_cast<int64_t>(array.total() * sizeof(Line)));
  arena_.Free(array.lines(), array.total() * sizeof(Line));
}

// How many lines a shard should have for `cells`, `expired` of which were just dropped.
size_t KeyTable::Fitting(size_t shard, size_t cells, size_t expired, Goal goal) const {
  const size_t count = Load(shard).count();
  if (count == 0) return FirstSize(shard);
  const size_t most = MostCells(count);
  if (goal != Goal::kTidy) {
    const bool enough = expired > 0 && cells * 100 < most * 95;
    return enough ? count : count + count / 4;
  }
  if (cells * 8 >= most * 3) return count;
  return std::max(FirstSize(shard), cells * 125 / (82 * kCellsPerLine) + 1);
}

bool KeyTable::Rebuild(size_t shard, Goal goal, Newcomer newcomer, Instant now) {
  const Array old = Load(shard);
  const size_t before = use_[shard].cells.load(std::memory_order_relaxed);
  std::vector<Moving> cells = Collect(old, now);
  const size_t most = MostCells(old.count());
  size_t count = Fitting(shard, cells.size(), before - cells.size(), goal);

  bool room = true;
  const uint64_t growth = count > old.count() ? (count - old.count()) * sizeof(Line) : 0;
  if (growth > 0 && old.count() > 0 && OverBudget(growth)) {
    room = cells.size() < most && cells.size() < before;
    // Less than full and still no room: too many want the last lines, which is rare.
    if (!room) room = MakeRoomAmong(cells, std::min(most, cells.size()), growth, newcomer, now);
    if (OverBudget(growth)) count = old.count();
  }
  CountGuarded(shard, cells, newcomer, now);
  Replace(shard, old, count, cells);
  return room;
}

// Lays the cells out anew in an array of `count` lines: the old one, if that is its size. The lines
// of the old array are locked.
void KeyTable::Replace(size_t shard, Array old, size_t count, std::vector<Moving>& cells) {
  std::atomic<uint32_t>& in_use = use_[shard].cells;
  Array next = count == old.count() ? old : Allocate(count);
  if (next.count() == 0) next = old;
  const bool unchanged = next == old && cells.size() == in_use.load(std::memory_order_relaxed);
  while (!unchanged && !Lay(cells, next)) {
    // Too many want the last lines. A little more room helps; and in the old array, all fit.
    const Array larger = Allocate(next.count() + next.count() / 8 + 1);
    Release(next);
    next = larger.count() == 0 ? old : larger;
  }
  in_use.store(static_cast<uint32_t>(cells.size()), std::memory_order_relaxed);
  Publish(shard, old, next);
}

}  // namespace weir
