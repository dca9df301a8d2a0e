// The counter: the thesis' baseline (000, chapter 3), with errata 1 and 15 put right.
//
// Kept of a key is how much every origin (a node's life) has consumed and given back, two numbers
// that only grow and that only their owner raises, and `limit`: how much may have been consumed
// until an instant.
//
//   used = sum of consumed                            level = limit - used
//   refill: limit = min(limit + rate * time passed, used + capacity)      (Listing 3.1, erratum 1)
//   refund n: limit = min(limit + n, used + capacity)
//   admit n iff n <= level, then consumed of this origin grows by n
//   merge: the greater number of each row; the greater limit, both refilled to the same instant
//   (Listing 3.4, erratum 15)
//
// A row that grew is owed to the peers (deltas.h). `limit` goes along with the rows of its key and
// is refilled before it is sent, so that it stands for the instant of sending: no clock is compared
// with another's. A merge that changes only `limit` is not told on. So nodes that know the same
// rows may differ in `limit` where one took the bucket for full while another knew better; they
// agree again when it is full. So, too, of two refunds that are told at the same time the greater
// counts: a refund that lowered `used` instead would come to a node that took the bucket for full
// meanwhile, and could be spent a second time. Rows are kept for ever: to forget one's own number is to start
// below what the others know, and not to be counted.
//
// Bound, with N nodes and D the time until all have heard:
// admitted in T <= capacity + rate * T + (N - 1) * (capacity + rate * D).
#pragma once

#include <utility>

#include "replication/copy_letter.h"
#include "replication/deltas.h"
#include "replication/ticks.h"

namespace weir {

struct CounterOptions {
  Duration interval = std::chrono::milliseconds(300);
  uint32_t fan_out = 1;  // peers that are told each time
  uint64_t seed = 0;
  // Tell the whole bucket when a row of it has changed, as the thesis does, not only that row.
  bool whole_buckets = false;
  bool report_changes = false;  // for TakeChanges
};

class CounterReplica final : public Replica {
 public:
  struct Row {
    Origin origin;
    uint64_t consumed = 0;
    uint64_t refunded = 0;
  };

  CounterReplica(Origin self, const CounterOptions& options);

  void SetPeers(std::vector<uint32_t> peers) override;
  bool Admit(const Key& key, const ReplicatedBucket& limit, uint64_t cost, Instant now) override;
  void Take(const Key& key, const ReplicatedBucket& limit, uint64_t cost, Instant now) override;
  void Refund(const StateName& name, uint64_t cost, Instant now) override;
  int128 Level(const Key& key, const ReplicatedBucket& limit, Instant now) override;
  std::vector<Envelope> Tick(Instant now) override;
  std::vector<Envelope> Receive(std::string_view bytes, Instant now, bool& good) override;
  Instant NextTick() const override { return deltas_.next(); }
  std::vector<Envelope> Farewell(Instant now) override;
  Slice Everything(uint32_t to, CopyCursor& cursor, const SliceSize& most, Instant now) override;
  std::vector<Change> TakeChanges() override { return std::exchange(changes_, {}); }
  size_t bytes() const override;
  void CountBytes(MemoryCount& count, Steps& steps) const override;
  size_t keys() const override { return buckets_.size(); }

  uint64_t Remaining(const Key& key, const ReplicatedBucket& limit, Instant now);
  // By all origins that are known, less what they gave back.
  uint64_t Used(const Key& key) const;
  // What is known of a key, by origin; null if nothing is.
  const std::vector<Row>* Find(const Key& key) const;
  // Rows that some peer is not known to know.
  size_t owed() const { return deltas_.owed(); }

 private:
  friend Deltas<Origin>;
  friend CopyLetter<CounterReplica>;
  struct Bucket {
    ReplicatedBucket shape;
    int128 limit = 0;  // ticks
    Instant refilled;
    uint64_t used = 0;      // the sum over the rows
    std::vector<Row> rows;  // by origin

    static Bucket Full(const ReplicatedBucket& shape, Instant now);
    void Count();
    int128 Level() const;
    int128 LimitAt(Instant now) const;
    void Refill(Instant now);
    void Reshape(const ReplicatedBucket& wanted);
    // Where its row is, or would be.
    size_t PlaceOf(Origin origin) const;
    bool IsAt(size_t place, Origin origin) const {
      return place < rows.size() && rows[place].origin == origin;
    }
    size_t RowOf(Origin origin);
  };
  struct Told {
    Key key;
    ReplicatedBucket shape;
    int128 limit = 0;  // ticks
    size_t rows = 0;   // how many, of those that were read
  };
  struct AllTold {
    std::vector<Key> keys;  // of the buckets
    std::vector<Told> buckets;
    std::vector<Row> rows;  // of one bucket after the other
  };

  void Read(EnvelopeReader& from);
  Bucket& Brought(const Key& key, const ReplicatedBucket& limit, Instant now);
  void Merge(const Told& told, std::span<const Row> rows, Origin sender, Instant now);
  void OweOwn(const Key& key);
  // What is left to do for peers that came or went.
  void CatchUp(Steps& steps);
  void Fetch(std::span<const Key> keys) const;
  const Bucket& StateOf(const Key& key) const { return buckets_.at(key); }
  void WriteKey(EnvelopeWriter& to, const Bucket& bucket, Instant now) const;
  void WritePiece(EnvelopeWriter& to, const Bucket& bucket, Origin origin, Instant now) const;
  static size_t RowsOf(const Bucket& bucket) { return bucket.rows.size(); }
  // From a row on, until `to` has this size; returns the first that is not there.
  static size_t WriteRows(EnvelopeWriter& to, const Bucket& bucket, size_t from, size_t size);
  static void WriteRow(EnvelopeWriter& to, const Row& row);
  static void WriteRow(EnvelopeWriter& to, const Bucket&, const Row& row, Instant) {
    WriteRow(to, row);
  }
  static RowMark MarkOf(const Row& row) { return {.origin = row.origin}; }
  static const Row* RowBefore(const Bucket& bucket, const std::optional<RowMark>& mark);
  // What is owed when this row has changed.
  Origin PieceOf(Origin row) const { return whole_buckets_ ? Origin{} : row; }

  const uint32_t fan_out_;
  const bool whole_buckets_, report_changes_;

  Deltas<Origin> deltas_;
  KeyMap<Bucket> buckets_;
  std::vector<Change> changes_;
  AllTold read_;                     // of the envelope that is being received
  std::vector<Origin> news_, same_;  // of the bucket that is being merged
};

}  // namespace weir
