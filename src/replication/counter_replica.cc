#include "replication/counter_replica.h"

namespace weir {

CounterReplica::Bucket CounterReplica::Bucket::Full(const ReplicatedBucket& shape, Instant now) {
  return {shape, Ticks(shape).Of(shape.capacity), now, 0, {}};
}

void CounterReplica::Bucket::Count() {
  used = 0;
  for (const Row& row : rows) {
    used = std::min(used + std::min(row.consumed, kMostTokens), kMostTokens);
  }
}

int128 CounterReplica::Bucket::Level() const { return limit - Ticks(shape).Of(used); }

int128 CounterReplica::Bucket::LimitAt(Instant now) const {
  const Ticks ticks(shape);
  const int128 inflow = now > refilled ? ticks.In(now - refilled) : 0;
  return std::min(limit + inflow, ticks.Of(used + shape.capacity));
}

void CounterReplica::Bucket::Refill(Instant now) {
  limit = LimitAt(now);
  refilled = std::max(refilled, now);
}

void CounterReplica::Bucket::Reshape(const ReplicatedBucket& wanted) {
  if (shape == wanted) return;
  limit = Rescaled(limit, Ticks(shape), Ticks(wanted));
  shape = wanted;
}

// Most nodes count from 0 and are in their first life, so that the guess is right.
size_t CounterReplica::Bucket::PlaceOf(Origin origin) const {
  if (origin.node < rows.size() && rows[origin.node].origin == origin) return origin.node;
  const auto at = std::lower_bound(rows.begin(), rows.end(), origin,
                                   [](const Row& row, Origin o) { return row.origin < o; });
  return static_cast<size_t>(at - rows.begin());
}

size_t CounterReplica::Bucket::RowOf(Origin origin) {
  const size_t place = PlaceOf(origin);
  if (place == rows.size() || rows[place].origin != origin) {
    rows.insert(rows.begin() + static_cast<ptrdiff_t>(place), Row{origin});
  }
  return place;
}

CounterReplica::CounterReplica(Origin self, const CounterOptions& options)
    : fan_out_(options.fan_out),
      whole_buckets_(options.whole_buckets),
      report_changes_(options.report_changes),
      deltas_(EnvelopeKind::kCounter, self, options.interval, options.seed, options.whole_buckets) {
}

void CounterReplica::SetPeers(std::vector<uint32_t> peers) {
  deltas_.SetPeers(std::move(peers));
  Steps steps;
  CatchUp(steps);
}

CounterReplica::Bucket& CounterReplica::Brought(const Key& key, const ReplicatedBucket& limit,
                                                Instant now) {
  const auto [it, fresh] = buckets_.try_emplace(key);
  Bucket& bucket = it->second;
  if (fresh) bucket = Bucket::Full(limit, now);
  bucket.Refill(now);
  if (bucket.shape == limit) return bucket;
  bucket.Reshape(limit);
  bucket.Refill(now);
  return bucket;
}

bool CounterReplica::Admit(const Key& key, const ReplicatedBucket& limit, uint64_t cost,
                           Instant now) {
  if (Ticks(limit).Of(cost) > std::max<int128>(0, Level(key, limit, now))) return false;
  Take(key, limit, cost, now);
  return true;
}

void CounterReplica::Take(const Key& key, const ReplicatedBucket& limit, uint64_t cost,
                          Instant now) {
  if (cost == 0) return;
  Bucket& bucket = Brought(key, limit, now);
  bucket.rows[bucket.RowOf(deltas_.self())].consumed += cost;
  bucket.Count();
  OweOwn(key);
}

void CounterReplica::OweOwn(const Key& key) {
  const Origin piece = PieceOf(deltas_.self());
  deltas_.Owe(key, {&piece, 1}, deltas_.self());
}

int128 CounterReplica::Level(const Key& key, const ReplicatedBucket& limit, Instant now) {
  if (!buckets_.contains(key)) return Ticks(limit).Of(limit.capacity);
  return Brought(key, limit, now).Level();
}

void CounterReplica::Refund(const StateName& name, uint64_t cost, Instant now) {
  const auto it = buckets_.find(name.key);
  if (it == buckets_.end()) return;
  Bucket& bucket = it->second;
  Row& row = bucket.rows[bucket.RowOf(deltas_.self())];
  cost = std::min(cost, row.consumed - row.refunded);
  if (cost == 0) return;
  row.refunded += cost;
  bucket.Count();
  bucket.Refill(now);
  bucket.limit += Ticks(bucket.shape).Of(cost);
  bucket.Refill(now);
  OweOwn(name.key);
}

std::vector<Envelope> CounterReplica::Tick(Instant now) {
  std::vector<Envelope> out;
  Steps steps;
  CatchUp(steps);
  if (!deltas_.gossips() && deltas_.Due(now)) deltas_.Begin(fan_out_);
  deltas_.Gossip(*this, now, steps, out, [&] { return deltas_.AnyPeer(); });
  return out;
}

std::vector<Envelope> CounterReplica::Farewell(Instant now) {
  Steps steps = Steps::Unbounded();
  CatchUp(steps);
  return deltas_.TellAll(*this, now);
}

std::vector<Envelope> CounterReplica::Receive(std::string_view bytes, Instant now, bool& good) {
  EnvelopeReader reader(bytes);
  const Acknowledgements acknowledged = Delivery::ReadAcknowledgements(reader);
  Read(reader);
  const EnvelopeHead& head = reader.head();
  good = reader.done() && head.kind == EnvelopeKind::kCounter &&
         head.sender.node != deltas_.self().node;
  if (!good) return {};
  Fetch(read_.keys);
  deltas_.Fetch(read_.keys);
  size_t next = 0;
  for (const Told& told : read_.buckets) {
    Merge(told, std::span(read_.rows).subspan(next, told.rows), head.sender, now);
    next += told.rows;
  }
  deltas_.Heard(head, acknowledged, now);
  Steps steps;
  CatchUp(steps);
  return {};
}

void CounterReplica::Read(EnvelopeReader& from) {
  read_.keys.clear();
  read_.buckets.clear();
  read_.rows.clear();
  while (from.ok() && from.left() > 0) {
    Told& told = read_.buckets.emplace_back();
    told.key = read_.keys.emplace_back(from.Name());
    told.shape = ReadBucket(from);
    told.limit = ReadTicks(from, Ticks(told.shape));
    told.rows = from.NumberBelow(kMostEnvelopeBytes);
    for (size_t i = 0; i < told.rows && from.ok(); ++i) {
      Row& row = read_.rows.emplace_back();
      row.origin = from.Life();
      row.consumed = from.Number();
      row.refunded = from.NumberBelow(row.consumed + (row.consumed < UINT64_MAX));
    }
  }
}

void CounterReplica::Merge(const Told& told, std::span<const Row> rows, Origin sender,
                           Instant now) {
  if (rows.empty()) return;
  const auto [it, fresh] = buckets_.try_emplace(told.key);
  Bucket& bucket = it->second;
  if (fresh) {
    bucket.shape = told.shape;
    bucket.refilled = now;
  }
  bucket.Refill(now);
  const int128 before = fresh ? Ticks(bucket.shape).Of(bucket.shape.capacity) : bucket.Level();
  news_.clear();
  same_.clear();
  size_t place = 0;
  for (const Row& theirs : rows) {
    if (!bucket.IsAt(place, theirs.origin)) place = bucket.RowOf(theirs.origin);
    Row& ours = bucket.rows[place++];
    if (ours.consumed == theirs.consumed && ours.refunded == theirs.refunded) {
      same_.push_back(theirs.origin);
      continue;
    }
    if (theirs.consumed > ours.consumed || theirs.refunded > ours.refunded) {
      news_.push_back(theirs.origin);
    }
    ours.consumed = std::max(ours.consumed, theirs.consumed);
    ours.refunded = std::max(ours.refunded, theirs.refunded);
    if (ours.consumed == theirs.consumed && ours.refunded == theirs.refunded) {
      same_.push_back(theirs.origin);
    }
  }
  // As they were written by an honest sender; others may write what they like.
  if (!std::is_sorted(same_.begin(), same_.end())) std::sort(same_.begin(), same_.end());
  if (!std::is_sorted(news_.begin(), news_.end())) std::sort(news_.begin(), news_.end());
  if (!news_.empty()) bucket.Count();
  if (whole_buckets_) {
    if (!news_.empty()) news_ = {Origin{}};
    const bool all = same_.size() == bucket.rows.size();
    same_.assign(all ? 1 : 0, Origin{});
  }
  deltas_.Owe(told.key, news_, sender);
  deltas_.Known(sender, told.key, same_);
  const int128 limit = Rescaled(told.limit, Ticks(told.shape), Ticks(bucket.shape));
  bucket.limit = std::max(bucket.limit, limit);
  bucket.Refill(now);
  const int128 change = bucket.Level() - before;
  if (report_changes_ && change != 0) changes_.push_back({told.key, bucket.shape, change});
}

void CounterReplica::Fetch(std::span<const Key> keys) const {
  buckets_.Fetch(keys, [](const Bucket& bucket) {
    for (size_t row = 0; row < bucket.rows.size(); row += 2) Prefetch(&bucket.rows[row]);
  });
}

void CounterReplica::CatchUp(Steps& steps) {
  deltas_.Tidy(steps);
  deltas_.TellNewcomers(buckets_, steps, [&](const Bucket& bucket, const auto& owe) {
    for (const Row& row : bucket.rows) owe(row.origin.node, PieceOf(row.origin));
  });
}

void CounterReplica::WriteKey(EnvelopeWriter& to, const Bucket& bucket, Instant now) const {
  WriteBucket(to, bucket.shape);
  WriteTicks(to, Ticks(bucket.shape), bucket.LimitAt(now));
}

void CounterReplica::WritePiece(EnvelopeWriter& to, const Bucket& bucket, Origin origin,
                                Instant) const {
  WriteRow(to, bucket.rows[bucket.PlaceOf(origin)]);
}

size_t CounterReplica::WriteRows(EnvelopeWriter& to, const Bucket& bucket, size_t from,
                                 size_t size) {
  for (; from < bucket.rows.size(); ++from) {
    const size_t before = to.size();
    WriteRow(to, bucket.rows[from]);
    if (to.size() <= size) continue;
    to.Cut(before);
    break;
  }
  return from;
}

void CounterReplica::WriteRow(EnvelopeWriter& to, const Row& row) {
  to.Numbers(row.origin.node, row.origin.incarnation, row.consumed, row.refunded);
}

const CounterReplica::Row* CounterReplica::RowBefore(const Bucket& bucket,
                                                     const std::optional<RowMark>& mark) {
  const size_t place = mark ? bucket.PlaceOf(mark->origin) : bucket.rows.size();
  return place > 0 ? &bucket.rows[place - 1] : nullptr;
}

Slice CounterReplica::Everything(uint32_t to, CopyCursor& cursor, const SliceSize& most,
                                 Instant now) {
  CopyLetter letter(*this, EnvelopeKind::kCounter, deltas_.self(), now);
  return WriteSlice(buckets_, letter, to, most, cursor);
}

uint64_t CounterReplica::Remaining(const Key& key, const ReplicatedBucket& limit, Instant now) {
  return Ticks(limit).Tokens(Level(key, limit, now));
}

uint64_t CounterReplica::Used(const Key& key) const {
  const auto it = buckets_.find(key);
  if (it == buckets_.end()) return 0;
  uint64_t sum = 0;
  for (const Row& row : it->second.rows) {
    sum = std::min(sum + std::min(row.consumed - row.refunded, kMostTokens), kMostTokens);
  }
  return sum;
}

const std::vector<CounterReplica::Row>* CounterReplica::Find(const Key& key) const {
  const auto it = buckets_.find(key);
  return it == buckets_.end() ? nullptr : &it->second.rows;
}

size_t CounterReplica::bytes() const {
  MemoryCount count;
  Steps steps = Steps::Unbounded();
  CountBytes(count, steps);
  return count.bytes;
}

void CounterReplica::CountBytes(MemoryCount& count, Steps& steps) const {
  const auto of_rows = [](const Bucket& bucket) { return bucket.rows.capacity() * sizeof(Row); };
  if (!CountStates(buckets_, 0, steps, count, of_rows)) return;
  if (!deltas_.CountTopics(1, steps, count)) return;
  count.bytes += deltas_.bytes() + MapBytes(buckets_);
  count.done = true;
}

}  // namespace weir
