#include "cluster/replicated_limits.h"

#include <algorithm>

namespace weir::cluster {
namespace {

ReplicatedBucket BucketOf(const CoordinatedLimit& limit, Window window) {
  return {limit.capacity, limit.limit, limit.per, window};
}

bool IsLog(const CoordinatedLimit& limit) {
  return limit.limit == 0 && limit.replication == Replication::kQueue;
}

// Requests that carry a limit may carry other numbers for the same key each time: as many tokens, in
// the ticks of those that its state has now.
int128 InTicksOf(const CoordinatedLimit& limit, const ReplicatedBucket& numbers, int128 ticks) {
  const bool bucket = limit.limit > 0 && numbers.limit > 0;
  if (!bucket || (limit.limit == numbers.limit && limit.per == numbers.per)) return ticks;
  const Ticks from(numbers), to(BucketOf(limit, 0));
  return ticks < 0 ? -Rescaled(-ticks, from, to) : Rescaled(ticks, from, to);
}

}  // namespace

CounterOptions CounterOf(const ReplicationOptions& options) {
  return {.interval = options.interval, .seed = options.seed, .report_changes = true};
}

// The thesis' queue at its best; what is dead is kept for as long as news take to spread.
QueueOptions QueueOf(const ReplicationOptions& options) {
  return {.interval = options.interval,
          .linf = true,
          .frequency = true,
          .margin = std::chrono::seconds(10),
          .seed = options.seed + 1,
          .report_changes = true};
}

ReplicatedLimits::ReplicatedLimits(Origin self, const ReplicationOptions& options, Instant now)
    : options_(options),
      counter_(self, CounterOf(options)),
      queue_(self, QueueOf(options)),
      debt_(self, options.debt, now) {}

// Only a log needs to know each hit.
Replica& ReplicatedLimits::ReplicaFor(const CoordinatedLimit& limit) {
  if (IsLog(limit)) return queue_;
  if (limit.limit == 0 || limit.replication == Replication::kDebt) return debt_;
  if (limit.replication == Replication::kCounter) return counter_;
  return queue_;
}

// ---- From the store ----

void ReplicatedLimits::Note(const Use& use) {
  noted_.fetch_add(1, std::memory_order_relaxed);
  Shard& shard = journal_[use.key.high % kShards];
  bool full = false;
  {
    const std::lock_guard lock(shard.mutex);
    shard.uses.push_back(use);
    full = shard.uses.size() >= kMostInShard;
  }
  if (waiting_.fetch_add(1, std::memory_order_acq_rel) == 0 && wake_) wake_();
  if (!full) return;
  const std::lock_guard lock(mutex_);  // nobody reads it: then whoever fills it does
  ReadJournal(shard);
}

std::vector<OthersUse> ReplicatedLimits::Begin(const Key& key, const CoordinatedLimit& limit,
                                               Windows windows, Instant now) {
  const std::lock_guard lock(mutex_);
  news_of_.erase(key);
  if (IsLog(limit)) return HitsOf(key, now);
  Replica& replica = ReplicaFor(limit);
  std::vector<OthersUse> uses;
  for (Window window = windows.from; window <= windows.to; ++window) {
    const ReplicatedBucket bucket = BucketOf(limit, window);
    const int128 full = Ticks(bucket).Of(bucket.capacity);
    const int128 used = full - replica.Level(key, bucket, now);
    if (used > 0) uses.push_back({window, used});
  }
  return uses;
}

std::vector<OthersUse> ReplicatedLimits::HitsOf(const Key& key, Instant now) {
  std::vector<OthersUse> hits;
  const TokenQueue* log = queue_.Find(key);
  if (log == nullptr) return hits;
  for (const Element& element : log->elements()) {
    if (element.birth > now) continue;
    hits.push_back({ToNanos(element.birth), int128{element.weight} - element.refunded});
  }
  return hits;
}

std::vector<OthersUse> ReplicatedLimits::News(const Key& key, const CoordinatedLimit& limit,
                                              Instant now) {
  const std::lock_guard lock(mutex_);
  if (limit.limit > 0 && limit.replication == Replication::kDebt && !debt_.HasLimit(key)) {
    news_of_.erase(key);
    const ReplicatedBucket bucket = BucketOf(limit, 0);
    return {{0, Ticks(bucket).Of(bucket.capacity) - debt_.Level(key, bucket, now)}};
  }
  const auto found = news_of_.find(key);
  if (found == news_of_.end()) return {};
  std::vector<OthersUse> uses;
  for (const Heard& news : found->second) {
    uses.push_back({news.use.window, InTicksOf(limit, news.numbers, news.use.ticks)});
  }
  news_of_.erase(found);
  return uses;
}

void ReplicatedLimits::Forget(const Key& key) {
  const std::lock_guard lock(mutex_);
  news_of_.erase(key);
}

void ReplicatedLimits::Defer(const Key& key, const OthersUse& use) {
  const std::lock_guard lock(mutex_);
  counts_.deferred += 1;
  deferred_.emplace_back(key, use);
}

// ---- To the replicas ----

// The next, so many at most; in the order in which they came.
size_t ReplicatedLimits::ReadJournal(Shard& shard, size_t most) {
  if (shard.read == shard.reading.size()) {
    shard.reading.clear();
    shard.read = 0;
    const std::lock_guard lock(shard.mutex);
    shard.reading.swap(shard.uses);
  }
  const size_t count = std::min(most, shard.reading.size() - shard.read);
  waiting_.fetch_sub(count, std::memory_order_acq_rel);
  for (size_t i = 0; i < count; ++i) Enter(shard.reading[shard.read++]);
  return count;
}

void ReplicatedLimits::ReadWholeJournal() {
  for (Shard& shard : journal_) {
    ReadJournal(shard, SIZE_MAX);  // what is being read,
    ReadJournal(shard, SIZE_MAX);  // and what came meanwhile
  }
}

void ReplicatedLimits::Enter(const Use& use) {
  ReplicatedBucket bucket = BucketOf(use.limit, use.window);
  if (IsLog(use.limit)) bucket.window = 0;
  Replica& replica = ReplicaFor(use.limit);
  if (&replica == &debt_ && bucket.limit == 0) {
    // Of a window, how much room there is follows from all windows that count: the store knows.
    bucket.capacity = 0;
    const int128 used = -debt_.Level(use.key, bucket, use.at);
    bucket.capacity = static_cast<uint64_t>(std::max<int128>(0, used)) + use.taken + use.remaining;
  }
  if (use.taken > 0) replica.Take(use.key, bucket, use.taken, use.at);
  if (use.refunded > 0) replica.Refund({use.key, bucket.window}, use.refunded, use.at);
}

void ReplicatedLimits::SetPeers(std::vector<uint32_t> peers) {
  for (Replica* replica : Replicas()) {
    InTurn([&] { replica->SetPeers(peers); });
  }
}

std::vector<Envelope> ReplicatedLimits::Tick(Instant now) {
  std::vector<Envelope> out;
  std::vector<Key> keys;
  const auto tell = [&] {
    Tell(keys, now);
    keys.clear();
  };
  for (Shard& shard : journal_) {
    InTurn([&] {
      ReadJournal(shard);
      keys = KeepNews();  // of keys that were just used here for the first time
    });
    tell();
  }
  for (Replica* replica : Replicas()) {
    InTurn([&] {
      read_at_ = now;
      if (replica->NextTick() > now) return;
      for (Envelope& envelope : replica->Tick(now)) out.push_back(std::move(envelope));
      keys = KeepNews();
    });
    tell();
  }
  InTurn([&] {
    for (auto& [key, use] : std::exchange(deferred_, {})) {
      news_of_[key].push_back({use, {}});
      keys.push_back(key);
    }
  });
  tell();
  return out;
}

Instant ReplicatedLimits::NextTick() const {
  const std::lock_guard lock(mutex_);
  Instant next = std::min({counter_.NextTick(), queue_.NextTick(), debt_.NextTick()});
  if (waiting_.load(std::memory_order_acquire) > 0) {
    next = std::min(next, After(read_at_, options_.batch));
  }
  constexpr Duration kLookAgain = std::chrono::milliseconds(20);
  if (!deferred_.empty()) next = std::min(next, After(read_at_, kLookAgain));
  return next;
}

// ---- From the others ----

std::vector<Envelope> ReplicatedLimits::Receive(std::string_view bytes, Instant now, bool& good) {
  std::vector<Envelope> out;
  std::vector<Key> keys;
  {
    const std::lock_guard lock(mutex_);
    good = false;
    switch (EnvelopeReader(bytes).head().kind) {
      case EnvelopeKind::kCounter: out = counter_.Receive(bytes, now, good); break;
      case EnvelopeKind::kQueue: out = queue_.Receive(bytes, now, good); break;
      case EnvelopeKind::kDebt: out = debt_.Receive(bytes, now, good); break;
    }
    counts_.refused += good ? 0 : 1;
    keys = KeepNews();
  }
  Tell(keys, now);
  return out;
}

std::vector<Key> ReplicatedLimits::KeepNews() {
  std::vector<Key> keys;
  for (Replica* replica : Replicas()) {
    for (const Change& change : replica->TakeChanges()) {
      keys.push_back(change.key);
      if (change.ticks == 0) continue;  // of how much, the state's limit tells
      news_of_[change.key].push_back({{change.limit.window, -change.ticks}, change.limit});
      counts_.merged += 1;
    }
  }
  return keys;
}

void ReplicatedLimits::Tell(const std::vector<Key>& keys, Instant now) {
  for (const Key& key : keys) {
    if (news_) {
      news_(key, now);
    } else {
      Forget(key);
    }
  }
}

std::vector<Envelope> ReplicatedLimits::Farewell(Instant now) {
  std::vector<Envelope> out;
  const std::lock_guard lock(mutex_);
  ReadWholeJournal();
  for (Replica* replica : Replicas()) {
    for (Envelope& envelope : replica->Farewell(now)) out.push_back(std::move(envelope));
  }
  return out;
}

// What was noted before; others have their turn between.
void ReplicatedLimits::CatchUp() {
  for (Shard& shard : journal_) {
    size_t left = 0;
    InTurn([&] {
      const std::lock_guard lock(shard.mutex);
      left = shard.reading.size() - shard.read + shard.uses.size();
    });
    while (left > 0) {
      size_t read = 0;
      InTurn([&] { read = ReadJournal(shard, std::min(left, kReadAtOnce)); });
      if (read == 0) break;  // somebody else has: Note, of a shard that is full
      left -= read;
    }
  }
}

// Who waits for the lock waits for one slice.
Slice ReplicatedLimits::Everything(uint32_t to, CopyCursor& cursor, const SliceSize& most,
                                   Instant now) {
  if (cursor.at_start()) CatchUp();
  const std::lock_guard lock(mutex_);
  Slice all;
  SliceSize left = most;
  for (const auto parts = Replicas(); cursor.part < parts.size();) {
    Slice slice = parts[cursor.part]->Everything(to, cursor, left, now);
    all.keys += slice.keys;
    left.keys -= slice.keys;
    for (Envelope& envelope : slice.envelopes) {
      left.bytes -= std::min(left.bytes, envelope.bytes.size() + most.around);
      all.envelopes.push_back(std::move(envelope));
    }
    if (!slice.last) return all;
    cursor.NextPart();
  }
  all.last = true;
  return all;
}

// The memory of many keys is counted in turns, so what the counts tell is of about the same instant.
ReplicationCounts ReplicatedLimits::Counts() const {
  uint64_t bytes = 0;
  for (const Replica* replica :
       {static_cast<const Replica*>(&counter_), static_cast<const Replica*>(&queue_),
        static_cast<const Replica*>(&debt_)}) {
    MemoryCount count;
    while (!count.done) {
      InTurn([&] {
        Steps steps;
        replica->CountBytes(count, steps);
      });
    }
    bytes += count.bytes;
  }
  const std::lock_guard lock(mutex_);
  ReplicationCounts counts = counts_;
  counts.noted = noted_.load(std::memory_order_relaxed);
  counts.told = debt_.told();
  counts.pushes = debt_.pushes();
  counts.turned_away = debt_.turned_away();
  counts.keys = counter_.keys() + queue_.keys() + debt_.keys();
  counts.bytes = bytes;
  return counts;
}

}  // namespace weir::cluster
